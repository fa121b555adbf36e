/** The training graph of one bucket: loss of given positions, and gradients of what is trained. */
import { concat, customGradient, expand, gather, gemm, mul, neg, reduceSum, reshape } from "../autodiff/build.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import { gradients } from "../autodiff/grad.ts";
import { invariant } from "../../shared/assert.ts";
import { tokenLogProbs } from "../loss/token-log-probs.ts";
import { causalAttention, splitHeads } from "./attention.ts";
import type { ModelConfig } from "./config.ts";
import { buildDecoder, headWeight, rotaryTables } from "./decoder.ts";
import type { Weights } from "./linear.ts";
import { EMBEDDING, type Parameter, listParameters } from "./parameters.ts";

/** Rows B, tokens per row T, trained positions N. */
export type Bucket = { readonly rows: number; readonly length: number; readonly positions: number };

export type Outputs = Record<string, Node>;

export const EMBEDDED_GRADIENT = "gradient:embedded";
export const gradientOf = (name: string): string => `gradient:${name}`;

/** Parameters as graph inputs, made when first asked for. */
export function parameterInputs(graph: Graph, config: ModelConfig): Weights & { readonly inputs: Map<string, Node> } {
  const parameters = new Map(listParameters(config).map((parameter): [string, Parameter] => [parameter.name, parameter]));
  const inputs = new Map<string, Node>();
  const find = (name: string): Node | undefined => {
    const parameter = parameters.get(name);
    if (parameter === undefined) return undefined;
    const input = inputs.get(name) ?? graph.input(name, parameter.shape);
    inputs.set(name, input);
    return input;
  };
  const weight = (name: string): Node => {
    const input = find(name);
    invariant(input !== undefined, `parameter expected, got ${name}`);
    return input;
  };
  return { inputs, weight, bias: (layer) => find(`${layer}.bias`), lowRank: () => undefined };
}

export type Forward = { readonly embedded: Node; /** [N, V] */ readonly logits: Node };

/** Forward pass to logits at the chosen positions. Inputs: `tokens` [T·B] time-major, `positions` [N], `inverse` [T·B]. */
export function buildForward(graph: Graph, { config, bucket, weights }: { config: ModelConfig; bucket: Bucket; weights: Weights }): Forward {
  const { rows, length, positions } = bucket;
  const total = rows * length;
  const tokens = graph.input("tokens", [total], "int32");
  const times = BigInt64Array.from({ length: total }, (_, row) => BigInt(Math.floor(row / rows)));
  const rotary = { positions: graph.constant(times, [total, 1]), ...rotaryTables(graph, config, length) };
  const { embedded, hidden } = buildDecoder(config, {
    tokens,
    rotary,
    weights,
    attend: ({ query, key, value }) => {
      const split = (x: Node, groups: number): Node => splitHeads(x, { length, groups, headSize: config.headSize });
      const groups = config.heads / config.keyValueHeads;
      const mixed = causalAttention({ query: split(query, groups), key: split(key, 1), value: split(value, 1) });
      return reshape(mixed, query.type.shape);
    },
  });
  const chosen = pickRows(hidden, graph.input("positions", [positions], "int32"), graph.input("inverse", [total], "int32"));
  return { embedded, logits: graph.scope("head", () => gemm(chosen, headWeight(config, weights), { transB: true })) };
}

/**
 * Rows of `x` [M, D] at `positions` [N]. `inverse` [M] holds, per row of `x`, where `positions` names it, or N.
 * The gradient is then a gather too: no scattered addition, whose order threads would not fix.
 */
function pickRows(x: Node, positions: Node, inverse: Node): Node {
  return customGradient(gather(x, positions), [x], (cotangent) => {
    const zero = expand(x.graph.scalar(0), [1, ...x.type.shape.slice(1)]);
    return [gather(concat([cotangent, zero], 0), inverse)];
  });
}

/** Outputs `logProbs` [N] and the gradients of −Σ weights · logProbs for every parameter; the embedding's as rows [T·B, D]. */
export function buildFullTraining(config: ModelConfig, bucket: Bucket): Outputs {
  const graph = new Graph();
  const weights = parameterInputs(graph, config);
  const { embedded, logits } = buildForward(graph, { config, bucket, weights });
  const logProbs = reshape(tokenLogProbs(logits, graph.input("targets", [bucket.positions, 1], "int32")), [bucket.positions]);
  const loss = neg(reduceSum(mul(logProbs, graph.input("weights", [bucket.positions])), [0]));
  const names = [...weights.inputs.keys()];
  const targets = [embedded, ...weights.inputs.values()];
  const [embeddedGradient, ...found] = gradients(loss, targets);
  const outputs: Outputs = { logProbs };
  if (embeddedGradient) outputs[EMBEDDED_GRADIENT] = embeddedGradient;
  names.forEach((name, index) => {
    const gradient = found[index];
    if (gradient) outputs[gradientOf(name)] = gradient;
  });
  invariant(config.tiedHead || outputs[gradientOf(EMBEDDING)] === undefined, "an untied embedding has no dense gradient");
  return outputs;
}
