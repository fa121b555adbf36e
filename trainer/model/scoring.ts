/** The scoring graph of one bucket: log-probabilities without gradients. */
import { argMax, cast, gatherElements, logSoftmax, reshape } from "../autodiff/build.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";
import type { AdapterShape } from "./adapter.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { type Bucket, buildForward } from "./forward.ts";
import { modelInputs } from "./inputs.ts";
import type { Outputs } from "./training.ts";

/** Outputs `logProbs` [N] of the targets, `argmax` [N] as float32 (exact below 2²⁴), and, where `full`, `full` [N, V]. */
export function buildScoring(
  config: ModelConfig,
  bucket: Bucket,
  { adapter, full }: { adapter?: AdapterShape | undefined; full: boolean },
): Outputs {
  const graph = new Graph();
  const { logits } = buildForward(graph, { config, bucket, weights: modelInputs(graph, config, adapter) });
  return buildScores(graph, logits, { full });
}

/** The same outputs over `logits` [N, V]. */
export function buildScores(graph: Graph, logits: Node, { full }: { full: boolean }): Outputs {
  const count = dimOf(logits.type.shape, 0);
  const all = logSoftmax(logits);
  const chosen = gatherElements(all, graph.input("targets", [count, 1], "int32"));
  const argmax = cast(argMax(logits), "float32");
  return { logProbs: reshape(chosen, [count]), argmax, ...(full ? { full: all } : {}) };
}
