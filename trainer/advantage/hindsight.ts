/**
 * Top-k hindsight distillation (arXiv:2603.10165 v2 §4), k = 4, C = 1, over a student's own tokens:
 *   S_i = top-k of π_old(·|s, y_<i)             candidates
 *   w_v = softmax over S_i of ln π_old(v)       how much the student considers v
 *   Δ_v = clip(ln π_T(v) − ln π_old(v), −C, C)  what the hint says about v
 *   A_v = w_v · Δ_v                             (detached)
 * The loss is PPO's clipped surrogate over the candidates; loss/ builds it.
 */
import { at } from "../../shared/assert.ts";

export const TOP_K = 4;
export const DIFFERENCE_CLIP = 1; // nats; personal agents in the paper

export type Candidates = {
  /** [N·k] token ids, most probable first. */
  readonly tokens: Int32Array;
  /** [N·k] ln π_old of each. */
  readonly oldLogProbs: Float32Array;
  /** [N·k] A_v. */
  readonly advantages: Float32Array;
};

/** Candidates of N positions from full log-probs [N, V] of student and teacher. */
export function hindsightCandidates(
  student: Float32Array,
  teacher: Float32Array,
  { vocabSize, k = TOP_K }: { vocabSize: number; k?: number },
): Candidates {
  const positions = student.length / vocabSize;
  const tokens = new Int32Array(positions * k);
  const oldLogProbs = new Float32Array(positions * k);
  const advantages = new Float32Array(positions * k);
  for (let position = 0; position < positions; position += 1) {
    const row = student.subarray(position * vocabSize, (position + 1) * vocabSize);
    const best = topIndices(row, k);
    const total = best.reduce((sum, token) => sum + Math.exp(at(row, token)), 0);
    best.forEach((token, rank) => {
      const old = at(row, token);
      const difference = at(teacher, position * vocabSize + token) - old;
      tokens[position * k + rank] = token;
      oldLogProbs[position * k + rank] = old;
      advantages[position * k + rank] = (Math.exp(old) / total) * Math.min(DIFFERENCE_CLIP, Math.max(-DIFFERENCE_CLIP, difference));
    });
  }
  return { tokens, oldLogProbs, advantages };
}

/** Indices of the k greatest values, greatest first; the lower index wins a tie. */
export function topIndices(values: Float32Array, k: number): number[] {
  const best: number[] = [];
  for (let index = 0; index < values.length; index += 1) {
    const value = at(values, index);
    const rank = best.findIndex((held) => at(values, held) < value);
    if (rank >= 0) best.splice(rank, 0, index);
    else if (best.length < k) best.push(index);
    if (best.length > k) best.pop();
  }
  return best;
}
