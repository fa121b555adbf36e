/** Training graphs of one bucket: losses at given positions, and gradients of what is trained. */
import { add, mul, neg, reduceSum, reshape } from "../autodiff/build.ts";
import { gradients } from "../autodiff/grad.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";
import { type TermOptions, buildTerms } from "../loss/terms.ts";
import { tokenLogProbs } from "../loss/token-log-probs.ts";
import type { AdapterShape } from "./adapter.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { type Bucket, buildForward } from "./forward.ts";
import { modelInputs } from "./inputs.ts";

/** Graph outputs by name. */
export type Outputs = Record<string, Node>;

export const EMBEDDED_GRADIENT = "gradient:embedded";
export const gradientOf = (name: string): string => `gradient:${name}`;
export const lossOf = (term: string): string => `loss:${term}`;

/** Outputs `logProbs` [N] and the gradients of −Σ weights · logProbs for every parameter; the embedding's lookup as rows [T·B, D]. */
export function buildFullTraining(config: ModelConfig, bucket: Bucket): Outputs {
  const graph = new Graph();
  const weights = modelInputs(graph, config);
  const { embedded, logits } = buildForward(graph, { config, bucket, weights });
  const logProbs = reshape(tokenLogProbs(logits, graph.input("targets", [bucket.positions, 1], "int32")), [bucket.positions]);
  const loss = neg(reduceSum(mul(logProbs, graph.input("weights", [bucket.positions])), [0]));
  return { logProbs, ...gradientOutputs(loss, new Map([...weights.base, ["embedded", embedded]])) };
}

/** Outputs `logProbs` [N] of the targets, each term's loss [N], and the gradients of their weighted sum for the adapter's tensors. */
export function buildAdapterTraining(
  config: ModelConfig,
  bucket: Bucket,
  { adapter, terms }: { adapter: AdapterShape; terms: TermOptions },
): Outputs {
  const graph = new Graph();
  const weights = modelInputs(graph, config, adapter);
  const { logits } = buildForward(graph, { config, bucket, weights });
  const { loss, outputs } = buildLoss(graph, logits, terms);
  return { ...outputs, ...gradientOutputs(loss, weights.adapter) };
}

/** The weighted sum of the terms over `logits` [N, V], and as outputs `logProbs` [N] of the targets and each term's loss [N]. */
export function buildLoss(graph: Graph, logits: Node, terms: TermOptions): { loss: Node; outputs: Outputs } {
  const count = dimOf(logits.type.shape, 0);
  const targets = graph.input("targets", [count, 1], "int32");
  const chosen = tokenLogProbs(logits, targets);
  const outputs: Outputs = { logProbs: reshape(chosen, [count]) };
  let loss = graph.scalar(0);
  for (const [name, term] of buildTerms(graph, { logits, targets, chosen, options: terms })) {
    outputs[lossOf(name)] = term;
    loss = add(loss, reduceSum(mul(term, graph.input(`${name}.weights`, [count])), [0]));
  }
  return { loss, outputs };
}

/** Gradients by name; a target the loss does not depend on has none. */
export function gradientOutputs(loss: Node, targets: ReadonlyMap<string, Node>): Outputs {
  const found = gradients(loss, [...targets.values()]);
  return Object.fromEntries([...targets.keys()].flatMap((name, index) => (found[index] ? [[gradientOf(name), found[index]]] : [])));
}
