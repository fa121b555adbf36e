/** The kernel's numbers: against a float64 decoder written from the definition, and against themselves. */
import { describe, expect, it } from "vitest";
import { randomAdapter, randomWeights } from "../../../bench/random-checkpoint.ts";
import { linearShape, LINEAR_PATHS } from "../../../shared/lora.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { type FloatTensor, writeSafetensors } from "../../../shared/safetensors.ts";
import { createDecoder, kernelLogits, placeAdapter, placePages } from "./decode.ts";
import { logSoftmax, type Reference, referenceLogits } from "./reference-decoder.ts";

const SMALL: ModelConfig = {
  vocabSize: 70, // no multiple of the panel
  hiddenSize: 64,
  layerCount: 2,
  headCount: 4,
  kvHeadCount: 2,
  headDim: 16,
  intermediateSize: 96,
  contextTokens: 160,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};

const CONFIGS: Record<string, ModelConfig> = {
  "grouped query heads with q and k norms and a tied head": SMALL,
  "no q and k norms and a head of its own": { ...SMALL, qkNorm: false, tiedHead: false },
  "biases and as many key heads as query heads": { ...SMALL, qkNorm: false, qkvBias: true, kvHeadCount: 4 },
  "heads of 64, one key head, one layer": { ...SMALL, headDim: 64, headCount: 2, kvHeadCount: 1, layerCount: 1 },
  "heads of 20 and another rotary base": { ...SMALL, headDim: 20, headCount: 8, kvHeadCount: 8, ropeTheta: 500 },
};

const tokens = Array.from({ length: 150 }, (_, index) => (index * index * 7 + 3 * index) % SMALL.vocabSize);

