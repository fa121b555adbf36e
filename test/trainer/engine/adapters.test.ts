/** LoRA in the engine: shapes, arithmetic, gradients, and what is refused. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LossBatch } from "../../../trainer/engine/loss-batch.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { differenceAtZero, randomBatch, relativeError, spreadPlaces, spreadWeights, tinyConfig } from "../tiny.ts";

const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
const { weights, ...positions } = randomBatch({ rows: 2, length: 9, positions: 7 });
const batch: LossBatch = { ...positions, crossEntropy: { weights } };

let engine: EngineCore;

beforeEach(async () => {
  engine = new EngineCore({ config: tinyConfig(), threads: 1 });
  await engine.initialise({ seed: 1 });
  await engine.loadWeights(spreadWeights(await engine.readWeights()));
  await engine.createAdapter("a", { rank: 2, alpha: 4, targets: TARGETS, seed: 2 });
});
afterEach(() => engine.close());

/** The loss of `batch` with the adapter's tensors as given. */
async function lossOf(tensors: Map<string, Float32Array>): Promise<number> {
  await engine.loadAdapter("probe", { rank: 2, alpha: 4, tensors });
  const { logProbs } = await engine.score(batch, { adapter: "probe" });
  return logProbs.reduce((sum, logProb, index) => sum - logProb * (weights[index] ?? 0), 0);
}

