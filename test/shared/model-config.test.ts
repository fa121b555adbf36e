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
    expect(parseModelConfig({ ...plain, model_type: "qwen2" })).toMatchObject({ qkNorm: false, qkvBias: true });
  });

  for (const [field, value] of [
    ["model_type", "gemma"],
    ["hidden_act", "gelu"],
    ["rope_scaling", { type: "yarn" }],
    ["attention_bias", true],
    ["use_sliding_window", true],
    ["num_key_value_heads", 3],
    ["head_dim", 33],
    ["hidden_size", 0],
  ] as const) {
    it(`refuses ${field} = ${JSON.stringify(value)} by name`, () => {
      expect(() => parseModelConfig({ ...QWEN3, [field]: value })).toThrow(field === "num_key_value_heads" ? "multiple of 3" : field);
    });
  }
});
