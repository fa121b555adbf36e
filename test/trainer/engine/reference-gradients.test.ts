/** The shipped size on two threads against gradients PyTorch computed (bench/peers/reference_gradients.py says how). */
import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { TokenBatch } from "../../../trainer/engine/batch.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { relativeError } from "../tiny.ts";

const Gradients = z.object({
  loss: z.number(),
  gradients: z.record(z.string(), z.object({ norm: z.number(), samples: z.array(z.number()) })),
});
const Fixture = z.object({
  config: z.unknown(),
  rows: z.number(),
  length: z.number(),
  positions: z.number(),
  rank: z.number(),
  alpha: z.number(),
  samples: z.number(),
  order: z.array(z.string()),
  full: Gradients,
  adapter: Gradients,
});

const fixture = Fixture.parse(JSON.parse(await readFile("test/fixtures/reference-gradients.json", "utf8")));
const engine = new EngineCore({ config: parseModelConfig(fixture.config), threads: 2 });
afterAll(() => engine.close());

// A busy machine must not fail a comparison of numbers.
const TIMEOUT_MS = 180_000;

/** Element i of the hash sequence `salt`, in [0, 1): the same numbers as the script's `uniform`. */
function uniform(salt: number, index: number): number {
  let x = (index + Math.imul(salt, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0;
  x ^= x >>> 16;
  return (x >>> 8) / 2 ** 24;
}

const { fround } = Math;
const spread = (salt: number, count: number, { centre, width }: { centre: number; width: number }): Float32Array =>
  Float32Array.from({ length: count }, (_, index) => fround(fround(fround(uniform(salt, index) - 0.5) * fround(width)) + centre));
const integers = (salt: number, count: number, limit: number): Int32Array =>
  Int32Array.from({ length: count }, (_, index) => Math.floor(fround(uniform(salt, index) * limit)));

const batch: TokenBatch = {
  rows: fixture.rows,
  length: fixture.length,
  tokens: integers(1, fixture.rows * fixture.length, 4096),
  positions: Int32Array.from({ length: fixture.positions }, (_, index) => 2 * index),
  targets: integers(2, fixture.positions, 4096),
  weights: Float32Array.from({ length: fixture.positions }, (_, index) => uniform(3, index)),
};
const total = batch.weights.reduce((sum, weight) => sum + weight, 0);

// Without momentum and with an ε above every gradient, an update of this rate subtracts the gradient itself.
const EPSILON = 1e9;
const SUBTRACT = { clipNorm: Infinity, beta1: 0, beta2: 0, epsilon: EPSILON };

/** What each tensor lost in an update. */
function differences(before: ReadonlyMap<string, Float32Array>, after: ReadonlyMap<string, Float32Array>): Map<string, Float32Array> {
  return new Map(
    [...before].map(([name, values]) => [name, values.map((value, index) => value - (after.get(name)?.[index] ?? Number.NaN))]),
  );
}

function expectGradients(
  got: ReadonlyMap<string, Float32Array>,
  { expected, salts }: { expected: z.infer<typeof Gradients>; salts: (name: string) => number },
): void {
  expect([...got.keys()].toSorted()).toEqual(Object.keys(expected.gradients).toSorted());
  for (const [name, gradient] of got) {
    const { norm, samples } = expected.gradients[name] ?? { norm: 0, samples: [] };
    const places = integers(10_000 + salts(name), fixture.samples, gradient.length);
    const chosen = [...places].map((place) => gradient[place] ?? Number.NaN);
    // Beside the norm of the samples alone, the typical size of as many elements: rounding is of the tensor's size, not of a small element's.
    const typical = norm * Math.sqrt(samples.length / gradient.length);
    expect(relativeError(chosen, samples, typical), name).toBeLessThan(1e-4);
    expect(Math.abs(Math.hypot(...norms(gradient)) / norm - 1), name).toBeLessThan(1e-4);
  }
}

/** Partial norms: Math.hypot cannot take a million arguments. */
function norms(values: Float32Array): number[] {
  return Array.from({ length: Math.ceil(values.length / 4096) }, (_, part) =>
    Math.hypot(...values.subarray(part * 4096, (part + 1) * 4096)),
  );
}

describe("gradients of the shipped size", () => {
  it(
    "are PyTorch's, for every parameter",
    async () => {
      const { order, full } = fixture;
      const sizes = await engine.readWeights();
      const weights = new Map(
        order.map((name, index) => [
          name,
          spread(100 + index, sizes.get(name)?.length ?? 0, name.includes("norm") ? { centre: 1, width: 0.5 } : { centre: 0, width: 0.2 }),
        ]),
      );
      await engine.loadWeights(weights);
      const { loss } = await engine.accumulate(batch);
      expect(loss * total).toBeCloseTo(full.loss, 1);
      await engine.step({ lr: EPSILON * total, ...SUBTRACT });
      const got = differences(weights, await engine.readWeights());
      await engine.loadWeights(weights);
      expectGradients(got, { expected: full, salts: (name) => 100 + order.indexOf(name) });
    },
    TIMEOUT_MS,
  );

  it(
    "are PyTorch's, for an adapter beside every linear layer",
    async () => {
      const { rank, alpha, adapter } = fixture;
      const names = Object.keys(adapter.gradients);
      await engine.createAdapter("a", {
        rank,
        alpha,
        targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        seed: 1,
      });
      const { tensors: sizes } = await engine.readAdapter("a");
      const tensors = new Map(
        names.map((name, index) => [name, spread(500 + index, sizes.get(name)?.length ?? 0, { centre: 0, width: 0.05 })]),
      );
      await engine.loadAdapter("a", { rank, alpha, tensors });
      const { weights, ...positions } = batch;
      const { losses } = await engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights } });
      expect(losses.crossEntropy).toBeCloseTo(adapter.loss, 1);
      await engine.stepAdapter("a", { lr: EPSILON, ...SUBTRACT });
      const got = differences(tensors, (await engine.readAdapter("a")).tensors);
      expectGradients(got, { expected: adapter, salts: (name) => 500 + names.indexOf(name) });
    },
    TIMEOUT_MS,
  );
});
