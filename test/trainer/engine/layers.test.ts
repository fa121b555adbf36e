/** A base that is run a layer at a time against the same base as one graph: losses, gradients, scores, and what stays in memory. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { LossBatch } from "../../../trainer/engine/loss-batch.ts";
import type { AdapterWeights } from "../../../trainer/engine/adapters.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import type { LayerOptions } from "../../../trainer/engine/feeds.ts";
import { layerOptions } from "../../../trainer/engine/layers.ts";
import type { Placement } from "../../../trainer/engine/session-cache.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { randomBatch, relativeError, spreadWeights, tinyConfig } from "../tiny.ts";

const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
const [ROWS, LENGTH, POSITIONS] = [2, 9, 17];
const { weights, ...positions } = randomBatch({ rows: ROWS, length: LENGTH, positions: POSITIONS });
const advantages = weights.map((weight) => weight - 0.5);
const batch: LossBatch = {
  ...positions,
  crossEntropy: { weights },
  policy: { weights, advantages, oldLogProbs: weights.map((weight) => -3 * weight), clipLow: 0.2, clipHigh: 0.28 },
};

// 12 tokens wide: what one layer keeps is 18 rows of 16 + 8 + 8 + 12 + 10 + 10 values.
const LAYER_BYTES = 4 * ROWS * LENGTH * 64;
const CHUNKS = { logitBytes: 4 * 19 * 16 }; // two chunks of 16 positions, the second padded

type Engined = { readonly byLayer: LayerOptions | false; readonly adapter: AdapterWeights; readonly placement?: Placement };

/** What an engine makes of `batch` and of an adapter's tensors, which it moves by their gradient. */
async function outcome(
  config: ModelConfig,
  { byLayer, adapter, placement = "inputs" }: Engined,
): Promise<{ logProbs: Float32Array; losses: number[]; moved: Map<string, Float32Array>; full: Float32Array; top: Int32Array }> {
  const engine = new EngineCore({ config, threads: 1, byLayer, placement });
  try {
    await engine.initialise({ seed: 1 });
    await engine.loadWeights(spreadWeights(await engine.readWeights()));
    await engine.loadAdapter("a", adapter);
    const { full, topK } = await engine.score(batch, { adapter: "a", fullLogProbs: true, topK: 3 });
    const { logProbs, losses } = await engine.accumulateAdapter("a", batch);
    // Without momentum and with a large ε an update subtracts the gradient.
    await engine.stepAdapter("a", { lr: 1e6, clipNorm: Infinity, beta1: 0, beta2: 0, epsilon: 1e6 });
    const { tensors } = await engine.readAdapter("a");
    return {
      logProbs,
      losses: Object.values(losses),
      moved: tensors,
      full: full ?? new Float32Array(0),
      top: topK?.tokens ?? new Int32Array(0),
    };
  } finally {
    await engine.close();
  }
}

/** An adapter that matters, of every layer or of those that `chosen` names. */
async function adapterFor(config: ModelConfig, chosen = (_name: string): boolean => true): Promise<AdapterWeights> {
  const engine = new EngineCore({ config, threads: 1 });
  await engine.createAdapter("a", { rank: 2, alpha: 4, targets: TARGETS, seed: 2 });
  const { tensors, ...shape } = await engine.readAdapter("a");
  await engine.close();
  return { ...shape, tensors: new Map([...spreadWeights(tensors, 0.1)].filter(([name]) => chosen(name))) };
}

async function expectSame(config: ModelConfig, { byLayer, adapter, placement }: Engined): Promise<void> {
  const [layered, whole] = [
    await outcome(config, { byLayer, adapter, ...(placement && { placement }) }),
    await outcome(config, { byLayer: false, adapter }),
  ];
  expect(relativeError(layered.logProbs, whole.logProbs)).toBeLessThan(1e-6);
  expect(relativeError(layered.losses, whole.losses)).toBeLessThan(1e-6);
  expect(relativeError(layered.full, whole.full)).toBeLessThan(1e-6);
  expect([...layered.top]).toEqual([...whole.top]);
  const gradient = (moved: Map<string, Float32Array>, name: string): Float32Array =>
    (adapter.tensors.get(name) ?? new Float32Array(0)).map((value, index) => value - (moved.get(name)?.[index] ?? Number.NaN));
  expect([...layered.moved.keys()]).toEqual([...adapter.tensors.keys()]);
  for (const name of adapter.tensors.keys()) {
    const expected = gradient(whole.moved, name);
    expect(Math.hypot(...expected), name).toBeGreaterThan(1e-3);
    expect(relativeError(gradient(layered.moved, name), expected), name).toBeLessThan(2e-5);
  }
}

