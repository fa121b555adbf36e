/** The choice among hints by overlap, by hand. */
import { describe, expect, it } from "vitest";
import { chooseHints, mixTeachers } from "../../../trainer/advantage/hint-choice.ts";

const V = 4;
/** Log-probs of rows whose likeliest tokens are those named, in order. */
const rows = (...orders: readonly (readonly number[])[]): Float32Array =>
  Float32Array.from(
    orders.flatMap((order) => Array.from({ length: V }, (_, token) => Math.log([0.5, 0.3, 0.15, 0.05][order.indexOf(token)] ?? 0))),
  );

// k = 2. Student: {0, 1} and {2, 3}.
const student = rows([0, 1, 2, 3], [2, 3, 0, 1]);
// Hint 0: {2, 3} and {2, 3}: overlaps 0 + 2 = 2. Hint 1: {0, 1} and {2, 0}: 2 + 1 = 3. Hint 2: {1, 0} and {3, 0}: 2 + 1 = 3.
const teachers = [rows([2, 3, 0, 1], [2, 3, 1, 0]), rows([0, 1, 3, 2], [2, 0, 1, 3]), rows([1, 0, 2, 3], [3, 0, 1, 2])];

describe("chooseHints", () => {
  it("takes the hint with the largest overlap over the answer, the earlier of two", () => {
    expect(chooseHints(student, teachers, { vocabSize: V, k: 2, choice: "sequence" })).toEqual([1, 1]);
  });

  it("takes each token's own hint where it may", () => {
    expect(chooseHints(student, teachers, { vocabSize: V, k: 2, choice: "token" })).toEqual([1, 0]);
  });

  it("mixes the teachers of each token's hint", () => {
    const mixed = mixTeachers(teachers, [1, 0], V);
    expect([...mixed]).toEqual([...(teachers[1]?.subarray(0, V) ?? []), ...(teachers[0]?.subarray(V) ?? [])]);
  });

  it("needs a hint", () => {
    expect(() => chooseHints(student, [], { vocabSize: V, choice: "sequence" })).toThrow("hint");
  });
});
