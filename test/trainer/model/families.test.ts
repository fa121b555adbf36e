/** Each family's checkpoint computes what its makers published: log-probabilities, answers and gradients against a float64 decoder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { TensorType } from "../../../shared/safetensors.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { inversePositions, positionFeeds, type TokenBatch } from "../../../trainer/engine/batch.ts";
import { type AdapterShape, listAdapterParameters, targetedLayers } from "../../../trainer/model/adapter.ts";
import { buildAdapterTraining, buildFullTraining, EMBEDDED_GRADIENT, gradientOf, type Outputs } from "../../../trainer/model/training.ts";
import { encodeModel, graphInputs } from "../../../trainer/onnx/encode.ts";
import { type Feeds, GraphSession } from "../../../trainer/onnx/session.ts";
import { Random } from "../../../trainer/random.ts";
import { randomBatch, relativeError, spreadPlaces } from "../tiny.ts";
import { FAMILIES, familyWeights, writeFamily } from "./families.ts";
import { type Matrix, type RawAdapter, type RawWeights, referenceLogits, referenceLogProbs, toMatrices } from "./reference.ts";

const LOG_PROB_TOLERANCE = 1e-4;
const GRADIENT_TOLERANCE = 1e-4; // relative, per tensor
const TYPES: readonly TensorType[] = ["BF16", "F16", "F32"];
const LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

const folder = await mkdtemp(join(tmpdir(), "families-"));
afterAll(() => rm(folder, { recursive: true }));

describe.each(
  Object.entries(FAMILIES).map(([name, config], index) => ({ name, config, type: TYPES[index % 3] ?? "F32", shards: 1 + (index % 2) * 2 })),
)("$name, $type in $shards file(s)", ({ name, config: published, type, shards }) => {
  it("scores and answers as the reference does", async () => {
    const config = { ...published, hidden_size: 64, intermediate_size: 96, num_hidden_layers: 4, vocab_size: 200 };
    const tensors = familyWeights(config, type);
    const weights = toMatrices(tensors);
    const path = await writeFamily(join(folder, name), { config, weights: tensors, type, shards });
    const engine = new EngineCore({ config: parseModelConfig(config), threads: 1 });
    await engine.loadCheckpoint(path);
    const batch = randomBatch({ rows: 2, length: 60, positions: 120, vocab: 200 });
    const { logProbs, argmax } = await engine.score(batch);
    const expected = rowsOf(batch).map((tokens) => referenceLogProbs({ config, weights }, tokens));
    const at = (position: number): number[] => expected[Math.floor(position / batch.length)]?.[position % batch.length] ?? [];
    const wanted = Array.from(batch.positions, (position, index) => at(position)[batch.targets[index] ?? 0] ?? NaN);
    expect(furthest(logProbs, wanted)).toBeLessThan(LOG_PROB_TOLERANCE);
    expect([...argmax]).toEqual(Array.from(batch.positions, (position) => mostProbable(at(position))));

    const prompt = rowsOf(batch)[0]?.slice(0, 50) ?? [];
    const [answer] = await engine.generate({ prompts: [Int32Array.from(prompt)], maxTokens: 20, stopTokens: [], temperature: 0, seed: 1 });
    const answered = referenceLogProbs({ config, weights }, [...prompt, ...(answer?.tokens ?? [])]).slice(49, 69);
    expect([...(answer?.tokens ?? [])]).toEqual(answered.map(mostProbable));
    expect(
      furthest(
        answer?.logProbs ?? [],
        answered.map((row) => Math.max(...row)),
      ),
    ).toBeLessThan(LOG_PROB_TOLERANCE);
    await engine.close();
  });

  it("has the reference's gradient in every parameter", async () => {
    const weights = toMatrices(familyWeights(published));
    const batch = randomBatch({ rows: 1, length: 16, positions: 8, vocab: 61 });
    const outputs = await run(buildFullTraining(parseModelConfig(published), bucketOf(batch)), batch, weights);
    const loss = (changed: RawWeights): number =>
      lossOf(batch, referenceLogits({ config: published, weights: changed }, [...batch.tokens]));
    for (const [tensor, matrix] of weights) {
      const whole = withRows(outputs, { tensor, batch, width: Number(published["hidden_size"]), size: matrix.values.length });
      expectGradient(whole, (place, shift) => loss(new Map(weights).set(tensor, moved(matrix, place, shift))), tensor);
    }
  });

  it("has the reference's gradient in every matrix of an adapter", async () => {
    const config = parseModelConfig(published);
    const weights = toMatrices(familyWeights(published));
    const shape: AdapterShape = { rank: 3, alpha: 6, layers: targetedLayers(config, LINEARS) };
    const random = new Random(5);
    const tensors = new Map(
      listAdapterParameters(config, shape).map(({ name: each, shape: extents, size }): [string, Matrix] => [
        each,
        { shape: extents, values: Float64Array.from({ length: size }, () => 0.3 * random.normal()) },
      ]),
    );
    const batch = randomBatch({ rows: 1, length: 16, positions: 8, vocab: 61 });
    const graph = buildAdapterTraining(config, bucketOf(batch), { adapter: shape, terms: { crossEntropy: {} } });
    const outputs = await run(graph, batch, new Map([...weights, ...tensors]));
    const loss = (adapter: RawAdapter): number =>
      lossOf(batch, referenceLogits({ config: published, weights, adapter }, [...batch.tokens]));
    expect(tensors.size).toBe(2 * 7 * 2);
    for (const [tensor, matrix] of tensors) {
      const probe = (place: number, shift: number): number =>
        loss({ scale: 2, tensors: new Map(tensors).set(tensor, moved(matrix, place, shift)) });
      expectGradient(outputs[gradientOf(tensor)] ?? [], probe, tensor);
    }
  });
});

/** At four places, to a share of the tensor's root mean square: a key's bias shifts all scores of a query nearly alike, so that little of its gradient is left. */
function expectGradient(whole: ArrayLike<number>, probe: (place: number, shift: number) => number, tensor: string): void {
  const places = spreadPlaces(whole.length);
  const got = places.map((place) => whole[place] ?? NaN);
  const wanted = places.map((place) => derivative((shift) => probe(place, shift)));
  const scale = Math.hypot(...Array.from(whole)) / Math.sqrt(whole.length);
  expect(scale, tensor).toBeGreaterThan(0);
  expect(relativeError(got, wanted, 2 * scale), tensor).toBeLessThan(GRADIENT_TOLERANCE);
}

