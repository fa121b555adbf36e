/** Causal grouped-query attention over time-major rows: row t·B + b holds token t of sequence b. */
import { invariant } from "../../shared/assert.ts";
import {
  add,
  concat,
  customGradient,
  equal,
  fusedMatMul,
  mul,
  pad,
  reduceSum,
  reshape,
  slice,
  softmax,
  sub,
  transpose,
  where,
} from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";

// Queries per block: each block sees only its prefix of keys, so little of the masked upper triangle is computed.
const QUERY_BLOCK = 128;

// Finite, so that no row of scores can become NaN; e^−1e9 is zero in float32.
export const MASKED = -1e9;

export type Operands = { readonly query: Node; readonly key: Node; readonly value: Node };

export type Masks = {
  /** [B·J, 1, 1, T] added to the scores of each key. */
  readonly padding?: Node;
  /** [B·J, 1, T] numbers: a position sees only those of its own. */
  readonly segments?: Node;
};

/**
 * softmax(q kᵀ / √K) v with each position seeing itself and what came before → [T, B·J, G, K].
 * `query` [T, B·J, G, K]; `key`, `value` [T, B·J, 1, K].
 * The derivative is written out: it needs half the passes of the derived one.
 */
export function causalAttention({ query, key, value }: Operands, masks: Masks = {}): Node {
  const length = dimOf(query.type.shape, 0);
  const [keys, values] = [withoutGroups(key), withoutGroups(value)];
  const blocks: Block[] = [];
  for (let start = 0; start < length; start += QUERY_BLOCK) {
    const end = Math.min(length, start + QUERY_BLOCK);
    blocks.push(attendBlock({ query, keys: slice(keys, 0, [0, end]), values: slice(values, 0, [0, end]) }, { start, end, masks }));
  }
  const mixed = join(blocks.map((block) => unfold(block.mixed, query)));
  return customGradient(mixed, [query, key, value], (cotangent) => {
    const parts = blocks.map((block) => blockCotangents(block, foldGroups(cotangent, block)));
    const overKeys = (part: "keys" | "values"): Node =>
      parts.map((each) => pad(transpose(each[part], [1, 0, 2]), 0, [0, length - dimOf(each[part].type.shape, 1)])).reduce(add);
    return [
      join(parts.map((part) => unfold(part.queries, query))),
      reshape(overKeys("keys"), key.type.shape),
      reshape(overKeys("values"), value.type.shape),
    ];
  });
}

/** Queries [start, end) of every head group as rows, g·(end − start) + t, against their prefix of keys: one product serves the whole group. */
type Block = {
  readonly start: number;
  readonly end: number;
  /** [B·J, G·n, K] */
  readonly queries: Node;
  /** [end, B·J, K] */
  readonly keys: Node;
  /** [end, B·J, K] */
  readonly values: Node;
  /** [B·J, G·n, end] */
  readonly attention: Node;
  /** [B·J, G·n, K] */
  readonly mixed: Node;
};

type BlockRange = { readonly start: number; readonly end: number };

function attendBlock(
  { query, keys, values }: { query: Node; keys: Node; values: Node },
  { start, end, masks: { padding, segments } }: BlockRange & { masks: Masks },
): Block {
  const queries = foldGroups(query, { start, end });
  const scores = fusedMatMul(queries, keys, { transBatchB: true, transB: true, alpha: scaleOf(queries) });
  const perGroup = reshape(scores, [dimOf(scores.type.shape, 0), dimOf(query.type.shape, 2), end - start, end]);
  const before = add(perGroup, causalMask(query.graph, start, end));
  const causal = segments === undefined ? before : add(before, segmentMask(segments, { start, end }));
  const attention = reshape(softmax(padding === undefined ? causal : add(causal, slice(padding, 3, [0, end]))), scores.type.shape);
  return { start, end, queries, keys, values, attention, mixed: fusedMatMul(attention, values, { transBatchB: true }) };
}

/** From dO [B·J, G·n, K]: dS = P ∘ (dO Vᵀ − rowsum(dO ∘ O)) (FlashAttention, arXiv:2205.14135, B.2), dQ = dS K/√K, dK = dSᵀ Q/√K, dV = Pᵀ dO. */
function blockCotangents(block: Block, cotangent: Node): { queries: Node; keys: Node; values: Node } {
  const { queries, keys, values, attention, mixed } = block;
  const alpha = scaleOf(queries);
  const shift = reduceSum(mul(cotangent, mixed), [-1], true);
  const scores = mul(attention, sub(fusedMatMul(cotangent, values, { transBatchB: true, transB: true }), shift));
  return {
    queries: fusedMatMul(scores, keys, { transBatchB: true, alpha }),
    keys: fusedMatMul(scores, queries, { transA: true, alpha }), // [B·J, end, K]
    values: fusedMatMul(attention, cotangent, { transA: true }),
  };
}

const scaleOf = (queries: Node): number => 1 / Math.sqrt(dimOf(queries.type.shape, -1));

/** [T, B·J, 1, K] → [T, B·J, K] */
function withoutGroups(x: Node): Node {
  return reshape(x, x.type.shape.toSpliced(2, 1));
}

/** Times [start, end) of [T, B·J, G, K] → [B·J, G·n, K]. */
function foldGroups(x: Node, { start, end }: BlockRange): Node {
  const [, batch = 0, groups = 0, width = 0] = x.type.shape;
  return reshape(transpose(slice(x, 0, [start, end]), [1, 2, 0, 3]), [batch, groups * (end - start), width]);
}

