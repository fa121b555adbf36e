/** What a config.json says, what each family leaves unsaid, and what is refused. */
import { describe, expect, it } from "vitest";
import { parseModelConfig } from "../../shared/model-config.ts";

const QWEN3 = {
  model_type: "qwen3",
  vocab_size: 4096,
  hidden_size: 256,
  num_hidden_layers: 5,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  intermediate_size: 512,
  max_position_embeddings: 1024,
  rope_theta: 10_000,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};

describe("parseModelConfig", () => {
  it("reads a Qwen3 config", () => {
    expect(parseModelConfig(QWEN3)).toMatchObject({
      hiddenSize: 256,
      kvHeadCount: 2,
      headDim: 64,
      tiedHead: true,
      qkNorm: true,
      qkvBias: false,
    });
  });

  it("knows what each family leaves unsaid", () => {
    const { num_key_value_heads: _groups, head_dim: _width, ...plain } = QWEN3;
    expect(parseModelConfig({ ...plain, model_type: "llama" })).toMatchObject({
      kvHeadCount: 4,
      headDim: 64,
      qkNorm: false,
      qkvBias: false,
    });
    // Qwen2.5 names a window that it does not use.
    expect(parseModelConfig({ ...plain, model_type: "qwen2", sliding_window: 131_072, use_sliding_window: false })).toMatchObject({
      qkNorm: false,
      qkvBias: true,
    });
  });

  it("reads stretched positions as each family publishes them, in either form", () => {
    const llama = { ...QWEN3, model_type: "llama", max_position_embeddings: 131_072, rope_theta: undefined };
    const fields = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192, rope_type: "llama3" };
    const older = parseModelConfig({ ...llama, rope_theta: 500_000, rope_scaling: fields });
    expect(older).toMatchObject({
      contextTokens: 131_072,
      ropeTheta: 500_000,
      ropeScaling: { kind: "llama3", factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalTokens: 8192 },
    });
    expect(parseModelConfig({ ...llama, rope_parameters: { ...fields, rope_theta: 500_000 } })).toEqual(older);
    expect(parseModelConfig({ ...QWEN3, rope_theta: undefined, rope_parameters: { rope_type: "default", rope_theta: 5 } })).toEqual(
      parseModelConfig({ ...QWEN3, rope_theta: 5 }),
    );
  });

  it("lets YaRN reach as far as its factor says", () => {
    const yarn = { factor: 4, original_max_position_embeddings: 32_768 };
    for (const scaling of [
      { ...yarn, rope_type: "yarn" },
      { ...yarn, type: "yarn" },
    ])
      expect(parseModelConfig({ ...QWEN3, max_position_embeddings: 40_960, rope_scaling: scaling })).toMatchObject({
        contextTokens: 131_072,
        ropeScaling: { kind: "yarn", factor: 4, originalTokens: 32_768, betaFast: 32, betaSlow: 1, attentionFactor: 0.1 * Math.log(4) + 1 },
      });
  });

  const yarn = { rope_type: "yarn", factor: 4 };
  for (const [field, value, message] of [
    ["model_type", "gemma3_text", 'got "gemma3_text"'],
    ["model_type", "qwen3_moe", 'got "qwen3_moe"'],
    ["architectures", ["Qwen3ForSequenceClassification"], 'got "Qwen3ForSequenceClassification"'],
    ["architectures", ["LlamaForCausalLM"], "Qwen3ForCausalLM, expected, got LlamaForCausalLM"],
    ["auto_map", { AutoModelForCausalLM: "modeling.Own" }, "a model without code of its own expected"],
    ["hidden_act", "gelu", 'got "gelu"'],
    ["rope_scaling", { type: "linear", factor: 2 }, "rope_scaling"],
    ["rope_scaling", { ...yarn, mscale: 0.7 }, "mscale"],
    ["rope_scaling", { rope_type: "llama3", factor: 8 }, "low_freq_factor"],
    ["rope_parameters", { rope_type: "default", rope_theta: 7 }, "expected, got 10000 and 7"],
    ["partial_rotary_factor", 0.5, "got 0.5"],
    ["attention_bias", true, "got true"],
    ["mlp_bias", true, "got true"],
    ["use_sliding_window", true, "got true"],
    ["is_causal", false, "expected true, got false"],
    ["use_bidirectional_attention", true, "got true"],
    ["rope_theta", 1, "a rope_theta above 1 expected, got 1"],
    ["rope_theta", 0.5, "a rope_theta above 1 expected, got 0.5"],
    [
      "rope_scaling",
      { rope_type: "llama3", factor: 8, low_freq_factor: 4, high_freq_factor: 1, original_max_position_embeddings: 8192 },
      "rope_scaling.high_freq_factor: low_freq_factor, 4, or more expected, got 1",
    ],
    [
      "layer_types",
      ["full_attention", "sliding_attention"],
      'layer_types.1: Invalid input: expected "full_attention", got "sliding_attention"',
    ],
    ["num_experts", 128, "a dense model without experts expected, got 128"],
    ["quantization_config", { quant_method: "awq" }, 'without quantization, expected, got {"quant_method":"awq"}'],
    ["num_key_value_heads", 3, "a multiple of num_key_value_heads, 3, expected, got 4"],
    ["head_dim", 33, "an even head_dim expected, got 33"],
    ["head_dim", null, "head_dim of a qwen3 model expected, got none"],
    ["head_dim", undefined, "head_dim of a qwen3 model expected, got none"],
    ["hidden_size", 0, "got 0"],
    ["intermediate_size", undefined, "got none"],
  ] as const) {
    it(`refuses ${field} = ${JSON.stringify(value)} by name`, () => {
      const parse = (): unknown => parseModelConfig({ ...QWEN3, [field]: value });
      expect(parse).toThrow(field);
      expect(parse).toThrow(message);
    });
  }

  it("refuses two ways of stretching that differ", () => {
    const two = { rope_scaling: { ...yarn, factor: 2 }, rope_parameters: { ...yarn, rope_theta: 10_000 } };
    expect(() => parseModelConfig({ ...QWEN3, ...two })).toThrow(
      'say the same expected, got {"factor":4,"rope_type":"yarn","truncate":true} and {"factor":2,"rope_type":"yarn","truncate":true}',
    );
  });

  it("reads two ways of stretching that say the same, in whichever order", () => {
    const older = { type: "yarn", original_max_position_embeddings: 32_768, factor: 4 };
    const newer = { rope_theta: 10_000, factor: 4, original_max_position_embeddings: 32_768, rope_type: "yarn" };
    const read = parseModelConfig({ ...QWEN3, rope_parameters: newer });
    expect(parseModelConfig({ ...QWEN3, rope_scaling: older, rope_parameters: newer })).toEqual(read);
    // And one that says nothing against the ordinary.
    expect(parseModelConfig({ ...QWEN3, is_causal: true, use_bidirectional_attention: null })).toEqual(parseModelConfig(QWEN3));
  });
});
