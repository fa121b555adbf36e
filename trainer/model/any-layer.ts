/**
 * One layer in the one form that any bucket can be given in, forward and backward over the same graph, so that a session that holds
 * its frozen tensors serves all of them: rows go on after a cache, which may be nothing, are laid out in cells, which may be their
 * order, see their own segment, which may be the row, and have an adapter on every linear layer, which may be zero.
 */
import { add, equal, less, where } from "../autodiff/build.ts";
import { pullback } from "../autodiff/grad.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import type { FloatType } from "../autodiff/shape.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { MASKED } from "./attention.ts";
import { attendAfter } from "./continued.ts";
import { buildBlock, type Attend } from "./decoder.ts";
import { keysOf, valuesOf } from "./decoding.ts";
import { layOut, rotaryAfter } from "./forward.ts";
import { modelInputs } from "./inputs.ts";
import { COTANGENT, HIDDEN, LAYER_OUTPUT } from "./layered.ts";
import type { LowRank } from "./linear.ts";
import { projections } from "./parameters.ts";
import { gradientOf, type Outputs } from "./training.ts";

/** Rows B, tokens per row T, slots P of the cache, and M tokens in B·T cells. */
export type AnyBucket = { readonly rows: number; readonly length: number; readonly slots: number; readonly tokens: number };

/** alpha / R of the adapter, one value. */
export const SCALE = "scale";

/** Every linear layer of a block, under the names of the first. */
export function linearNames(config: ModelConfig): string[] {
  return Object.keys(projections(config)).map((name) => `model.layers.0.${name}`);
}

/**
 * Two branches. The first gives `output` [M, D] and the layer's keys and values [M, J·K]; the second the gradients of `hidden` and of
 * the adapter's tensors. Inputs are `hidden`, `cotangent` [M, D], `times` [M, 1], `cells` [M], `held` [B·T], `mask` [B·J, 1, P], cached
 * keys and values [B·J, P, K], the places of a row's tokens and their segments as queries and as keys, and the adapter with `scale`.
 */
export function buildAnyLayer(
  config: ModelConfig,
  bucket: AnyBucket,
  { rank, compute }: { rank: number; compute: FloatType },
): [forward: Outputs, gradients: Outputs] {
  const graph = new Graph();
  const one = { ...config, layerCount: 1 };
  const inputs = modelInputs(graph, one, { rank, alpha: rank, layers: linearNames(config) }, compute);
  const scale = graph.input(SCALE, []);
  const lowRank = (layer: string): LowRank | undefined => {
    const found = inputs.lowRank(layer);
    return found && { ...found, scale };
  };
  const { rows, length, slots, tokens } = bucket;
  const hidden = graph.input(HIDDEN, [tokens, config.hiddenSize]);
  const attend = attendAfter(graph, one, { rows, slots, length, ownMask: ownMask(graph, one, bucket) });
  const outputs: Outputs = {};
  const keeping: Attend = (operands, layer) => {
    outputs[keysOf(layer)] = operands.key;
    outputs[valuesOf(layer)] = operands.value;
    return layOut(graph, { cells: rows * length, tokens }, attend)(operands, layer);
  };
  const output = buildBlock(hidden, {
    config: one,
    layer: 0,
    weights: { ...inputs, lowRank },
    rotary: rotaryAfter(graph, one, { total: tokens, reach: slots + length }),
    attend: keeping,
  });
  const targets = new Map([[HIDDEN, hidden], ...inputs.adapter]);
  const found = pullback(output, { seed: graph.input(COTANGENT, output.type.shape), targets: [...targets.values()] });
  const gradients = [...targets.keys()].flatMap((name, index) => (found[index] ? [[gradientOf(name), found[index]] as const] : []));
  return [{ [LAYER_OUTPUT]: output, ...outputs }, Object.fromEntries(gradients)];
}

/** [B·J, 1, T, T]: zero where a query may see a key of its row, else a large negative number. A row of one token has the same nodes as any. */
function ownMask(graph: Graph, { kvHeadCount }: ModelConfig, { rows, length }: AnyBucket): Node {
  const batch = rows * kvHeadCount;
  const [zero, masked] = [graph.scalar(0), graph.scalar(MASKED)];
  const later = less(graph.input("queryPlaces", [length, 1]), graph.input("keyPlaces", [1, length]));
  const alike = equal(graph.input("querySegments", [batch, 1, length, 1]), graph.input("keySegments", [batch, 1, 1, length]));
  return add(where(alike, zero, masked), where(later, masked, zero));
}
