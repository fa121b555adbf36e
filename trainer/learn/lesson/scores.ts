/** Log-probs of rows under a policy, row by row; the packing into batches stays inside. */
import { at, invariant } from "../../../shared/assert.ts";
import { applyMask, type TokenMask } from "../../../shared/grammar/token-grammar.ts";
import type { EngineCalls } from "../../engine/protocol.ts";
import { packRows, type Row } from "./rows.ts";

export type RowScore = {
  /** ln p of each answer token. */
  readonly logProbs: Float32Array;
  /** The most probable token at each answer position. */
  readonly argmax: Int32Array;
  /** [n·V] the whole distribution at each answer position, where asked for. */
  readonly full: Float32Array;
};

export type Scoring = Pick<EngineCalls, "score">;

/** Scores in the order of `rows`. `adapter` undefined is the bare base; `vocabSize` is read where whole distributions are asked for. */
export async function scoreRows(
  engine: Scoring,
  rows: readonly Row[],
  { adapter, full = false, vocabSize }: { adapter: string | undefined; full?: boolean; vocabSize: number },
): Promise<RowScore[]> {
  const scores = new Map<number, RowScore>();
  for (const { batch, rowIndices, offsets } of packRows(rows)) {
    const result = await engine.score(batch, { fullLogProbs: full, ...(adapter === undefined ? {} : { adapter }) });
    rowIndices.forEach((row, place) => {
      const [start, end] = [at(offsets, place), at(offsets, place) + at(rows, row).answer.length];
      const distributions = result.full?.slice(start * vocabSize, end * vocabSize) ?? new Float32Array(0);
      scores.set(row, { logProbs: result.logProbs.slice(start, end), argmax: result.argmax.slice(start, end), full: distributions });
    });
  }
  return rows.map((_, index) => {
    const score = scores.get(index);
    invariant(score !== undefined, `row ${index} is in a batch`);
    return score;
  });
}

/** ln p of each answer token [n] under the masks it was sampled with, from whole distributions [n·V]. */
export function maskedLogProbs(
  full: Float32Array,
  { answer, masks, vocabSize }: { answer: readonly number[]; masks: readonly (TokenMask | undefined)[]; vocabSize: number },
): Float32Array {
  return Float32Array.from(answer, (token, index) => {
    const row = full.slice(index * vocabSize, (index + 1) * vocabSize);
    const mask = masks[index];
    if (mask !== undefined) applyMask(row, mask);
    // The row adds up to 1 without a mask, so the sum of what is left is in range.
    return at(row, token) - Math.log(row.reduce((sum, logProb) => sum + Math.exp(logProb), 0));
  });
}

/** Σ ln p over the answer's tokens, nats. */
export function totalLogProb({ logProbs }: RowScore): number {
  return logProbs.reduce((sum, logProb) => sum + logProb, 0);
}

/** Mean over tokens of KL(p ‖ q) in nats from two [n·V] log-probs. */
export function meanKlNats(p: Float32Array, q: Float32Array, vocabSize: number): number {
  let sum = 0;
  // A plain loop: whole distributions are millions of values.
  for (let index = 0; index < p.length; index += 1) {
    const logProb = p[index] ?? Number.NaN;
    sum += Math.exp(logProb) * (logProb - (q[index] ?? Number.NaN));
  }
  return p.length === 0 ? 0 : (sum * vocabSize) / p.length;
}

/** Log-probs [n·V] of the distribution p^(1/τ), renormalised: τ < 1 makes the likely likelier. The input stays as it is. */
export function sharpen(logProbs: Float32Array, { temperature, vocabSize }: { temperature: number; vocabSize: number }): Float32Array {
  const sharpened = logProbs.map((logProb) => logProb / temperature);
  for (let start = 0; start < sharpened.length; start += vocabSize) {
    const row = sharpened.subarray(start, start + vocabSize);
    const highest = row.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    const total = highest + Math.log(row.reduce((sum, value) => sum + Math.exp(value - highest), 0));
    row.forEach((value, index) => (row[index] = value - total));
  }
  return sharpened;
}
