/** The engine's gradients against differences of the loss, its determinism, its refusals, its thread. */
import { describe, expect, it } from "vitest";
import type { TokenBatch } from "../../../trainer/engine/batch.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { differenceAtZero, randomBatch, relativeError, spreadPlaces, spreadWeights, tinyConfig } from "../tiny.ts";

const batch = randomBatch({ rows: 3, length: 10, positions: 8 });

/** An engine on this thread: the proxy adds only the crossing, which its own tests cover. */
async function start(changes: Readonly<Record<string, unknown>> = {}): Promise<EngineCore> {
  const engine = new EngineCore({ config: tinyConfig(changes), threads: 1 });
  await engine.initialise({ seed: 1 });
  await engine.loadWeights(spreadWeights(await engine.readWeights()));
  return engine;
}

/** Weighted sum of the batch's cross-entropy, by scoring. */
async function lossOf(engine: EngineCore, { weights, ...positions }: TokenBatch): Promise<number> {
  const { logProbs } = await engine.score(positions);
  return logProbs.reduce((sum, logProb, index) => sum - logProb * (weights[index] ?? 0), 0);
}

/** The gradient of every parameter, read off an update proportional to it. */
async function gradientOf(engine: EngineCore, total: number): Promise<Map<string, Float32Array>> {
  const before = await engine.readWeights();
  const epsilon = 1e6;
  await engine.step({ lr: epsilon * total, clipNorm: Infinity, beta1: 0, beta2: 0, epsilon });
  const after = await engine.readWeights();
  await engine.loadWeights(before);
  return new Map(
    [...before].map(([name, values]) => [name, values.map((value, index) => value - (after.get(name)?.[index] ?? Number.NaN))]),
  );
}

const MODELS = [
  { model_type: "qwen3", tie_word_embeddings: true },
  { model_type: "qwen2", tie_word_embeddings: false },
  { model_type: "llama", tie_word_embeddings: false, num_key_value_heads: 4, hidden_size: 16, head_dim: null },
];

