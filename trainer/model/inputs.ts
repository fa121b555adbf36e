/** A model's parameters, and those of an adapter over it, as graph inputs. */
import { invariant } from "../../shared/assert.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import type { FloatType } from "../autodiff/shape.ts";
import { type AdapterShape, adapterInputs } from "./adapter.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { Weights } from "./linear.ts";
import { listParameters, type Parameter } from "./parameters.ts";

export type ModelInputs = Weights & {
  /** Base parameters asked for, by name. */
  readonly base: ReadonlyMap<string, Node>;
  /** Tensors of the adapter, by name; empty without one. */
  readonly adapter: ReadonlyMap<string, Node>;
};

/** Whether a parameter is a matrix that rows are multiplied by. */
export function isMatrix({ kind }: Pick<Parameter, "kind">): boolean {
  return kind !== "norm" && kind !== "bias";
}

/** Each base parameter becomes an input when first asked for, a matrix of the type that it is multiplied in. */
export function modelInputs(graph: Graph, config: ModelConfig, shape?: AdapterShape, compute: FloatType = "float32"): ModelInputs {
  const parameters = new Map(listParameters(config).map((parameter) => [parameter.name, parameter] as const));
  const base = new Map<string, Node>();
  const find = (name: string): Node | undefined => {
    const parameter = parameters.get(name);
    if (parameter === undefined) return undefined;
    const input = base.get(name) ?? graph.input(name, parameter.shape, isMatrix(parameter) ? compute : "float32");
    base.set(name, input);
    return input;
  };
  const weight = (name: string): Node => {
    const input = find(name);
    invariant(input !== undefined, `parameter expected, got ${name}`);
    return input;
  };
  const adapter = shape === undefined ? undefined : adapterInputs(graph, config, shape);
  return {
    base,
    adapter: adapter?.inputs ?? new Map(),
    weight,
    bias: (layer) => find(`${layer}.bias`),
    lowRank: adapter?.lowRank ?? (() => undefined),
  };
}
