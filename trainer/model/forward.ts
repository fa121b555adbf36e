/** The forward pass over whole sequences, to logits at chosen positions: what training and scoring share. */
import { concat, customGradient, expand, gather, gemm, reshape } from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import { causalAttention, splitHeads } from "./attention.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { attendAfter } from "./continued.ts";
import { type Attend, buildDecoder, headWeight, type Rotary } from "./decoder.ts";
import type { Weights } from "./linear.ts";
import { rotaryTables } from "./rotary.ts";

/**
 * Rows B, tokens per row T, chosen positions N, and P slots of keys and values that rows go on after, where of all B·T cells only M
 * may be computed; or `packed`, where a row holds several sequences. One compiled graph per bucket.
 */
export type Bucket = {
  readonly rows: number;
  readonly length: number;
  readonly positions: number;
  readonly slots?: number;
  /** M: the rest is padding, which only attention lays out. Absent: every cell. */
  readonly tokens?: number;
  readonly packed?: true;
};

/** M */
export function tokenCount({ rows, length, tokens = rows * length }: Bucket): number {
  return tokens;
}

export type Forward = {
  /** [M, D] */
  readonly embedded: Node;
  /** [N, V] */
  readonly logits: Node;
};

/**
 * Inputs: `tokens` [M], time-major where every cell is computed, `positions` [N], `inverse` [M] (read by gradients only); after a cache
 * also `times` [M, 1] and what `attendAfter` reads, without padding `cells` [M] and `held` [T·B]; packed, `times` and `segments` [B·J, 1, T].
 */
export function buildForward(
  graph: Graph,
  { config, bucket, weights }: { config: ModelConfig; bucket: Bucket; weights: Weights },
): Forward {
  const total = tokenCount(bucket);
  const { embedded, hidden } = buildDecoder(config, {
    tokens: graph.input("tokens", [total], "int32"),
    ...sequenceInputs(graph, config, bucket),
    weights,
  });
  const chosen = pickRows(hidden, graph.input("positions", [bucket.positions], "int32"), graph.input("inverse", [total], "int32"));
  return { embedded, logits: graph.scope("head", () => gemm(chosen, headWeight(config, weights), { transB: true })) };
}

/** Where each token stands and what it sees, the same for every layer. */
export function sequenceInputs(graph: Graph, config: ModelConfig, bucket: Bucket): { rotary: Rotary; attend: Attend } {
  const { rows, length, slots, packed } = bucket;
  if (packed) {
    const segments = graph.input("segments", [rows * config.kvHeadCount, 1, length]);
    return { rotary: rotaryAfter(graph, config, { total: rows * length, reach: length }), attend: attendWithin(config, length, segments) };
  }
  if (slots === undefined) return { rotary: rotaryWithin(graph, config, bucket), attend: attendWithin(config, length) };
  const attend = attendAfter(graph, config, { rows, slots, length });
  return {
    rotary: rotaryAfter(graph, config, { total: tokenCount(bucket), reach: slots + length }),
    attend: bucket.tokens === undefined ? attend : layOut(graph, { cells: rows * length, tokens: bucket.tokens }, attend),
  };
}

/**
 * Attention over cells [T·B] of tokens [M] that hold no padding. Inputs `cells` [M], the cell of each token or T·B, and `held` [T·B], the
 * token in each cell or M: a row that is in no place is zero there, and gets no gradient.
 */
export function layOut(graph: Graph, { cells: cellCount, tokens }: { cells: number; tokens: number }, attend: Attend): Attend {
  const cells = graph.input("cells", [tokens], "int32");
  const held = graph.input("held", [cellCount], "int32");
  const intoCells = (x: Node): Node => moveRows(x, { to: held, back: cells });
  return ({ query, key, value }, layer) =>
    moveRows(attend({ query: intoCells(query), key: intoCells(key), value: intoCells(value) }, layer), { to: cells, back: held });
}

/** Every row begins at time 0. */
function rotaryWithin(graph: Graph, config: ModelConfig, { rows, length }: Bucket): Rotary {
  const times = BigInt64Array.from({ length: rows * length }, (_, row) => BigInt(Math.floor(row / rows)));
  return { positions: graph.constant(times, [times.length, 1]), ...rotaryTables(graph, config, length) };
}

/** Every row goes on at a time of its own, below `reach`. */
export function rotaryAfter(graph: Graph, config: ModelConfig, { total, reach }: { total: number; reach: number }): Rotary {
  const tables = rotaryTables(graph, config, Math.min(reach, config.contextTokens));
  return { positions: graph.input("times", [total, 1], "int64"), ...tables };
}

/** Attention of every token to those before it in its own row, and of its own segment where there are several. */
function attendWithin(config: ModelConfig, length: number, segments?: Node): Attend {
  const groups = config.headCount / config.kvHeadCount;
  const split = (rows: Node, perGroup: number): Node => splitHeads(rows, { length, groups: perGroup, headDim: config.headDim });
  return ({ query, key, value }) =>
    reshape(
      causalAttention({ query: split(query, groups), key: split(key, 1), value: split(value, 1) }, segments && { segments }),
      query.type.shape,
    );
}

/**
 * Rows of `x` [M, D] at `positions` [N]. `inverse` [M] holds, per row of `x`, where `positions` names it, or N.
 * The gradient is then a gather too: no scattered addition, whose order threads would not fix.
 */
function pickRows(x: Node, positions: Node, inverse: Node): Node {
  return customGradient(gather(x, positions), [x], (cotangent) => [gather(withZeroRow(cotangent), inverse)]);
}

/** Row `to[i]` of `x` [M, D] at i, zero where that is M; `back` holds where each row went, or how many places there are. */
function moveRows(x: Node, { to, back }: { to: Node; back: Node }): Node {
  return customGradient(gather(withZeroRow(x), to), [x], (cotangent) => [gather(withZeroRow(cotangent), back)]);
}

function withZeroRow(x: Node): Node {
  return concat([x, expand(x.graph.scalar(0), [1, ...x.type.shape.slice(1)])], 0);
}
