/** Causal grouped-query attention over time-major rows: row t·B + b holds token t of sequence b. */
import { add, concat, fusedMatMul, mul, reshape, slice, softmax, transpose } from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";

// Queries per block: each block sees only its prefix of keys, so little of the masked upper triangle is computed.
const QUERY_BLOCK = 128;

// Finite, so that no row of scores can become NaN; e^−1e9 is zero in float32.
export const MASKED = -1e9;

export type Operands = { readonly query: Node; readonly key: Node; readonly value: Node };

/**
 * softmax(q kᵀ / √K) v with each position seeing itself and what came before → [T, B·J, G, K].
 * `query` [T, B·J, G, K]; `key`, `value` [T, B·J, 1, K].
 * `padding` [B·J, 1, 1, T] is added to the scores of each key. Time-major rows let the products read every operand in place.
 */
export function causalAttention({ query, key, value }: Operands, padding?: Node): Node {
  const length = dimOf(query.type.shape, 0);
  const blocks: Node[] = [];
  for (let start = 0; start < length; start += QUERY_BLOCK) {
    const end = Math.min(length, start + QUERY_BLOCK);
    const queries = slice(query, 0, [start, end]);
    const alpha = 1 / Math.sqrt(dimOf(query.type.shape, -1));
    const scores = fusedMatMul(queries, slice(key, 0, [0, end]), { transBatchA: true, transBatchB: true, transB: true, alpha }); // [B·J, G, q, k]
    const causal = add(scores, causalMask(query.graph, start, end));
    const attention = softmax(padding === undefined ? causal : add(causal, slice(padding, 3, [0, end])));
    const mixed = fusedMatMul(attention, slice(value, 0, [0, end]), { transBatchB: true }); // [B·J, G, q, K]
    blocks.push(transpose(mixed, [2, 0, 1, 3]));
  }
  const [first, ...rest] = blocks;
  if (first === undefined) return query;
  return rest.length === 0 ? first : concat([first, ...rest], 0);
}

/**
 * Attention of one new token per row to its cache and itself → [B·J, G, K].
 * `query` [B·J, G, K]; new `key`, `value` [B·J, 1, K]; `keys`, `values` [S, B·J, K] as earlier steps appended them; `mask` [B·J, 1, S] is added to the scores.
 */
export function cachedAttention({ query, key, value }: Operands, { keys, values, mask }: { keys: Node; values: Node; mask: Node }): Node {
  const slots = dimOf(keys.type.shape, 0);
  const alpha = 1 / Math.sqrt(dimOf(query.type.shape, -1));
  const cached = add(fusedMatMul(query, keys, { transBatchB: true, transB: true, alpha }), mask); // [B·J, G, S]
  const own = fusedMatMul(query, key, { transB: true, alpha }); // [B·J, G, 1]
  const attention = softmax(concat([cached, own], 2));
  const mixed = fusedMatMul(slice(attention, 2, [0, slots]), values, { transBatchB: true });
  return add(mixed, mul(slice(attention, 2, [slots, slots + 1]), value));
}

/** [end − start, end]: zero where query start + i may see key j, else a large negative number. */
function causalMask(graph: Graph, start: number, end: number): Node {
  const values = new Float32Array((end - start) * end);
  for (let row = 0; row < end - start; row += 1) values.fill(MASKED, row * end + start + row + 1, (row + 1) * end);
  return graph.constant(values, [end - start, end]);
}

/** [M, heads · K] → [T, B·J, heads / J, K]. */
export function splitHeads(rows: Node, { length, groups, headSize }: { length: number; groups: number; headSize: number }): Node {
  const width = dimOf(rows.type.shape, 1);
  const batch = dimOf(rows.type.shape, 0) / length;
  return reshape(rows, [length, (batch * width) / (groups * headSize), groups, headSize]);
}
