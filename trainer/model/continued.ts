/** What a graph reads where rows go on after keys and values that were computed before. */
import { reshape } from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { continuedAttention, splitHeads } from "./attention.ts";
import type { Attend } from "./decoder.ts";

export const cachedKeysOf = (layer: number): string => `cached:keys:${layer}`;
export const cachedValuesOf = (layer: number): string => `cached:values:${layer}`;

/**
 * Attention of `length` tokens per row after a cache of `slots`: inputs `mask` [B·J, 1, P] and every layer's keys and values
 * [B·J, P, K]. `ownMask` as `continuedAttention` has it.
 */
export function attendAfter(
  graph: Graph,
  { headCount, kvHeadCount, headDim }: ModelConfig,
  { rows, slots, length, ownMask }: { rows: number; slots: number; length: number; ownMask?: Node },
): Attend {
  const batch = rows * kvHeadCount;
  const mask = graph.input("mask", [batch, 1, slots]);
  return ({ query, key, value }, layer) => {
    const keys = graph.input(cachedKeysOf(layer), [batch, slots, headDim]);
    const values = graph.input(cachedValuesOf(layer), [batch, slots, headDim]);
    const operands = {
      query: splitHeads(query, { length, groups: headCount / kvHeadCount, headDim }),
      key: splitHeads(key, { length, groups: 1, headDim }),
      value: splitHeads(value, { length, groups: 1, headDim }),
    };
    return reshape(continuedAttention(operands, { keys, values, mask }, ownMask), query.type.shape);
  };
}
