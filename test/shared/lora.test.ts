/** Adapter files as PEFT names and shapes them, read back as they were written. */
import { describe, expect, it } from "vitest";
import { randomAdapter } from "../../bench/random-checkpoint.ts";
import { activatedFrom, linearShape, parseAdapter, writeAdapter } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { parseSafetensors, toFloat32, writeSafetensors } from "../../shared/safetensors.ts";

const CONFIG: ModelConfig = {
  vocabSize: 32,
  hiddenSize: 64,
  layerCount: 2,
  headCount: 4,
  kvHeadCount: 2,
  headDim: 16,
  intermediateSize: 96,
  contextTokens: 64,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};
const ADAPTER = randomAdapter(CONFIG, { seed: 1, rank: 3, targets: ["q_proj", "down_proj"] });
const FILES = writeAdapter(CONFIG, ADAPTER, { baseModel: "base" });

function withTensors(change: (tensors: Map<string, { shape: readonly number[]; values: Float32Array }>) => void): Uint8Array {
  const tensors = new Map(
    Array.from(parseSafetensors(FILES.adapterModel), ([name, tensor]) => [name, { shape: tensor.shape, values: toFloat32(tensor) }]),
  );
  change(tensors);
  return writeSafetensors(tensors);
}

describe("adapter files", () => {
  it("carry PEFT's names and configuration", () => {
    expect([...parseSafetensors(FILES.adapterModel).keys()].slice(0, 2)).toEqual([
      "base_model.model.model.layers.0.mlp.down_proj.lora_A.weight",
      "base_model.model.model.layers.0.mlp.down_proj.lora_B.weight",
    ]);
    expect(JSON.parse(FILES.adapterConfig)).toMatchObject({
      peft_type: "LORA",
      r: 3,
      lora_alpha: 6,
      target_modules: ["q_proj", "down_proj"],
      task_type: "CAUSAL_LM",
    });
  });

  it("are read back as they were written, and are the same bytes each time", () => {
    expect(parseAdapter(CONFIG, FILES)).toEqual(ADAPTER);
    expect(writeAdapter(CONFIG, ADAPTER, { baseModel: "base" })).toEqual(FILES);
  });

  it("carry where an activated adapter begins to act, as PEFT names it", () => {
    const activated = { ...ADAPTER, invocation: [1, 25, 9] };
    const files = writeAdapter(CONFIG, activated, { baseModel: "base" });
    expect(JSON.parse(files.adapterConfig)).toMatchObject({ alora_invocation_tokens: [1, 25, 9] });
    expect(parseAdapter(CONFIG, files)).toEqual(activated);
  });

  it.each(["pissa", "pissa_niter_16", "olora", "corda", "loftq"])("are refused where PEFT would take %s out of the base first", (init) => {
    const adapterConfig = JSON.stringify({ ...JSON.parse(FILES.adapterConfig), init_lora_weights: init });
    expect(() => parseAdapter(CONFIG, { ...FILES, adapterConfig })).toThrow("init_lora_weights");
    const gaussian = JSON.stringify({ ...JSON.parse(FILES.adapterConfig), init_lora_weights: "gaussian" });
    expect(parseAdapter(CONFIG, { ...FILES, adapterConfig: gaussian })).toEqual(ADAPTER);
  });

  it("have A [rank, in] and B [out, rank]", () => {
    const { out, in: inputs } = linearShape(CONFIG, "down_proj");
    const tensors = parseSafetensors(FILES.adapterModel);
    expect(tensors.get("base_model.model.model.layers.0.mlp.down_proj.lora_A.weight")?.shape).toEqual([3, inputs]);
    expect(tensors.get("base_model.model.model.layers.0.mlp.down_proj.lora_B.weight")?.shape).toEqual([out, 3]);
  });

  const A0 = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
  for (const [what, adapterModel, message] of [
    ["half a pair", withTensors((tensors) => tensors.delete(A0)), "layer 0 q_proj: lora_A and lora_B expected"],
    [
      "a wrong shape",
      withTensors((tensors) => tensors.set(A0, { shape: [3, 63], values: new Float32Array(189) })),
      "shape [3, 64] expected, got [3, 63]",
    ],
    [
      "a tensor it does not know",
      withTensors((tensors) => tensors.set(`${A0}x`, { shape: [1], values: new Float32Array(1) })),
      "got base_model",
    ],
    [
      "a layer that the base lacks",
      withTensors((tensors) => tensors.set(A0.replace("layers.0", "layers.2"), { shape: [1], values: new Float32Array(1) })),
      "layers 0..1 expected",
    ],
    [
      "a value that is no number",
      withTensors((tensors) => tensors.get(A0)?.values.fill(NaN, 7, 8)),
      "finite values expected, got NaN at 7",
    ],
  ] as const) {
    it(`are refused with ${what}`, () => {
      expect(() => parseAdapter(CONFIG, { ...FILES, adapterModel })).toThrow(message);
    });
  }

  it("may name all linear maps at once, the layers that they are of, and none to leave out", () => {
    for (const fields of [
      { target_modules: "all-linear" },
      { layers_to_transform: [0, 1] },
      { layers_to_transform: [] },
      { exclude_modules: null },
    ]) {
      const adapterConfig = JSON.stringify({ ...JSON.parse(FILES.adapterConfig), ...fields });
      expect(parseAdapter(CONFIG, { ...FILES, adapterConfig })).toEqual(ADAPTER);
    }
    const last = { ...ADAPTER, pairs: ADAPTER.pairs.filter((pair) => pair.layer === 1) };
    const files = writeAdapter(CONFIG, last, { baseModel: "base" });
    expect(parseAdapter(CONFIG, files)).toEqual(last);
    const one = JSON.stringify({ ...JSON.parse(files.adapterConfig), layers_to_transform: 1 });
    expect(parseAdapter(CONFIG, { ...files, adapterConfig: one })).toEqual(last);
  });

  it("may name no module that is saved whole", () => {
    const adapterConfig = JSON.stringify({ ...JSON.parse(FILES.adapterConfig), modules_to_save: [] });
    expect(parseAdapter(CONFIG, { ...FILES, adapterConfig })).toEqual(parseAdapter(CONFIG, FILES));
  });

  for (const [field, value] of [
    ["use_dora", true],
    ["use_rslora", true],
    ["bias", "all"],
    ["modules_to_save", ["lm_head"]],
    ["rank_pattern", { q_proj: 4 }],
    ["alora_invocation_tokens", [5]],
    ["peft_type", "IA3"],
    ["lora_bias", true],
    ["layer_replication", [[0, 1]]],
    ["trainable_token_indices", [1]],
    ["target_parameters", ["mlp.experts"]],
    ["use_qalora", true],
    ["target_modules", ["q_proj"]],
    ["target_modules", ".*[02]\\.self_attn\\.q_proj"],
    ["layers_to_transform", [0]],
    ["layers_to_transform", 1],
    ["layers_pattern", "layers"],
    ["exclude_modules", ["q_proj"]],
    ["exclude_modules", ".*down_proj"],
  ] as const) {
    it(`are refused with ${field}, which the kernel would get wrong`, () => {
      const adapterConfig = JSON.stringify({ ...JSON.parse(FILES.adapterConfig), [field]: value });
      expect(() => parseAdapter(CONFIG, { ...FILES, adapterConfig })).toThrow(field);
    });
  }
});

describe("activatedFrom", () => {
  const tokens = [1, 25, 9, 40, 1, 25, 9, 41, 42];

  it("is the beginning of the last occurrence", () => {
    expect(activatedFrom(tokens, [1, 25, 9])).toBe(4);
    expect(activatedFrom(tokens, [25, 9, 41])).toBe(5);
  });

  it("looks no further than the token before the answer", () => {
    expect(activatedFrom(tokens, [1, 25, 9], 6)).toBe(4);
    expect(activatedFrom(tokens, [1, 25, 9], 5)).toBe(0);
    expect(activatedFrom(tokens, [1, 25, 9], 1)).toBeUndefined();
  });

  it("knows where there is none", () => {
    expect(activatedFrom(tokens, [9, 9])).toBeUndefined();
    expect(activatedFrom([], [1, 2])).toBeUndefined();
  });
});
