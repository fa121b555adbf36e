/** Low-rank adapters in PEFT's naming: which layers one touches, its tensors, and how it enters a graph. */
import { AppError } from "../../shared/errors.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { LowRank } from "./linear.ts";
import { type Parameter, type ParameterBuffer, packParameters, projections } from "./parameters.ts";
import type { Random } from "../random.ts";

/** What two adapters must share to run through one compiled graph. */
export type AdapterShape = {
  /** R */
  readonly rank: number;
  readonly alpha: number;
  /** Layers in model order, e.g. `model.layers.0.self_attn.q_proj`. */
  readonly layers: readonly string[];
};

const PREFIX = "base_model.model.";
const A = ".lora_A.weight";
const B = ".lora_B.weight";

/** Every linear layer of the blocks, with its [out, in]. */
function linearLayers(config: ModelConfig): Map<string, { out: number; in: number }> {
  const layers = new Map<string, { out: number; in: number }>();
  for (let layer = 0; layer < config.layerCount; layer += 1) {
    for (const [name, { out, in: width }] of Object.entries(projections(config)))
      layers.set(`model.layers.${layer}.${name}`, { out, in: width });
  }
  return layers;
}

/** Layers whose last name part is among `targets`, as PEFT's target_modules chooses them. @throws {input/invalid} for a target no layer has. */
export function targetedLayers(config: ModelConfig, targets: readonly string[]): string[] {
  const layers = [...linearLayers(config).keys()];
  const lastPart = (layer: string): string => layer.slice(layer.lastIndexOf(".") + 1);
  const unknown = targets.filter((target) => !layers.some((layer) => lastPart(layer) === target));
  if (targets.length === 0 || unknown.length > 0)
    throw new AppError("input/invalid", `adapter targets: names of linear layers expected, got ${unknown.join(", ") || "none"}`);
  return layers.filter((layer) => targets.includes(lastPart(layer)));
}

/** The layers that tensors named as PEFT names them belong to. @throws {input/invalid} for a name of another form. */
export function layersOfTensors(config: ModelConfig, names: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const name of names) {
    if (!name.startsWith(PREFIX) || !(name.endsWith(A) || name.endsWith(B)))
      throw new AppError("input/invalid", `adapter tensor: ${PREFIX}<layer>${A} or ${B} expected, got ${name}`);
    found.add(name.slice(PREFIX.length, -A.length));
  }
  const known = [...linearLayers(config).keys()];
  const unknown = [...found].filter((layer) => !known.includes(layer));
  if (unknown.length > 0) throw new AppError("input/invalid", `adapter layers of this model expected, got ${unknown.join(", ")}`);
  return known.filter((layer) => found.has(layer));
}

/** Tensors of an adapter: A [R, in] and B [out, R] per layer. */
export function listAdapterParameters(config: ModelConfig, { rank, layers }: AdapterShape): Parameter[] {
  const sizes = linearLayers(config);
  return packParameters(
    layers.flatMap((layer) => {
      const { out, in: width } = sizes.get(layer) ?? { out: 0, in: 0 };
      return [
        { name: `${PREFIX}${layer}${A}`, kind: "linear", shape: [rank, width] },
        { name: `${PREFIX}${layer}${B}`, kind: "linear", shape: [out, rank] },
      ];
    }),
  );
}

/** A uniform in ±1/√in (Kaiming with a = √5, PEFT's default), B zero: the adapter begins without effect. */
export function initialiseAdapter(buffer: ParameterBuffer, random: Random): void {
  for (const parameter of buffer.parameters) {
    const view = buffer.view(parameter);
    const bound = parameter.name.endsWith(A) ? 1 / Math.sqrt(parameter.shape[1] ?? 1) : 0;
    for (let index = 0; index < view.length; index += 1) view[index] = bound * (2 * random.next() - 1);
  }
}

/** Graph inputs of an adapter, and what each layer finds. The layer adds alpha / R · B A. */
export function adapterInputs(
  graph: Graph,
  config: ModelConfig,
  shape: AdapterShape,
): { inputs: Map<string, Node>; lowRank: (layer: string) => LowRank | undefined } {
  const inputs = new Map(
    listAdapterParameters(config, shape).map((parameter): [string, Node] => [parameter.name, graph.input(parameter.name, parameter.shape)]),
  );
  const lowRank = (layer: string): LowRank | undefined => {
    const [a, b] = [inputs.get(`${PREFIX}${layer}${A}`), inputs.get(`${PREFIX}${layer}${B}`)];
    return a === undefined || b === undefined ? undefined : { a, b, scale: shape.alpha / shape.rank };
  };
  return { inputs, lowRank };
}
