/**
 * LoRA adapters in PEFT's format: `adapter_config.json` and `adapter_model.safetensors`.
 * y = W x + (alpha / rank) · B (A x), A [rank, in], B [out, rank].   LoRA (arXiv:2106.09685) §4.1
 *
 * An adapter with an invocation is an activated one (arXiv:2504.12397): it acts on tokens behind the first of the last
 * occurrence of the invocation, so that keys and values of everything before are the base's, whatever the version.
 */
import { z } from "zod";
import { AppError } from "./errors.ts";
import type { ModelConfig } from "./model-config.ts";
import { type FloatTensor, parseSafetensors, type TensorType, toFloat32, writeSafetensors } from "./safetensors.ts";

/** The linear maps of a layer, by their Hugging Face module path. */
export const LINEAR_PATHS = {
  q_proj: "self_attn.q_proj",
  k_proj: "self_attn.k_proj",
  v_proj: "self_attn.v_proj",
  o_proj: "self_attn.o_proj",
  gate_proj: "mlp.gate_proj",
  up_proj: "mlp.up_proj",
  down_proj: "mlp.down_proj",
} as const;
export type LinearName = keyof typeof LINEAR_PATHS;

export type LoraPair = {
  readonly layer: number;
  readonly linear: LinearName;
  readonly a: Float32Array; // [rank, in]
  readonly b: Float32Array; // [out, rank]
};

/** Tokens that open an answer in the chat template, two or more. */
export type Invocation = readonly number[];

export type Adapter = {
  readonly rank: number;
  readonly alpha: number;
  /** Absent where the adapter acts on every token. */
  readonly invocation?: Invocation;
  readonly pairs: readonly LoraPair[];
};

/**
 * Index of the first token that an adapter with this invocation acts on, where the answer's first token follows `tokens[last]`: the invocation's
 * first, as in PEFT (`calculate_alora_offsets`, 0.21). Undefined without an occurrence.
 */
export function activatedFrom(tokens: ArrayLike<number>, invocation: Invocation, last = tokens.length - 1): number | undefined {
  for (let start = last + 1 - invocation.length; start >= 0; start--)
    if (invocation.every((token, offset) => tokens[start + offset] === token)) return start;
  return undefined;
}

/**
 * The invocation that a GGUF has to have for llama.cpp's server to act on the same tokens: the server begins with the token before it (`server.cpp`,
 * `alora_invocation_start - 1`; seen of build 11669).
 */
export function ggufInvocation(invocation: Invocation): Invocation {
  return invocation.slice(1);
}

const off = z.literal(false).nullish();
const empty = z.record(z.string(), z.never()).nullish();
const nothing = z.array(z.never()).nullish();
const layer = z.number().int().min(0);

/** What PEFT would compute otherwise than y = W x + (alpha / rank) · B (A x) is refused by the field that says so. */
const AdapterConfig = z.object({
  peft_type: z.literal("LORA"),
  r: z.number().int().positive(),
  lora_alpha: z.number().positive(),
  /** Last parts of module names; which modules a pattern names only PEFT can tell. */
  target_modules: z
    .union([z.array(z.string()), z.literal("all-linear")], {
      error: ({ input }) => `names of modules, or "all-linear", expected, got ${JSON.stringify(input)}`,
    })
    .nullish(),
  /** Of every layer where it names none. */
  layers_to_transform: z
    .union([layer.transform((only) => [only]), z.array(layer)], {
      error: ({ input }) => `numbers of layers expected, got ${JSON.stringify(input)}`,
    })
    .nullish(),
  layers_pattern: nothing,
  exclude_modules: nothing,
  bias: z.literal("none").default("none"),
  use_rslora: off,
  use_dora: off,
  use_qalora: off,
  use_bdlora: z.null().optional(),
  lora_bias: off,
  fan_in_fan_out: off,
  modules_to_save: nothing,
  layer_replication: z.null().optional(),
  trainable_token_indices: z.null().optional(),
  target_parameters: z.null().optional(),
  arrow_config: z.null().optional(),
  kasa_config: z.null().optional(),
  monteclora_config: z.null().optional(),
  velora_config: z.null().optional(),
  // Others take what they begin with out of the base's weights.
  init_lora_weights: z.union([z.boolean(), z.enum(["gaussian", "eva", "orthogonal"])]).nullish(),
  rank_pattern: empty,
  alpha_pattern: empty,
  alora_invocation_tokens: z.array(z.number().int().min(0)).min(2).nullish(),
});

