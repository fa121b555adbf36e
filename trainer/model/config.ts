/** The shape of a decoder, read from a Hugging Face config.json of the Llama, Qwen2 or Qwen3 family. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";

const positive = z.int().positive();

const HF_CONFIG = z.object({
  model_type: z.enum(["llama", "qwen2", "qwen3", "mistral"]),
  vocab_size: positive,
  hidden_size: positive,
  intermediate_size: positive,
  num_hidden_layers: positive,
  num_attention_heads: positive,
  num_key_value_heads: positive.optional(),
  head_dim: positive.nullish(),
  max_position_embeddings: positive,
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive().default(10_000),
  rope_scaling: z.null().optional(),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().optional(),
  use_sliding_window: z.literal(false).optional(),
  hidden_act: z.literal("silu").default("silu"),
});

export type ModelConfig = {
  readonly vocabSize: number;
  /** D */
  readonly hiddenSize: number;
  /** F */
  readonly feedForwardSize: number;
  readonly layers: number;
  /** H */
  readonly heads: number;
  /** J, a divisor of H */
  readonly keyValueHeads: number;
  /** K */
  readonly headSize: number;
  readonly maxPositions: number;
  readonly normEpsilon: number;
  readonly ropeTheta: number;
  readonly tiedHead: boolean;
  /** RMSNorm on queries and keys per head (Qwen3). */
  readonly queryKeyNorm: boolean;
  /** Biases on the query, key and value projections (Qwen2). */
  readonly attentionBias: boolean;
};

/** Reads a parsed config.json. @throws {input/unsupported} naming every field that is missing or not supported. */
export function parseModelConfig(json: unknown): ModelConfig {
  const parsed = HF_CONFIG.safeParse(json);
  if (!parsed.success) throw new AppError("input/unsupported", `config.json: ${z.prettifyError(parsed.error)}`);
  const hf = parsed.data;
  const keyValueHeads = hf.num_key_value_heads ?? hf.num_attention_heads;
  if (hf.num_attention_heads % keyValueHeads !== 0) {
    throw new AppError(
      "input/invalid",
      `config.json: num_key_value_heads dividing ${hf.num_attention_heads} expected, got ${keyValueHeads}`,
    );
  }
  const headSize = hf.head_dim ?? hf.hidden_size / hf.num_attention_heads;
  if (headSize % 2 !== 0) throw new AppError("input/invalid", `config.json: an even head size expected, got ${headSize}`);
  return {
    vocabSize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    feedForwardSize: hf.intermediate_size,
    layers: hf.num_hidden_layers,
    heads: hf.num_attention_heads,
    keyValueHeads,
    headSize,
    maxPositions: hf.max_position_embeddings,
    normEpsilon: hf.rms_norm_eps,
    ropeTheta: hf.rope_theta,
    tiedHead: hf.tie_word_embeddings,
    queryKeyNorm: hf.model_type === "qwen3",
    attentionBias: hf.attention_bias ?? hf.model_type === "qwen2",
  };
}