/** [B·J, G·n, K] → [n, B·J, G, K], the layout of `like`. */
function unfold(x: Node, like: Node): Node {
  const [batch = 0, rows = 0, width = 0] = x.type.shape;
  const groups = dimOf(like.type.shape, 2);
  return transpose(reshape(x, [batch, groups, rows / groups, width]), [2, 0, 1, 3]);
}

/** Blocks one after another in time. */
function join([first, ...rest]: readonly Node[]): Node {
  invariant(first !== undefined, "one block or more expected");
  return rest.length === 0 ? first : concat([first, ...rest], 0);
}

/** What was computed before: `keys`, `values` [B·J, P, K], each head's in one piece; `mask` [B·J, 1, P] is added to the scores. */
export type Cached = { readonly keys: Node; readonly values: Node; readonly mask: Node };

/**
 * Attention of S new tokens per row to a cache, to what came before among themselves, and to themselves → [S, B·J, G, K].
 * `query` [S, B·J, G, K]; new `key`, `value` [S, B·J, 1, K]. The cache is given: no gradient reaches it. `ownMask`, where it is not
 * that alone which hides what comes later, is added to the scores among the new tokens: [B·J, 1, S, S].
 */
export function continuedAttention({ query, key, value }: Operands, cached: Cached, ownMask?: Node): Node {
  const [steps = 0, batch = 0, groups = 0] = query.type.shape;
  const slots = dimOf(cached.keys.type.shape, 1);
  const [keys, values] = [withoutGroups(key), withoutGroups(value)];
  const queries = foldGroups(query, { start: 0, end: steps });
  const alpha = scaleOf(queries);
  const own = reshape(fusedMatMul(queries, keys, { transBatchB: true, transB: true, alpha }), [batch, groups, steps, steps]);
  const hidden = ownMask ?? (steps === 1 ? undefined : causalMask(query.graph, 0, steps));
  const causal = hidden === undefined ? own : add(own, hidden);
  // With a mask of its own, the graph is one for every length.
  const multiply = steps === 1 && ownMask === undefined ? multiplyByRow : fusedMatMul;
  const overSlots = add(multiply(queries, cached.keys, { transB: true, alpha }), cached.mask);
  const attention = softmax(concat([overSlots, reshape(causal, [batch, groups * steps, steps])], 2));
  const [overCache, overOwn] = [slice(attention, 2, [0, slots]), slice(attention, 2, [slots, slots + steps])];
  const mixed = add(multiply(overCache, cached.values), fusedMatMul(overOwn, values, { transBatchB: true }));
  return customGradient(unfold(mixed, query), [query, key, value], (cotangent) => {
    const given = foldGroups(cotangent, { start: 0, end: steps });
    const shift = reduceSum(mul(given, mixed), [-1], true);
    const scoresFrom = (part: Node, product: Node): Node => mul(part, sub(product, shift));
    const ownScores = scoresFrom(overOwn, fusedMatMul(given, values, { transBatchB: true, transB: true }));
    const fromCache = fusedMatMul(scoresFrom(overCache, fusedMatMul(given, cached.values, { transB: true })), cached.keys, { alpha });
    const overSteps = (x: Node, like: Node): Node => reshape(transpose(x, [1, 0, 2]), like.type.shape);
    return [
      unfold(add(fromCache, fusedMatMul(ownScores, keys, { transBatchB: true, alpha })), query),
      overSteps(fusedMatMul(ownScores, queries, { transA: true, alpha }), key),
      overSteps(fusedMatMul(overOwn, given, { transA: true }), value),
    ];
  });
}

/**
 * alpha · x · op(cached) for the few rows of one time step, `x` [B·J, G, n], each as a product of its own: ONNX Runtime then reads what is
 * cached where it lies (MLAS, M = 1 and alpha = 1), where for several rows at once it first copies all of it into panels.
 */
function multiplyByRow(x: Node, cached: Node, { transB = false, alpha = 1 }: { transB?: boolean; alpha?: number } = {}): Node {
  const [batch = 0, groups = 0, width = 0] = x.type.shape;
  const scaled = alpha === 1 ? x : mul(x, x.graph.scalar(alpha));
  const products = fusedMatMul(reshape(scaled, [batch, groups, 1, width]), reshape(cached, cached.type.shape.toSpliced(1, 0, 1)), {
    transB,
  });
  return reshape(products, [batch, groups, dimOf(products.type.shape, -1)]);
}

/** [B·J, 1, n, end]: zero where query start + i and key j have one segment, else a large negative number. */
function segmentMask(segments: Node, { start, end }: BlockRange): Node {
  const batch = dimOf(segments.type.shape, 0);
  const ofQueries = reshape(slice(segments, 2, [start, end]), [batch, 1, end - start, 1]);
  const ofKeys = reshape(slice(segments, 2, [0, end]), [batch, 1, 1, end]);
  return where(equal(ofQueries, ofKeys), segments.graph.scalar(0), segments.graph.scalar(MASKED));
}

/** [end − start, end]: zero where query start + i may see key j, else a large negative number. */
function causalMask(graph: Graph, start: number, end: number): Node {
  const values = new Float32Array((end - start) * end);
  for (let row = 0; row < end - start; row += 1) values.fill(MASKED, row * end + start + row + 1, (row + 1) * end);
  return graph.constant(values, [end - start, end]);
}

/** [M, heads · K] → [T, B·J, heads / J, K]. */
export function splitHeads(rows: Node, { length, groups, headDim }: { length: number; groups: number; headDim: number }): Node {
  const width = dimOf(rows.type.shape, 1);
  const batch = dimOf(rows.type.shape, 0) / length;
  return reshape(rows, [length, (batch * width) / (groups * headDim), groups, headDim]);
}