function rowsOf({ rows, length, tokens }: TokenBatch): number[][] {
  return Array.from({ length: rows }, (_, row) => [...tokens.subarray(row * length, (row + 1) * length)]);
}

function bucketOf({ rows, length, positions }: TokenBatch): { rows: number; length: number; positions: number } {
  return { rows, length, positions: positions.length };
}

async function run(graph: Outputs, batch: TokenBatch, weights: RawWeights): Promise<Record<string, Float32Array>> {
  const session = await GraphSession.open(encodeModel(graph), { threads: 1 });
  const coefficients = { values: batch.weights, shape: [batch.weights.length] };
  const feeds: Feeds = {
    ...Object.fromEntries(Array.from(weights, ([name, { shape, values }]) => [name, { values: Float32Array.from(values), shape }])),
    ...positionFeeds(batch),
    inverse: { values: inversePositions(batch, batch.weights), shape: [batch.tokens.length] },
    weights: coefficients,
    "crossEntropy.weights": coefficients,
  };
  const read = graphInputs(graph).map(({ name }) => name);
  const outputs = await session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => read.includes(name))));
  await session.close();
  return outputs;
}

/** −Σ weight · ln p(target). */
function lossOf({ positions, targets, weights }: TokenBatch, logits: readonly number[][]): number {
  let loss = 0;
  positions.forEach((position, index) => {
    const row = logits[position] ?? [];
    const most = Math.max(...row);
    const total = most + Math.log(row.reduce((sum, each) => sum + Math.exp(each - most), 0));
    loss -= (weights[index] ?? NaN) * ((row[targets[index] ?? 0] ?? NaN) - total);
  });
  return loss;
}

/** The gradient of a parameter; that of the embedding is its part as a head and the rows looked up. */
function withRows(
  outputs: Readonly<Record<string, Float32Array>>,
  { tensor, batch, width, size }: { tensor: string; batch: TokenBatch; width: number; size: number },
): ArrayLike<number> {
  const part = outputs[gradientOf(tensor)];
  if (tensor !== "model.embed_tokens.weight") return part ?? [];
  const whole = Float64Array.from({ length: size }, (_, place) => part?.[place] ?? 0);
  batch.tokens.forEach((token, row) => {
    for (let column = 0; column < width; column += 1)
      whole[token * width + column] = (whole[token * width + column] ?? 0) + (outputs[EMBEDDED_GRADIENT]?.[row * width + column] ?? NaN);
  });
  return whole;
}

function moved({ shape, values }: Matrix, place: number, shift: number): Matrix {
  const copy = Float64Array.from(values);
  copy[place] = (copy[place] ?? NaN) + shift;
  return { shape, values: copy };
}

/** Central difference in float64. */
function derivative(probe: (shift: number) => number): number {
  const h = 1e-4;
  return (probe(h) - probe(-h)) / (2 * h);
}

function furthest(got: ArrayLike<number>, wanted: readonly number[]): number {
  expect(got.length).toBe(wanted.length);
  return wanted.reduce((most, value, index) => Math.max(most, Math.abs(value - (got[index] ?? NaN))), 0);
}

function mostProbable(row: readonly number[]): number {
  return row.indexOf(Math.max(...row));
}
