/** Causal grouped-query attention over time-major rows: row t·B + b holds token t of sequence b. */
import { add, concat, fusedMatMul, reshape, slice, softmax, transpose } from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";

// Queries per block: each block sees only its prefix of keys, so little of the masked upper triangle is computed.
const QUERY_BLOCK = 128;

// Finite, so that no row of scores can become NaN; e^−1e9 is zero in float32.
const MASKED = -1e9;

/**
 * softmax(q kᵀ / √K) v with each position seeing itself and what came before.
 * `query` [T, B·J, G, K]; `key`, `value` [T, B·J, 1, K] → [T, B·J, G, K]. Time-major rows let the products read every operand in place.
 */
export function causalAttention({ query, key, value }: { query: Node; key: Node; value: Node }): Node {
  const length = dimOf(query.type.shape, 0);
  const blocks: Node[] = [];
  for (let start = 0; start < length; start += QUERY_BLOCK) {
    const end = Math.min(length, start + QUERY_BLOCK);
    const queries = slice(query, 0, [start, end]);
    const alpha = 1 / Math.sqrt(dimOf(query.type.shape, -1));
    const scores = fusedMatMul(queries, slice(key, 0, [0, end]), { transBatchA: true, transBatchB: true, transB: true, alpha }); // [B·J, G, q, k]
    const attention = softmax(add(scores, causalMask(query.graph, start, end)));
    const mixed = fusedMatMul(attention, slice(value, 0, [0, end]), { transBatchB: true }); // [B·J, G, q, K]
    blocks.push(transpose(mixed, [2, 0, 1, 3]));
  }
  const [first, ...rest] = blocks;
  if (first === undefined) return query;
  return rest.length === 0 ? first : concat([first, ...rest], 0);
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
