/**
 * How rotary positions are stretched beyond the context that a model was first trained on, as `config.json` says it:
 * `rope_theta` beside `rope_scaling`, or both inside `rope_parameters`, where files written since transformers 5 keep them.
 */
import { z } from "zod";

/** Llama 3.1's: waves longer than originalTokens / lowFrequencyFactor turn `factor` times slower, those shorter than originalTokens / highFrequencyFactor as before. */
type Llama3Scaling = {
  readonly kind: "llama3";
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalTokens: number;
};

/** YaRN (arXiv:2309.00071), which Qwen publishes: slower by wavelength, and cosines and sines times `attentionFactor`. */
type YarnScaling = {
  readonly kind: "yarn";
  readonly factor: number;
  readonly originalTokens: number;
  /** Turns within the original context from which a wave is left alone. */
  readonly betaFast: number;
  /** Turns below which it is slowed whole. */
  readonly betaSlow: number;
  readonly attentionFactor: number;
  /** The bounds between the two are whole dimensions. */
  readonly truncate: boolean;
};

export type RopeScaling = Llama3Scaling | YarnScaling;

const count = z.number().int().positive();
const positive = z.number().positive();
const theta = { rope_theta: positive.optional(), partial_rotary_factor: z.literal(1).optional() };

const Plain = z.strictObject({ ...theta, rope_type: z.literal("default") });
const Llama3 = z
  .strictObject({
    ...theta,
    rope_type: z.literal("llama3"),
    factor: z.number().min(1),
    low_freq_factor: positive,
    high_freq_factor: positive,
    original_max_position_embeddings: count,
  })
  // Of waves between two bounds that have changed places, libraries say different things.
  .check(({ value: { low_freq_factor: low, high_freq_factor: high }, issues }) => {
    const message = `low_freq_factor, ${low}, or more expected`;
    if (high < low) issues.push({ code: "custom", path: ["high_freq_factor"], message, input: high });
  });
const Yarn = z.strictObject({
  ...theta,
  rope_type: z.literal("yarn"),
  factor: z.number().min(1),
  original_max_position_embeddings: count.optional(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  attention_factor: positive.nullish(),
  truncate: z.boolean().default(true),
});

/** Fields that are no part of the kind are refused, because they would mean another computation. The older name of the kind is `type`. */
export const RopeFields = z.preprocess(withKind, z.discriminatedUnion("rope_type", [Plain, Llama3, Yarn]));
export type RopeFields = z.infer<typeof RopeFields>;

/** Undefined where positions are not stretched. `contextTokens` is what YaRN stretches where the file names no original. */
export function ropeScalingOf(fields: RopeFields, contextTokens: number): RopeScaling | undefined {
  if (fields.rope_type === "default") return undefined;
  const { factor, original_max_position_embeddings: originalTokens = contextTokens } = fields;
  if (fields.rope_type === "llama3") {
    const { low_freq_factor: lowFrequencyFactor, high_freq_factor: highFrequencyFactor } = fields;
    return { kind: "llama3", factor, lowFrequencyFactor, highFrequencyFactor, originalTokens };
  }
  return {
    kind: "yarn",
    factor,
    originalTokens,
    betaFast: fields.beta_fast ?? 32,
    betaSlow: fields.beta_slow ?? 1,
    attentionFactor: fields.attention_factor ?? 0.1 * Math.log(factor) + 1, // eq. 22
    truncate: fields.truncate,
  };
}

function withKind(fields: unknown): unknown {
  if (fields === null || typeof fields !== "object" || Array.isArray(fields)) return fields;
  const { type, rope_type: kind = type ?? "default", ...rest } = fields as Record<string, unknown>;
  return { ...rest, rope_type: kind, ...(type !== undefined && type !== kind ? { type } : {}) };
}