describe("kernel", () => {
  for (const [name, config] of Object.entries(CONFIGS)) {
    it(`agrees with the float64 decoder: ${name}`, () => {
      const weights = randomWeights(config, 1);
      const logits = kernelLogits(createDecoder(config, writeSafetensors(weights)), tokens, { block: 8 });
      expect(largestGap(logits, { config, weights })).toBeLessThan(2e-5);
    });
  }

  it("agrees with the float64 decoder with an adapter beside every linear map", () => {
    const weights = randomWeights(SMALL, 2);
    const adapter = randomAdapter(SMALL, { seed: 3, rank: 5 });
    const decoder = createDecoder(SMALL, writeSafetensors(weights));
    const logits = kernelLogits(decoder, tokens, { block: 8, adapter: placeAdapter(decoder, adapter) });
    expect(largestGap(logits, { config: SMALL, weights, adapter })).toBeLessThan(2e-5);
  });

  it("gives an unmerged adapter the same log-probs as weights it was merged into", () => {
    const weights = randomWeights(SMALL, 4);
    const adapter = randomAdapter(SMALL, { seed: 5, targets: ["q_proj", "down_proj"] });
    const decoder = createDecoder(SMALL, writeSafetensors(weights));
    const beside = kernelLogits(decoder, tokens, { block: 1, adapter: placeAdapter(decoder, adapter) });
    const merged = kernelLogits(createDecoder(SMALL, writeSafetensors(merge(weights, adapter))), tokens, { block: 1 });
    expect(gap(beside, merged)).toBeLessThan(2e-5);
  });

  it("computes every row bit for bit the same in blocks of 1 to 8", () => {
    const decoder = createDecoder(SMALL, writeSafetensors(randomWeights(SMALL, 6)));
    const adapter = placeAdapter(decoder, randomAdapter(SMALL, { seed: 7 }));
    const single = kernelLogits(decoder, tokens, { block: 1, adapter });
    for (let block = 2; block <= 8; block++) expect(kernelLogits(decoder, tokens, { block, adapter })).toEqual(single);
  });

  it("computes a row bit for bit the same beside rows of other sequences and adapters", () => {
    const decoder = createDecoder(SMALL, writeSafetensors(randomWeights(SMALL, 8)));
    const adapter = placeAdapter(decoder, randomAdapter(SMALL, { seed: 9 }));
    const alone = kernelLogits(decoder, tokens.slice(0, 20), { block: 1, adapter });
    const [own, other] = [placePages(decoder, 20), placePages(decoder, 20)];
    const together = tokens.slice(0, 20).map((token, position) => {
      const row = { token, position, pages: own, adapter };
      const stranger = { token: (token + 1) % SMALL.vocabSize, position, pages: other, adapter: 0 };
      decoder.forward([stranger, row], 0);
      return decoder.logits(1).slice();
    });
    expect(together).toEqual(alone);
  });

  it("continues from kept keys and values bit for bit as from the start", () => {
    const decoder = createDecoder(SMALL, writeSafetensors(randomWeights(SMALL, 10)));
    const cold = kernelLogits(decoder, tokens, { block: 8 });
    const pages = placePages(decoder, tokens.length);
    kernelLogits(decoder, [...tokens.slice(0, 70), 1, 2, 3, 4], { block: 8, pages });
    expect(kernelLogits(decoder, tokens, { block: 8, pages, from: 70 })).toEqual(cold.slice(70));
  });

  it("leaves the same logits when earlier rows of the block ask for none", () => {
    const decoder = createDecoder(SMALL, writeSafetensors(randomWeights(SMALL, 11)));
    const all = kernelLogits(decoder, tokens.slice(0, 16), { block: 8 });
    const pages = placePages(decoder, 16);
    for (const start of [0, 8]) {
      const rows = tokens.slice(start, start + 8).map((token, index) => ({ token, position: start + index, pages, adapter: 0 }));
      decoder.forward(rows, start === 0 ? 8 : 7);
    }
    expect(decoder.logits(7)).toEqual(all[15]);
  });

  it("normalises a row's exponentials over the vocabulary alone, without its padding", () => {
    const decoder = createDecoder(SMALL, writeSafetensors(randomWeights(SMALL, 12)));
    const [logits = new Float32Array()] = kernelLogits(decoder, [5], { block: 1 });
    const max = Math.max(...logits);
    const exponentials = decoder.exponentials(0, { max, temperature: 0.5 });
    exponentials.forEach((value, id) => expect(value).toBeCloseTo(Math.exp(((logits[id] ?? NaN) - max) / 0.5), 5));
    expect(exponentials.length).toBe(SMALL.vocabSize);
  });
});

function largestGap(logits: readonly Float32Array[], reference: Reference): number {
  return gap(logits, referenceLogits(reference, tokens));
}

/** Largest difference of log-probs. */
function gap(a: readonly ArrayLike<number>[], b: readonly ArrayLike<number>[]): number {
  return Math.max(
    ...a.map((row, t) => {
      const other = logSoftmax(b[t] ?? []);
      return Math.max(...logSoftmax(row).map((value, id) => Math.abs(value - (other[id] ?? NaN))));
    }),
  );
}

/** W + (alpha / rank) B A for every pair. */
function merge(weights: ReadonlyMap<string, FloatTensor>, adapter: ReturnType<typeof randomAdapter>): Map<string, FloatTensor> {
  const merged = new Map(weights);
  for (const { layer, linear, a, b } of adapter.pairs) {
    const name = `model.layers.${layer}.${LINEAR_PATHS[linear]}.weight`;
    const { out, in: inputs } = linearShape(SMALL, linear);
    const values = Float32Array.from({ length: out * inputs }, (_, index) => {
      const [o, i] = [Math.floor(index / inputs), index % inputs];
      let delta = 0;
      for (let r = 0; r < adapter.rank; r++) delta += (b[o * adapter.rank + r] ?? NaN) * (a[r * inputs + i] ?? NaN);
      return (weights.get(name)?.values[index] ?? NaN) + (adapter.alpha / adapter.rank) * delta;
    });
    merged.set(name, { shape: [out, inputs], values });
  }
  return merged;
}