const NAME = /^base_model\.model\.model\.layers\.(\d+)\.(?:self_attn|mlp)\.(\w+)\.lora_([AB])\.weight$/;

/** Output and input width of a layer's linear maps: the shapes of their weights [out, in]. */
export function linearShape(config: ModelConfig, linear: LinearName): { out: number; in: number } {
  const { hiddenSize: D, intermediateSize: F, headDim: K } = config;
  const shapes: Record<LinearName, { out: number; in: number }> = {
    q_proj: { out: config.headCount * K, in: D },
    k_proj: { out: config.kvHeadCount * K, in: D },
    v_proj: { out: config.kvHeadCount * K, in: D },
    o_proj: { out: D, in: config.headCount * K },
    gate_proj: { out: F, in: D },
    up_proj: { out: F, in: D },
    down_proj: { out: D, in: F },
  };
  return shapes[linear];
}

/** The PEFT name of one of an adapter's two matrices. */
export function loraTensorName(layer: number, linear: LinearName, matrix: "A" | "B"): string {
  return `base_model.model.model.layers.${layer}.${LINEAR_PATHS[linear]}.lora_${matrix}.weight`;
}

/** What `adapter_config.json` says of an adapter, for who has not the base that it fits. @throws {policy/refused} */
export function adapterSizes(adapterConfig: string): Pick<Adapter, "rank" | "alpha" | "invocation"> {
  const { r: rank, lora_alpha: alpha, alora_invocation_tokens: invocation } = parseAdapterConfig(adapterConfig);
  return { rank, alpha, ...(invocation && { invocation }) };
}

/** An adapter as its configuration and the header of its weights tell it. */
type AdapterLayout<Tensor> = Omit<Adapter, "pairs"> & {
  readonly pairs: readonly (Pick<LoraPair, "layer" | "linear"> & { readonly a: Tensor; readonly b: Tensor })[];
};

/**
 * Holds the tensors of an adapter against a model, whatever they are told by. Pairs come in layer order, then in the order of LINEAR_PATHS.
 * @throws {policy/refused} for an unknown tensor, a missing half of a pair or a wrong shape
 */
export function adapterLayout<Tensor extends { readonly shape: readonly number[] }>(
  config: ModelConfig,
  { adapterConfig, tensors }: { adapterConfig: string; tensors: ReadonlyMap<string, Tensor> },
): AdapterLayout<Tensor> {
  const {
    r: rank,
    lora_alpha: alpha,
    alora_invocation_tokens: invocation,
    target_modules: targets,
    layers_to_transform: layers,
  } = parseAdapterConfig(adapterConfig);
  for (const name of tensors.keys()) checkName(config, name);
  const pairs: AdapterLayout<Tensor>["pairs"][number][] = [];
  for (let layer = 0; layer < config.layerCount; layer++) {
    for (const linear of linearNames()) {
      const a = tensors.get(loraTensorName(layer, linear, "A"));
      const b = tensors.get(loraTensorName(layer, linear, "B"));
      if (a === undefined && b === undefined) continue;
      if (a === undefined || b === undefined) refuse(`layer ${layer} ${linear}: lora_A and lora_B expected, got one of them`);
      if (Array.isArray(targets) && !targets.includes(linear) && !targets.includes(LINEAR_PATHS[linear]))
        refuse(`layer ${layer} ${linear}: a module among target_modules ${targets.join(", ")} expected`);
      if (layers && layers.length > 0 && !layers.includes(layer))
        refuse(`layer ${layer} ${linear}: a layer among layers_to_transform ${layers.join(", ")} expected`);
      const shape = linearShape(config, linear);
      checkShape(loraTensorName(layer, linear, "A"), a.shape, [rank, shape.in]);
      checkShape(loraTensorName(layer, linear, "B"), b.shape, [shape.out, rank]);
      pairs.push({ layer, linear, a, b });
    }
  }
  return { rank, alpha, ...(invocation && { invocation }), pairs };
}

