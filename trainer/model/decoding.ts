/**
 * The two graphs of generation. Prefill reads whole prompts, left-padded so that every row ends at the last time step; a decode
 * step reads the next tokens of every row and a cache of keys and values [B·J, P, K] per layer. Both give the new keys and values as outputs.
 */
import { gemm, reshape, slice } from "../autodiff/build.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import type { AdapterShape } from "./adapter.ts";
import { type Operands, causalAttention, splitHeads } from "./attention.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { type Attend, buildDecoder, headWeight } from "./decoder.ts";
import { attendAfter } from "./continued.ts";
import { rotaryAfter } from "./forward.ts";
import { modelInputs } from "./inputs.ts";
import type { Outputs } from "./training.ts";

export const keysOf = (layer: number): string => `keys:${layer}`;
export const valuesOf = (layer: number): string => `values:${layer}`;

type Options = { readonly adapter?: AdapterShape | undefined };
type Step = { readonly rows: number; readonly steps: number; /** No token's time is as late. */ readonly reach: number };

/**
 * Inputs `tokens` [T·B] time-major, `times` [T·B, 1] int64, `mask` [B·J, 1, 1, T].
 * Outputs `logits` [B, V] after the last token and every layer's keys and values [T·B, J·K].
 */
export function buildPrefill(config: ModelConfig, { rows, length }: { rows: number; length: number }, options: Options): Outputs {
  const groups = config.headCount / config.kvHeadCount;
  const split = (x: Node, perGroup: number): Node => splitHeads(x, { length, groups: perGroup, headDim: config.headDim });
  return buildGeneration(config, { rows, steps: length, reach: length, ...options }, (graph) => {
    const mask = graph.input("mask", [rows * config.kvHeadCount, 1, 1, length]);
    return ({ query, key, value }) =>
      reshape(
        causalAttention({ query: split(query, groups), key: split(key, 1), value: split(value, 1) }, { padding: mask }),
        query.type.shape,
      );
  });
}

/**
 * Inputs `tokens` [S·B] time-major, `times` [S·B, 1] int64, `mask` [B·J, 1, P], every layer's cached keys and values [B·J, P, K].
 * Outputs `logits` [B, V] after the last token and every layer's new keys and values [S·B, J·K], to be appended to the cache.
 */
export function buildDecodeStep(
  config: ModelConfig,
  { rows, slots, steps }: { rows: number; slots: number; steps: number },
  options: Options,
): Outputs {
  return buildGeneration(config, { rows, steps, reach: slots + steps, ...options }, (graph) =>
    attendAfter(graph, config, { rows, slots, length: steps }),
  );
}

function buildGeneration(
  config: ModelConfig,
  { rows, steps, reach, adapter }: Step & Options,
  attendIn: (graph: Graph) => Attend,
): Outputs {
  const graph = new Graph();
  const weights = modelInputs(graph, config, adapter);
  const outputs: Outputs = {};
  const attend = attendIn(graph);
  const { hidden } = buildDecoder(config, {
    tokens: graph.input("tokens", [rows * steps], "int32"),
    rotary: rotaryAfter(graph, config, { total: rows * steps, reach }),
    weights,
    attend: (operands: Operands, layer) => {
      outputs[keysOf(layer)] = operands.key;
      outputs[valuesOf(layer)] = operands.value;
      return attend(operands, layer);
    },
  });
  outputs["logits"] = gemm(slice(hidden, 0, [rows * (steps - 1), rows * steps]), headWeight(config, weights), { transB: true });
  return outputs;
}