describe("Engine", () => {
  it.each(MODELS)("has the gradients that differences of the loss show: %o", async (model) => {
    const engine = await start(model);
    await engine.accumulate(batch);
    const total = batch.weights.reduce((sum, weight) => sum + weight, 0);
    const gradients = await gradientOf(engine, total);
    const weights = await engine.readWeights();
    for (const [name, values] of weights) {
      const places = spreadPlaces(values.length);
      const expected: number[] = [];
      for (const place of places) {
        const probe = async (shift: number): Promise<number> => {
          await engine.loadWeights(new Map(weights).set(name, values.with(place, (values[place] ?? 0) + shift)));
          return lossOf(engine, batch);
        };
        expected.push(await differenceAtZero(probe));
      }
      const got = places.map((place) => gradients.get(name)?.[place] ?? Number.NaN);
      expect(relativeError(got, expected, 0.1), name).toBeLessThan(0.01);
    }
    await engine.close();
  });

  it("learns the same, bit for bit, from the same seed and batches", async () => {
    const run = async (): Promise<Map<string, Float32Array>> => {
      const engine = new EngineCore({ config: tinyConfig(), threads: 2 });
      await engine.initialise({ seed: 9 });
      for (let step = 0; step < 3; step += 1) {
        await engine.accumulate(batch);
        await engine.step({ lr: 0.01, muonLr: 0.02, weightDecay: 0.1 });
      }
      const weights = await engine.readWeights();
      await engine.close();
      return weights;
    };
    expect(await run()).toEqual(await run());
  });

  it("is not told apart by padding: rows made longer and positions of weight zero change nothing", async () => {
    const engine = await start();
    const longer: TokenBatch = {
      rows: 3,
      length: 14,
      tokens: Int32Array.from({ length: 42 }, (_, index) =>
        index % 14 < 10 ? (batch.tokens[Math.floor(index / 14) * 10 + (index % 14)] ?? 0) : 0,
      ),
      positions: Int32Array.from([...batch.positions].map((position) => Math.floor(position / 10) * 14 + (position % 10)).concat([0, 0])),
      targets: Int32Array.from([...batch.targets, 0, 0]),
      weights: Float32Array.from([...batch.weights, 0, 0]),
    };
    const [short, long] = [await engine.accumulate(batch), await engine.accumulate(longer)];
    expect(long.loss).toBeCloseTo(short.loss, 5);
    expect(long.tokens).toBe(short.tokens);
    const { gradNorm: both } = await engine.step({ lr: 0 });
    await engine.accumulate(batch);
    const { gradNorm: one } = await engine.step({ lr: 0 });
    expect(both).toBeCloseTo(one, 4);
    await engine.close();
  });

  it("falls on a repeated batch", async () => {
    const engine = await start();
    const first = await engine.accumulate(batch);
    for (let step = 0; step < 40; step += 1) {
      await engine.step({ lr: 0.02, muonLr: 0.02 });
      await engine.accumulate(batch);
    }
    const { logProbs } = await engine.score(batch);
    expect(-Math.max(...logProbs)).toBeLessThan(first.loss / 4);
    await engine.close();
  });

  it("scores candidates most probable first, and whole distributions that sum to one", async () => {
    const engine = await start();
    const { full, topK, argmax } = await engine.score(batch, { fullLogProbs: true, topK: 3 });
    for (let row = 0; row < 8; row += 1) {
      const line = [...(full ?? new Float32Array(0)).subarray(row * 19, (row + 1) * 19)];
      expect(line.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 5);
      const order = line
        .map((value, token) => ({ value, token }))
        .toSorted((a, b) => b.value - a.value)
        .slice(0, 3);
      expect([...(topK?.tokens.subarray(row * 3, row * 3 + 3) ?? [])]).toEqual(order.map(({ token }) => token));
      expect([...(topK?.logProbs.subarray(row * 3, row * 3 + 3) ?? [])]).toEqual(order.map(({ value }) => value));
      expect(argmax[row]).toBe(order[0]?.token);
    }
    await engine.close();
  });

  it("refuses what is not finite and leaves every parameter as it was", async () => {
    const engine = await start();
    await engine.accumulate(batch);
    const before = await engine.readWeights();
    const poisoned = new Map(before).set("model.norm.weight", new Float32Array(12).fill(Number.NaN));
    await engine.loadWeights(poisoned);
    await expect(engine.accumulate(batch)).rejects.toMatchObject({ code: "train/nonFinite" });
    expect(await engine.readWeights()).toEqual(poisoned);
    await engine.close();
  });

  it("refuses a step without a gradient, and arrays and values out of place", async () => {
    const engine = await start();
    await expect(engine.step({ lr: 1 })).rejects.toMatchObject({ code: "train/refused" });
    await expect(engine.accumulate({ ...batch, targets: batch.targets.slice(1) })).rejects.toThrow("targets: 8 values expected, got 7");
    await expect(engine.accumulate({ ...batch, tokens: batch.tokens.with(3, 19) })).rejects.toThrow("tokens[3]: 0 to 18 expected, got 19");
    await expect(engine.accumulate({ ...batch, positions: batch.positions.with(1, batch.positions[0] ?? 0) })).rejects.toThrow(
      /weighted once/,
    );
    await expect(engine.loadWeights(new Map())).rejects.toThrow(/model.embed_tokens.weight: 228 values expected, got none/);
    await engine.close();
  });

  it("answers from its thread, in order, with errors that keep code and message", async () => {
    const engine = await Engine.start({ config: tinyConfig(), threads: 1 });
    const [, scored, refused] = await Promise.allSettled([engine.initialise({ seed: 1 }), engine.score(batch), engine.step({ lr: 1 })]);
    expect(scored).toMatchObject({ status: "fulfilled" });
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "train/refused" } });
    const core = new EngineCore({ config: tinyConfig(), threads: 1 });
    await core.initialise({ seed: 1 });
    expect(await engine.readWeights()).toEqual(await core.readWeights());
    await engine.close();
  });

  it("rejects calls under way when it closes, and all later ones", async () => {
    const engine = await Engine.start({ config: tinyConfig(), threads: 1 });
    const refused = expect(engine.accumulate(batch)).rejects.toMatchObject({ code: "engine/closed" });
    await engine.close();
    await refused;
    await expect(engine.readWeights()).rejects.toMatchObject({ code: "engine/closed" });
  });

  it("rejects every call when its thread dies, and not as something to wait for", async () => {
    // No such buffer can be made, so the thread ends as it begins.
    const engine = await Engine.start({ config: { ...tinyConfig(), vocabSize: -1_000_000 }, threads: 1 });
    await expect(engine.initialise({ seed: 1 })).rejects.toMatchObject({ code: "internal" });
    await expect(engine.readWeights()).rejects.toMatchObject({ code: "internal" });
  });
});