/** Reads an adapter for a model. @throws {policy/refused} as `adapterLayout`, and for a non-finite value */
export function parseAdapter(config: ModelConfig, files: { adapterConfig: string; adapterModel: Uint8Array }): Adapter {
  const tensors = parseSafetensors(files.adapterModel);
  const { pairs, ...adapter } = adapterLayout(config, { adapterConfig: files.adapterConfig, tensors });
  return {
    ...adapter,
    pairs: pairs.map(({ layer, linear, a, b }) => ({
      ...{ layer, linear },
      a: finite(toFloat32(a), layer, linear),
      b: finite(toFloat32(b), layer, linear),
    })),
  };
}

/** An adapter's two files. `baseModel` is what PEFT records as base_model_name_or_path. */
export function writeAdapter(
  config: ModelConfig,
  adapter: Adapter,
  { baseModel, type = "F32" }: { baseModel: string; type?: TensorType },
): { adapterConfig: string; adapterModel: Uint8Array<ArrayBuffer> } {
  const tensors = new Map<string, FloatTensor>();
  for (const { layer, linear, a, b } of adapter.pairs) {
    const shape = linearShape(config, linear);
    tensors.set(loraTensorName(layer, linear, "A"), { shape: [adapter.rank, shape.in], values: a });
    tensors.set(loraTensorName(layer, linear, "B"), { shape: [shape.out, adapter.rank], values: b });
  }
  const used = new Set(adapter.pairs.map(({ linear }) => linear));
  const layers = [...new Set(adapter.pairs.map(({ layer }) => layer))].sort((one, other) => one - other);
  const adapterConfig = {
    ...(adapter.invocation && { alora_invocation_tokens: adapter.invocation }),
    base_model_name_or_path: baseModel,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    ...(layers.length < config.layerCount && { layers_to_transform: layers }),
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: "LORA",
    r: adapter.rank,
    target_modules: linearNames().filter((name) => used.has(name)),
    task_type: "CAUSAL_LM",
  };
  return {
    adapterConfig: `${JSON.stringify(adapterConfig, null, 2)}\n`,
    adapterModel: writeSafetensors(tensors, { type, metadata: { format: "pt" } }),
  };
}

/** The linear maps in the order in which every table lists them. */
export function linearNames(): LinearName[] {
  return Object.keys(LINEAR_PATHS).filter(isLinearName);
}

function isLinearName(name: string): name is LinearName {
  return Object.hasOwn(LINEAR_PATHS, name);
}

function parseAdapterConfig(text: string): z.infer<typeof AdapterConfig> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new AppError("policy/refused", "adapter_config.json: JSON expected, got text that does not parse", { cause });
  }
  const parsed = AdapterConfig.safeParse(content);
  if (!parsed.success) return refuse(`adapter_config.json: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function checkName(config: ModelConfig, name: string): void {
  const [, layer = "", linear = "", matrix = ""] = NAME.exec(name) ?? [];
  const half = matrix === "A" || matrix === "B" ? matrix : undefined;
  if (
    half === undefined ||
    !isLinearName(linear) ||
    Number(layer) >= config.layerCount ||
    name !== loraTensorName(Number(layer), linear, half)
  )
    refuse(`tensor of a linear map in layers 0..${config.layerCount - 1} expected, got ${name}`);
}

function checkShape(name: string, shape: readonly number[], expected: readonly number[]): void {
  if (shape.length !== expected.length || shape.some((extent, axis) => extent !== expected[axis]))
    refuse(`tensor ${name}: shape [${expected.join(", ")}] expected, got [${shape.join(", ")}]`);
}

function finite(values: Float32Array, layer: number, linear: LinearName): Float32Array {
  const index = values.findIndex((value) => !Number.isFinite(value));
  if (index >= 0) refuse(`layer ${layer} ${linear}: finite values expected, got ${String(values[index])} at ${index}`);
  return values;
}

function refuse(what: string): never {
  throw new AppError("policy/refused", `adapter: ${what}`);
}