describe("adapters", () => {
  it("carry PEFT's names and shapes", async () => {
    const { tensors } = await engine.readAdapter("a");
    const sizes = [...tensors].filter(([name]) => name.includes("layers.1.mlp.down_proj")).map(([name, values]) => [name, values.length]);
    expect(sizes).toEqual([
      ["base_model.model.model.layers.1.mlp.down_proj.lora_A.weight", 2 * 10],
      ["base_model.model.model.layers.1.mlp.down_proj.lora_B.weight", 12 * 2],
    ]);
    expect(tensors.size).toBe(2 * 2 * 7);
  });

  it("change nothing when new", async () => {
    const plain = await engine.score(batch);
    const tuned = await engine.score(batch, { adapter: "a" });
    expect(relativeError(tuned.logProbs, plain.logProbs)).toBeLessThan(1e-6);
  });

  it("act as W + alpha/rank · B A in the weights", async () => {
    const layer = "model.layers.1.self_attn.o_proj";
    const { tensors } = await engine.readAdapter("a");
    const spread = spreadWeights(tensors);
    const only = new Map([...spread].filter(([name]) => name.includes(layer)));
    await engine.loadAdapter("one", { rank: 2, alpha: 3, tensors: only });
    const tuned = await engine.score(batch, { adapter: "one" });

    const [a, b] = [...only.values()];
    const merged = await engine.readWeights();
    const [out, width] = [12, 16];
    merged.get(`${layer}.weight`)?.forEach((value, index, all) => {
      const [row, column] = [Math.floor(index / width), index % width];
      const delta = [0, 1].reduce((sum, r) => sum + (b?.[row * 2 + r] ?? 0) * (a?.[r * width + column] ?? 0), 0);
      all[index] = value + (3 / 2) * delta;
    });
    expect(merged.get(`${layer}.weight`)?.length).toBe(out * width);
    await engine.loadWeights(merged);
    const scored = await engine.score(batch);
    expect(relativeError(tuned.logProbs, scored.logProbs)).toBeLessThan(1e-5);
  });

  it("move against the gradient that differences of the loss show", async () => {
    const { tensors, ...shape } = await engine.readAdapter("a");
    const start = spreadWeights(tensors, 0.05);
    await engine.loadAdapter("a", { ...shape, tensors: start });
    await engine.accumulateAdapter("a", batch);
    // Without momentum and with a large ε the update is proportional to the gradient.
    const epsilon = 1e6;
    await engine.stepAdapter("a", { lr: epsilon, clipNorm: Infinity, beta1: 0, beta2: 0, epsilon });
    const { tensors: moved } = await engine.readAdapter("a");
    for (const [name, values] of start) {
      const places = spreadPlaces(values.length);
      const gradient = places.map((place) => (values[place] ?? 0) - (moved.get(name)?.[place] ?? Number.NaN));
      const expected: number[] = [];
      for (const place of places) {
        const probe = async (shift: number): Promise<number> =>
          lossOf(new Map(start).set(name, values.with(place, (values[place] ?? 0) + shift)));
        expected.push(await differenceAtZero(probe));
      }
      expect(relativeError(gradient, expected, 0.1), name).toBeLessThan(0.01);
    }
  });

  it("learn a batch by heart", async () => {
    const first = await engine.accumulateAdapter("a", batch);
    let last = first;
    for (let step = 0; step < 60; step += 1) {
      await engine.stepAdapter("a", { lr: 0.05 });
      last = await engine.accumulateAdapter("a", batch);
    }
    expect(last.losses.crossEntropy).toBeLessThan((first.losses.crossEntropy ?? 0) / 4);
  });

  it("add gradients up over batches: two halves move them as the whole does", async () => {
    const part = (from: number, to: number): LossBatch => ({
      ...positions,
      crossEntropy: { weights: weights.map((weight, index) => (index >= from && index < to ? weight : 0)) },
    });
    const { tensors, ...shape } = await engine.readAdapter("a");
    const start = spreadWeights(tensors, 0.05);
    for (const name of ["a", "b", "first"]) await engine.loadAdapter(name, { ...shape, tensors: start });
    await engine.accumulateAdapter("a", batch);
    await engine.accumulateAdapter("b", part(0, 3));
    await engine.accumulateAdapter("b", part(3, 7));
    await engine.accumulateAdapter("first", part(0, 3));
    // Without momentum and with a large ε the update is proportional to the gradient.
    const epsilon = 1e6;
    const gradientsOf = async (name: string): Promise<Map<string, Float32Array>> => {
      await engine.stepAdapter(name, { lr: epsilon, divisor: 7, clipNorm: Infinity, beta1: 0, beta2: 0, epsilon });
      const { tensors: moved } = await engine.readAdapter(name);
      return new Map([...start].map(([each, values]) => [each, values.map((value, index) => value - (moved.get(each)?.[index] ?? NaN))]));
    };
    const [whole, halves, first] = [await gradientsOf("a"), await gradientsOf("b"), await gradientsOf("first")];
    for (const [name, values] of whole) {
      expect(Math.hypot(...values), name).toBeGreaterThan(1e-3);
      expect(relativeError(halves.get(name) ?? [], values), name).toBeLessThan(1e-4);
      expect(relativeError(first.get(name) ?? [], values), name).toBeGreaterThan(0.05); // the halves differ
    }
  });

  it("do not move where the policy already is what it is pulled to", async () => {
    const { full } = await engine.score(batch, { adapter: "a", fullLogProbs: true });
    const teacherLogProbs = full ?? new Float32Array(0);
    const { losses } = await engine.accumulateAdapter("a", {
      ...positions,
      forwardKl: { teacherLogProbs, weights },
      reverseKl: { teacherLogProbs, weights },
    });
    expect(losses.forwardKl).toBeCloseTo(0, 5);
    expect((await engine.stepAdapter("a", { lr: 0.01 })).gradNorm).toBeLessThan(1e-5);
  });

  it("are not moved by advantages of zero", async () => {
    const zero = new Float32Array(7);
    const { logProbs } = await engine.score(batch, { adapter: "a" });
    await engine.accumulateAdapter("a", {
      ...positions,
      policy: { advantages: zero, oldLogProbs: logProbs, weights, clipLow: 0.2, clipHigh: 0.28 },
    });
    expect((await engine.stepAdapter("a", { lr: 0.01 })).gradNorm).toBe(0);
  });

  it("refuse tensors of other shapes, other layers and other names", async () => {
    const { tensors, ...shape } = await engine.readAdapter("a");
    const renamed = (from: string, to: string): Map<string, Float32Array> =>
      new Map([...tensors].map(([name, values]) => [name.replace(from, to), values]));
    await expect(engine.loadAdapter("x", { ...shape, rank: 4, tensors })).rejects.toThrow(/values expected/);
    await expect(engine.loadAdapter("x", { ...shape, tensors: renamed("layers.1", "layers.7") })).rejects.toThrow(/layers of this model/);
    await expect(engine.loadAdapter("x", { ...shape, tensors: renamed("lora_A", "lora_X") })).rejects.toThrow(/lora_A/);
    await expect(engine.readAdapter("x")).rejects.toMatchObject({ code: "input/notFound" });
  });

  it("refuse arrays that do not match the positions", async () => {
    const short = {
      ...positions,
      policy: { advantages: new Float32Array(6), oldLogProbs: new Float32Array(7), weights, clipLow: 0.2, clipHigh: 0.28 },
    };
    await expect(engine.accumulateAdapter("a", short)).rejects.toThrow("policy.advantages: 7 values expected, got 6");
    await expect(engine.accumulateAdapter("a", positions)).rejects.toThrow(/loss terms/);
    await expect(
      engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights: weights.with(0, Number.NaN) } }),
    ).rejects.toMatchObject({ code: "train/nonFinite" });
  });
});