describe("a layer at a time", () => {
  const config = tinyConfig({ num_hidden_layers: 3 });

  it.each([
    ["everything is computed again", 0],
    ["the last layer's products are kept", LAYER_BYTES],
    ["all products are kept", 3 * LAYER_BYTES],
  ])("losses, gradients and scores are those of one graph where %s", async (_, keptBytes) => {
    await expectSame(config, { byLayer: { keptBytes, ...CHUNKS }, adapter: await adapterFor(config) });
  });

  it("an untied head, biases and an adapter of some layers only make no difference", async () => {
    const other = tinyConfig({ model_type: "qwen2", num_hidden_layers: 4, tie_word_embeddings: false });
    const some = await adapterFor(other, (name) => /layers\.1\.mlp|layers\.2\.self_attn\.[qo]/.test(name));
    await expectSame(other, { byLayer: { keptBytes: LAYER_BYTES, ...CHUNKS }, adapter: some });
  });

  it("is the same where frozen tensors are held on the device", async () => {
    await expectSame(config, { byLayer: { keptBytes: 0, ...CHUNKS }, adapter: await adapterFor(config), placement: "device" });
    const other = tinyConfig({ model_type: "qwen2", num_hidden_layers: 4, tie_word_embeddings: false });
    const some = await adapterFor(other, (name) => /layers\.1\.mlp|layers\.2\.self_attn\.[qo]/.test(name));
    await expectSame(other, { byLayer: { keptBytes: 0, ...CHUNKS }, adapter: some, placement: "device" });
    const groupBytes = 4 * 3_000; // of layers of 992 values: three to a session, and the last by itself
    await expectSame(other, { byLayer: { keptBytes: 0, ...CHUNKS, groupBytes }, adapter: some, placement: "device" });
  });

  it("is how bases of more than 100 million parameters run, and no smaller ones", () => {
    expect(layerOptions(tinyConfig(), "cpu")).toBe(false);
    const large = tinyConfig({ vocab_size: 30_000, hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 6 });
    expect(layerOptions(large, "cpu")).toMatchObject({ keptBytes: 512 * 2 ** 20 });
    expect(layerOptions(large, "cuda")).toMatchObject({ keptBytes: 0 }); // what is kept would cross twice
  });
});

const Peak = z.object({ peakBytes: z.number(), parameterBytes: z.number() });

type Measured = { readonly layers: number; readonly byLayer: LayerOptions | false; readonly vocab?: number; readonly positions?: number };

/** The most memory that a process took, beyond parameters, adapter and optimizer, for a step of 512 tokens. */
function activationPeak({ layers, byLayer, vocab = 512, positions = 512 }: Measured): number {
  const script = new URL("training-peak.ts", import.meta.url).pathname;
  const told = execFileSync(process.execPath, [script, JSON.stringify({ layers, byLayer, vocab, positions })], { encoding: "utf8" });
  const { peakBytes, parameterBytes } = Peak.parse(JSON.parse(told));
  return peakBytes - parameterBytes;
}

describe("memory", () => {
  it("grows by no more than a layer's input where the depth grows from 8 to 32, and several times as fast as one graph", () => {
    const byLayer = { keptBytes: 0, logitBytes: 2 ** 24 };
    const growth = (how: LayerOptions | false): number =>
      activationPeak({ layers: 32, byLayer: how }) - activationPeak({ layers: 8, byLayer: how });
    const [layered, whole] = [growth(byLayer), growth(false)];
    const inputs = 24 * 4 * 512 * 128; // bytes of 24 layers' inputs
    expect(layered).toBeLessThan(inputs + 32 * 2 ** 20);
    expect(whole).toBeGreaterThan(4 * layered);
  }, 300_000);

  it("holds the logits of one chunk of the trained positions, and never those of a whole batch", () => {
    const [vocab, chunkBytes] = [32_768, 2 ** 21];
    const peak = (logitBytes: number, positions: number): number =>
      activationPeak({ layers: 1, byLayer: { keptBytes: 0, logitBytes }, vocab, positions });
    const whole = peak(Number.MAX_SAFE_INTEGER, 512);
    // Two or three arrays of the size are there at a time.
    const saved = 2 * (4 * 512 * vocab - chunkBytes);
    expect(whole - peak(chunkBytes, 512)).toBeGreaterThan(saved);
    expect(whole - peak(Number.MAX_SAFE_INTEGER, 16)).toBeGreaterThan(saved); // 16 positions have as many logits as the chunk
  }, 300_000);
});
