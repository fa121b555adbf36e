/** Several sequences in a row of their own each, and in shared rows: the same losses and gradients, and nothing between them. */
import { describe, expect, it } from "vitest";
import type { LossBatch } from "../../../trainer/engine/loss-batch.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { packBatch } from "../../../trainer/engine/packing.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, spreadWeights, tinyConfig } from "../tiny.ts";

const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
const LENGTH = 150; // longer than a block of queries
const SEQUENCES = [150, 70, 50, 40, 30, 20, 10];
const BY_LAYER = { keptBytes: 2 ** 20, logitBytes: 2 ** 20 };
const config = tinyConfig();

/** Right-padded rows of these lengths; every third token of each predicts, its last included. */
function batchOf(lengths: readonly number[], seed = 1): LossBatch {
  const random = new Random(seed);
  const tokens = new Int32Array(lengths.length * LENGTH);
  const places = lengths.flatMap((length, row) => {
    for (let time = 0; time < length; time += 1) tokens[row * LENGTH + time] = Math.floor(random.next() * config.vocabSize);
    return Array.from({ length: Math.ceil(length / 3) }, (_, index) => row * LENGTH + length - 1 - 3 * index);
  });
  const positions = Int32Array.from(places);
  const targets = positions.map(() => Math.floor(random.next() * config.vocabSize));
  const weights = Float32Array.from(positions, () => 1 - random.next());
  return { rows: lengths.length, length: LENGTH, tokens, positions, targets, crossEntropy: { weights } };
}

type Engines = { readonly byLayer: EngineCore; readonly whole: EngineCore };

async function withEngines<T>(use: (engines: Engines) => Promise<T>): Promise<T> {
  const engines = { byLayer: new EngineCore({ config, threads: 1, byLayer: BY_LAYER }), whole: new EngineCore({ config, threads: 1 }) };
  try {
    for (const engine of Object.values(engines)) {
      await engine.initialise({ seed: 1 });
      await engine.loadWeights(spreadWeights(await engine.readWeights()));
      await engine.createAdapter("a", { rank: 2, alpha: 4, targets: TARGETS, seed: 2 });
      const { tensors, ...shape } = await engine.readAdapter("a");
      await engine.loadAdapter("a", { ...shape, tensors: spreadWeights(tensors, 0.1) });
    }
    return await use(engines);
  } finally {
    await engines.byLayer.close();
    await engines.whole.close();
  }
}

/** What an update of rate ε subtracts: the gradient. */
async function gradientOf(engine: EngineCore, batch: LossBatch): Promise<{ logProbs: Float32Array; gradient: Map<string, Float32Array> }> {
  const { tensors: before } = await engine.readAdapter("a");
  const { logProbs } = await engine.accumulateAdapter("a", batch);
  await engine.stepAdapter("a", { lr: 1e6, clipNorm: Infinity, beta1: 0, beta2: 0, epsilon: 1e6 });
  const { tensors: after } = await engine.readAdapter("a");
  const lost = [...before].map(([name, values]) => [name, values.map((value, index) => value - (after.get(name)?.[index] ?? Number.NaN))]);
  return { logProbs, gradient: new Map(lost as [string, Float32Array][]) };
}

describe("packed sequences", () => {
  it("take as few rows as they fit in, each from time 0 on", () => {
    const { batch, bucket, feeds } = packBatch(batchOf(SEQUENCES), config) ?? { batch: undefined };
    expect(batch?.rows).toBe(3); // 370 tokens in rows of 150
    expect(bucket).toMatchObject({ rows: 3, length: LENGTH, packed: true });
    const times = [...(feeds?.["times"]?.values ?? [])].map(Number);
    const ofRow = (row: number): number[] => times.filter((_, index) => index % 3 === row);
    expect(ofRow(0)).toEqual(Array.from({ length: 150 }, (_, time) => time));
    expect(ofRow(1).slice(68, 73)).toEqual([68, 69, 0, 1, 2]); // of 70, then of 50
    expect(packBatch(batchOf([150, 140]), config)).toBeUndefined();
  });

  it("give the log-probabilities and the gradients of rows of their own", async () => {
    await withEngines(async ({ byLayer, whole }) => {
      const batch = batchOf(SEQUENCES);
      const [packed, apart] = [await gradientOf(byLayer, batch), await gradientOf(whole, batch)];
      expect(relativeError(packed.logProbs, apart.logProbs)).toBeLessThan(1e-6);
      for (const [name, expected] of apart.gradient) {
        expect(Math.hypot(...expected), name).toBeGreaterThan(1e-2);
        expect(relativeError(packed.gradient.get(name) ?? [], expected), name).toBeLessThan(2e-5);
      }
    });
  });

  it("see nothing of their neighbours", async () => {
    await withEngines(async ({ byLayer }) => {
      const [one, other] = [batchOf(SEQUENCES), batchOf(SEQUENCES, 2)];
      // Everything but the third sequence is another one.
      const tokens = other.tokens.slice();
      tokens.set(one.tokens.subarray(2 * LENGTH, 3 * LENGTH), 2 * LENGTH);
      const score = async (batch: LossBatch): Promise<Float32Array> => (await byLayer.score(batch, { adapter: "a" })).logProbs;
      const [first, second] = [await score(one), await score({ ...one, tokens })];
      const mine = [...one.positions].map((position) => Math.floor(position / LENGTH) === 2);
      expect(second.filter((_, index) => mine[index])).toEqual(first.filter((_, index) => mine[index]));
      expect(second).not.toEqual(first);
    });
  });
});
