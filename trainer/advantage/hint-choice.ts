/**
 * Overlap-guided choice among candidate hints (arXiv:2603.10165 v2 §4). With S^q_i the student's k likeliest tokens at i and
 * S^p_{i,h} those of the teacher under hint h, O[h, i] = |S^q_i ∩ S^p_{i,h}|:
 *   sequence: h* = argmax_h Σ_i O[h, i]        token: h*(i) = argmax_h O[h, i]
 * A teacher that thinks of what the student thinks of can tell it something. The earlier hint wins a tie.
 */
import { at, invariant } from "../../shared/assert.ts";
import { TOP_K, topIndices } from "./hindsight.ts";

export type HintChoice = "sequence" | "token";

/** Which hint to take at each of N positions, from log-probs [N·V] of the student and of the teacher under each hint. */
export function chooseHints(
  student: Float32Array,
  teachers: readonly Float32Array[],
  { vocabSize, choice, k = TOP_K }: { vocabSize: number; choice: HintChoice; k?: number },
): number[] {
  invariant(teachers.length > 0, "a hint to choose expected");
  const positions = student.length / vocabSize;
  const best = (values: Float32Array, position: number): number[] =>
    topIndices(values.subarray(position * vocabSize, (position + 1) * vocabSize), k);
  const overlaps = teachers.map((teacher) =>
    Array.from({ length: positions }, (_, position) => {
      const held = new Set(best(student, position));
      return best(teacher, position).filter((token) => held.has(token)).length;
    }),
  );
  const totals = overlaps.map((own) => own.reduce((sum, overlap) => sum + overlap, 0));
  return Array.from({ length: positions }, (_, position) =>
    choice === "sequence" ? firstBest(totals) : firstBest(overlaps.map((own) => at(own, position))),
  );
}

/** Log-probs [N·V] made of each position's own hint. */
export function mixTeachers(teachers: readonly Float32Array[], chosen: readonly number[], vocabSize: number): Float32Array {
  const mixed = new Float32Array(chosen.length * vocabSize);
  chosen.forEach((hint, position) => {
    const start = position * vocabSize;
    mixed.set(at(teachers, hint).subarray(start, start + vocabSize), start);
  });
  return mixed;
}

function firstBest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value > at(values, best) ? index : best), 0);
}
