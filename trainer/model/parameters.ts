/** The parameters of a decoder under their Hugging Face names, and where each lies in one flat buffer. */
import { AppError } from "../../shared/errors.ts";
import { type Shape, sizeOf } from "../autodiff/shape.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { sharedFloats } from "../onnx/memory.ts";
import type { Random } from "../random.ts";

/** `embedding` and `head` are matrices over the vocabulary; `linear` is [out, in]; `residual` is a linear that writes to the residual stream. */
export type ParameterKind = "embedding" | "head" | "linear" | "residual" | "norm" | "bias";
export type Parameter = {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly shape: Shape;
  readonly offset: number;
  readonly size: number;
};

export const EMBEDDING = "model.embed_tokens.weight";
export const HEAD = "lm_head.weight";
export const FINAL_NORM = "model.norm.weight";

export type Projection =
  | "self_attn.q_proj"
  | "self_attn.k_proj"
  | "self_attn.v_proj"
  | "self_attn.o_proj"
  | "mlp.gate_proj"
  | "mlp.up_proj"
  | "mlp.down_proj";

/** The linear layers of one block: [out, in] and what each writes to. */
export function projections(
  config: ModelConfig,
): Record<Projection, { readonly out: number; readonly in: number; readonly kind: "linear" | "residual" }> {
  const { hiddenSize, intermediateSize } = config;
  const queries = config.headCount * config.headDim;
  const keys = config.kvHeadCount * config.headDim;
  return {
    "self_attn.q_proj": { out: queries, in: hiddenSize, kind: "linear" },
    "self_attn.k_proj": { out: keys, in: hiddenSize, kind: "linear" },
    "self_attn.v_proj": { out: keys, in: hiddenSize, kind: "linear" },
    "self_attn.o_proj": { out: hiddenSize, in: queries, kind: "residual" },
    "mlp.gate_proj": { out: intermediateSize, in: hiddenSize, kind: "linear" },
    "mlp.up_proj": { out: intermediateSize, in: hiddenSize, kind: "linear" },
    "mlp.down_proj": { out: hiddenSize, in: intermediateSize, kind: "residual" },
  };
}

/** Every parameter in a fixed order, packed without gaps. */
export function listParameters(config: ModelConfig): Parameter[] {
  const { vocabSize, hiddenSize, layerCount } = config;
  const entries: [string, ParameterKind, Shape][] = [[EMBEDDING, "embedding", [vocabSize, hiddenSize]]];
  for (let layer = 0; layer < layerCount; layer += 1) entries.push(...layerParameters(config, layer));
  entries.push([FINAL_NORM, "norm", [hiddenSize]]);
  if (!config.tiedHead) entries.push([HEAD, "head", [vocabSize, hiddenSize]]);
  return packParameters(entries.map(([name, kind, shape]) => ({ name, kind, shape })));
}

/** Lays parameters one after another. */
export function packParameters(entries: readonly Pick<Parameter, "name" | "kind" | "shape">[]): Parameter[] {
  let offset = 0;
  return entries.map((entry) => {
    const parameter = { ...entry, offset, size: sizeOf(entry.shape) };
    offset += parameter.size;
    return parameter;
  });
}

function layerParameters(config: ModelConfig, layer: number): [string, ParameterKind, Shape][] {
  const prefix = `model.layers.${layer}.`;
  const entries: [string, ParameterKind, Shape][] = [[`${prefix}input_layernorm.weight`, "norm", [config.hiddenSize]]];
  for (const [name, { out, in: width, kind }] of Object.entries(projections(config))) {
    entries.push([`${prefix}${name}.weight`, kind, [out, width]]);
    if (config.qkvBias && /[qkv]_proj$/.test(name)) entries.push([`${prefix}${name}.bias`, "bias", [out]]);
  }
  if (config.qkNorm) {
    entries.push([`${prefix}self_attn.q_norm.weight`, "norm", [config.headDim]]);
    entries.push([`${prefix}self_attn.k_norm.weight`, "norm", [config.headDim]]);
  }
  entries.push([`${prefix}post_attention_layernorm.weight`, "norm", [config.hiddenSize]]);
  return entries;
}

/** One flat buffer and its named views. `shared`: read and written in place on any thread. */
export class ParameterBuffer {
  readonly parameters: readonly Parameter[];
  readonly values: Float32Array;

  constructor(parameters: readonly Parameter[], { shared = false }: { shared?: boolean } = {}) {
    const length = parameters.reduce((total, { size }) => total + size, 0);
    this.parameters = parameters;
    this.values = shared ? sharedFloats(length) : new Float32Array(length);
  }

  view({ offset, size }: Parameter): Float32Array {
    return this.values.subarray(offset, offset + size);
  }

  /** Adds `values` to those of one parameter. */
  add(parameter: Parameter, values: Float32Array): void {
    const sum = this.view(parameter);
    // A plain loop: gradients are hundreds of thousands of values at every step.
    for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
  }

  /** Copies `weights` in. @throws {input/invalid} naming a parameter that is missing, unknown or of another size; nothing is written then. */
  load(weights: ReadonlyMap<string, Float32Array>): void {
    const known = new Set(this.parameters.map(({ name }) => name));
    const unknown = [...weights.keys()].filter((name) => !known.has(name));
    if (unknown.length > 0) throw new AppError("input/invalid", `weights: parameters of this model expected, got ${unknown.join(", ")}`);
    const found = this.parameters.map((parameter) => {
      const weight = weights.get(parameter.name);
      if (weight?.length !== parameter.size) {
        throw new AppError("input/invalid", `${parameter.name}: ${parameter.size} values expected, got ${weight?.length ?? "none"}`);
      }
      return { parameter, weight };
    });
    for (const { parameter, weight } of found) this.view(parameter).set(weight);
  }

  /** Copies everything out by name. */
  read(): Map<string, Float32Array> {
    return new Map(this.parameters.map((parameter) => [parameter.name, this.view(parameter).slice()]));
  }
}

const INIT_DEVIATION = 0.02; // GPT-2's

/** Normal weights, residual outputs scaled by 1/√(2L) (GPT-2 §2.3), norms one, biases zero. */
export function initialiseParameters(buffer: ParameterBuffer, { layerCount, random }: { layerCount: number; random: Random }): void {
  for (const parameter of buffer.parameters) {
    const view = buffer.view(parameter);
    if (parameter.kind === "norm") view.fill(1);
    else if (parameter.kind === "bias") view.fill(0);
    else {
      const deviation = parameter.kind === "residual" ? INIT_DEVIATION / Math.sqrt(2 * layerCount) : INIT_DEVIATION;
      for (let index = 0; index < view.length; index += 1) view[index] = deviation * random.normal();
    }
  }
}
