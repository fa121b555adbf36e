/** A checkpoint is loaded whole or refused by the name of what does not fit. */
import { describe, expect, it } from "vitest";
import { randomWeights } from "../../../bench/random-checkpoint.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { decodeBfloat16, encodeBfloat16 } from "../../../shared/float16.ts";
import { type FloatTensor, writeSafetensors } from "../../../shared/safetensors.ts";
import { createDecoder, kernelLogits } from "../kernel/decode.ts";

const CONFIG: ModelConfig = {
  vocabSize: 40,
  hiddenSize: 32,
  layerCount: 1,
  headCount: 2,
  kvHeadCount: 1,
  headDim: 32,
  intermediateSize: 64,
  contextTokens: 64,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};
const NORM = "model.layers.0.input_layernorm.weight";
const TOKENS = [3, 1, 4, 1, 5, 9, 2, 6];

function load(change: (tensors: Map<string, FloatTensor>) => void, config = CONFIG): void {
  const tensors = randomWeights(CONFIG, 1);
  change(tensors);
  createDecoder(config, writeSafetensors(tensors));
}

describe("loadWeights", () => {
  it("gives a BF16 file the logits of a float32 file with the same rounded numbers", () => {
    const weights = randomWeights(CONFIG, 2);
    const rounded = new Map(
      Array.from(weights, ([name, { shape, values }]) => [name, { shape, values: decodeBfloat16(encodeBfloat16(values)) }]),
    );
    const fromHalf = kernelLogits(createDecoder(CONFIG, writeSafetensors(weights, { type: "BF16" })), TOKENS, { block: 8 });
    expect(kernelLogits(createDecoder(CONFIG, writeSafetensors(rounded)), TOKENS, { block: 8 })).toEqual(fromHalf);
  });

  for (const [what, change, message] of [
    ["a missing tensor", (tensors: Map<string, FloatTensor>) => void tensors.delete(NORM), `tensor ${NORM} expected, got none`],
    [
      "a wrong shape",
      (tensors: Map<string, FloatTensor>) => void tensors.set(NORM, { shape: [31], values: new Float32Array(31) }),
      `tensor ${NORM}: shape [32] expected, got [31]`,
    ],
    [
      "a tensor that the model has no place for",
      (tensors: Map<string, FloatTensor>) => void tensors.set("lm_head.weight", { shape: [1], values: new Float32Array(1) }),
      "no tensor lm_head.weight expected",
    ],
    [
      "a value that is no number",
      (tensors: Map<string, FloatTensor>) => void tensors.get(NORM)?.values.fill(NaN, 3, 4),
      `tensor ${NORM}: finite values expected`,
    ],
  ] as const) {
    it(`refuses ${what} by name`, () => expect(() => load(change)).toThrow(message));
  }

  for (const [name, config] of [
    ["hidden_size", { ...CONFIG, hiddenSize: 48 }],
    ["num_key_value_heads * head_dim", { ...CONFIG, headDim: 16 }],
    ["intermediate_size", { ...CONFIG, intermediateSize: 72 }],
  ] as const) {
    it(`refuses a ${name} that the kernel cannot run`, () =>
      expect(() => load(() => undefined, config)).toThrow(`${name} a multiple of 32 expected`));
  }
});
