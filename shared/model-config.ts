/**
 * The sizes of a decoder of the Qwen3/Llama family, read from a Hugging Face `config.json`.
 * Refuses, by name, whatever would make the one model definition compute something else than the checkpoint means.
 */
import { z } from "zod";
import { canonicalJson } from "./digest.ts";
import { AppError } from "./errors.ts";
import { RopeFields, type RopeScaling, ropeScalingOf } from "./rope-scaling.ts";

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
  /** Absent where positions are not stretched. */
  readonly ropeScaling?: RopeScaling;
  readonly rmsNormEps: number;
  /** The output head is the embedding. */
  readonly tiedHead: boolean;
  /** RMSNorm on every query and key head. */
  readonly qkNorm: boolean;
  /** Biases on the query, key and value projections. */
  readonly qkvBias: boolean;
};

const count = z.number().int().positive();
const absent = (what: string): z.ZodType => z.null({ error: `${what} expected` }).optional();
const off = z.literal(false).nullish();

/** What each family calls its language model in `architectures`. */
const ARCHITECTURES = { qwen3: "Qwen3ForCausalLM", qwen2: "Qwen2ForCausalLM", llama: "LlamaForCausalLM" } as const;

const HuggingFaceConfig = z.object({
  model_type: z.enum(["qwen3", "qwen2", "llama"]),
  architectures: z.tuple([z.enum(Object.values(ARCHITECTURES))]).nullish(),
  auto_map: absent("a model without code of its own"),
  vocab_size: count,
  hidden_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  intermediate_size: count,
  max_position_embeddings: count,
  rope_theta: z.number().positive().nullish(),
  rope_scaling: RopeFields.nullish(),
  rope_parameters: RopeFields.nullish(),
  partial_rotary_factor: z.literal(1).nullish(),
  rms_norm_eps: z.number().positive(),
  hidden_act: z.literal("silu").default("silu"),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: off, // true would put a bias on the output projection too
  mlp_bias: off,
  use_sliding_window: off,
  is_causal: z.literal(true).nullish(),
  use_bidirectional_attention: off,
  layer_types: z.array(z.literal("full_attention")).nullish(),
  num_experts: absent("a dense model without experts"),
  num_local_experts: absent("a dense model without experts"),
  quantization_config: absent("weights of 16 or 32 bits, without quantization,"),
});
type HuggingFaceConfig = z.infer<typeof HuggingFaceConfig>;

/** Parses the content of `config.json`. @throws {policy/refused} listing every field that does not fit, and what came. */
export function parseModelConfig(content: unknown): ModelConfig {
  const parsed = HuggingFaceConfig.safeParse(content);
  if (!parsed.success) throw new AppError("policy/refused", `config.json: ${describe(parsed.error, content)}`, { cause: parsed.error });
  const raw = parsed.data;
  const architecture = raw.architectures?.[0] ?? ARCHITECTURES[raw.model_type];
  if (architecture !== ARCHITECTURES[raw.model_type])
    refuse(`architectures of ${raw.model_type}, ${ARCHITECTURES[raw.model_type]}, expected, got ${architecture}`);
  const kvHeadCount = raw.num_key_value_heads ?? raw.num_attention_heads;
  if (raw.num_attention_heads % kvHeadCount !== 0)
    refuse(`num_attention_heads a multiple of num_key_value_heads, ${kvHeadCount}, expected, got ${raw.num_attention_heads}`);
  return {
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    layerCount: raw.num_hidden_layers,
    headCount: raw.num_attention_heads,
    kvHeadCount,
    headDim: headDimOf(raw),
    intermediateSize: raw.intermediate_size,
    ...positionsOf(raw),
    rmsNormEps: raw.rms_norm_eps,
    tiedHead: raw.tie_word_embeddings,
    qkNorm: raw.model_type === "qwen3",
    qkvBias: raw.model_type === "qwen2",
  };
}

function headDimOf({ model_type: family, head_dim: given, hidden_size: width, num_attention_heads: heads }: HuggingFaceConfig): number {
  // Qwen3's width is not the hidden size over the heads: where the file leaves it out, libraries differ in what they take it for.
  if (family === "qwen3" && typeof given !== "number") refuse("head_dim of a qwen3 model expected, got none");
  const headDim = given ?? width / heads;
  if (headDim % 2 !== 0) refuse(`an even head_dim expected, got ${headDim}`);
  return headDim;
}

function positionsOf(raw: HuggingFaceConfig): Pick<ModelConfig, "contextTokens" | "ropeTheta" | "ropeScaling"> {
  const { rope_scaling: scaling, rope_parameters: newer, max_position_embeddings: given } = raw;
  const says = (fields: RopeFields): string => canonicalJson({ ...fields, rope_theta: undefined });
  if (newer && scaling && says(newer) !== says(scaling))
    refuse(`rope_parameters and rope_scaling that say the same expected, got ${says(newer)} and ${says(scaling)}`);
  const thetas = [...new Set([raw.rope_theta, newer?.rope_theta, scaling?.rope_theta].filter((each) => typeof each === "number"))];
  const [ropeTheta = 10_000, other] = thetas;
  if (other !== undefined) refuse(`one rope_theta, in rope_parameters or beside it, expected, got ${ropeTheta} and ${other}`);
  // At 1 all pairs of a head turn alike, and YaRN divides by ln θ.
  if (ropeTheta <= 1) refuse(`a rope_theta above 1 expected, got ${ropeTheta}`);
  const fields = newer ?? scaling;
  const ropeScaling = fields ? ropeScalingOf(fields, given) : undefined;
  // Qwen publishes YaRN with max_position_embeddings left as they were: the factor says how far it reaches.
  const contextTokens = ropeScaling?.kind === "yarn" ? Math.max(given, Math.floor(ropeScaling.factor * ropeScaling.originalTokens)) : given;
  return { contextTokens, ropeTheta, ...(ropeScaling && { ropeScaling }) };
}

/** Each issue with the field's path and what stands there. */
function describe(error: z.ZodError, content: unknown): string {
  return error.issues
    .map(({ path, message }) => {
      const found = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], content);
      return `${path.join(".") || "content"}: ${message}, got ${found === undefined ? "none" : JSON.stringify(found)}`;
    })
    .join("; ");
}

function refuse(what: string): never {
  throw new AppError("policy/refused", `config.json: ${what}`);
}
