/**
 * The sizes of a decoder of the Qwen3/Llama family, read from a Hugging Face `config.json`.
 * Refuses, by name, whatever would make the one model definition compute something else than the checkpoint means.
 */
import { z } from "zod";
import { AppError } from "./errors.ts";

/** Dimension letters: V vocabulary, D hidden, L layers, H heads, J key-value heads, K head width, F feed-forward width. */
export type ModelConfig = {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layerCount: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headDim: number;
  readonly intermediateSize: number;
  /** Most tokens that a sequence may hold. */
  readonly contextTokens: number;
  readonly ropeTheta: number;
  readonly rmsNormEps: number;
  /** The output head is the embedding. */
  readonly tiedHead: boolean;
  /** RMSNorm on every query and key head. */
  readonly qkNorm: boolean;
  /** Biases on the query, key and value projections. */
  readonly qkvBias: boolean;
};

const count = z.number().int().positive();

const HuggingFaceConfig = z.object({
  model_type: z.enum(["qwen3", "qwen2", "llama"]),
  vocab_size: count,
  hidden_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.optional(),
  head_dim: count.nullish(),
  intermediate_size: count,
  max_position_embeddings: count,
  rope_theta: z.number().positive().default(10_000),
  rope_scaling: z.null().optional(),
  rope_parameters: z.never().optional(), // where newer files keep rope_theta; reading around it would run another model
  rms_norm_eps: z.number().positive(),
  hidden_act: z.literal("silu").default("silu"),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.literal(false).optional(), // true would put a bias on the output projection too
  mlp_bias: z.literal(false).optional(),
  use_sliding_window: z.literal(false).optional(),
});

/** Parses the content of `config.json`. @throws {policy/refused} listing every field that does not fit. */
export function parseModelConfig(content: unknown): ModelConfig {
  const parsed = HuggingFaceConfig.safeParse(content);
  if (!parsed.success) throw new AppError("policy/refused", `config.json: ${z.prettifyError(parsed.error)}`, { cause: parsed.error });
  const raw = parsed.data;
  const kvHeadCount = raw.num_key_value_heads ?? raw.num_attention_heads;
  if (raw.num_attention_heads % kvHeadCount !== 0)
    throw new AppError(
      "policy/refused",
      `config.json: num_attention_heads a multiple of ${kvHeadCount} expected, got ${raw.num_attention_heads}`,
    );
  const headDim = raw.head_dim ?? raw.hidden_size / raw.num_attention_heads;
  if (headDim % 2 !== 0) throw new AppError("policy/refused", `config.json: an even head_dim expected, got ${headDim}`);
  return {
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    layerCount: raw.num_hidden_layers,
    headCount: raw.num_attention_heads,
    kvHeadCount,
    headDim,
    intermediateSize: raw.intermediate_size,
    contextTokens: raw.max_position_embeddings,
    ropeTheta: raw.rope_theta,
    rmsNormEps: raw.rms_norm_eps,
    tiedHead: raw.tie_word_embeddings,
    qkNorm: raw.model_type === "qwen3",
    qkvBias: raw.model_type === "qwen2",
  };
}
