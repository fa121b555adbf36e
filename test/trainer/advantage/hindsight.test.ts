/** Top-k hindsight candidates by their formula. */
import { describe, expect, it } from "vitest";
import { hindsightCandidates, topIndices } from "../../../trainer/advantage/hindsight.ts";

const ln = (...probabilities: number[]): Float32Array => Float32Array.from(probabilities.map(Math.log));

describe("hindsightCandidates", () => {
  it("weighs the clipped teacher difference by the student's share among its top k", () => {
    // Student 0.5 0.3 0.15 0.05, k = 2 → candidates 0 and 1, w = 0.625 and 0.375.
    // Teacher 0.1 0.8: Δ = ln 0.2 = −1.609 → −1 (clipped), ln(0.8/0.3) = 0.9808.
    const candidates = hindsightCandidates(ln(0.5, 0.3, 0.15, 0.05), ln(0.1, 0.8, 0.05, 0.05), { vocabSize: 4, k: 2 });
    expect([...candidates.tokens]).toEqual([0, 1]);
    expect(candidates.advantages[0]).toBeCloseTo(-0.625, 6);
    expect(candidates.advantages[1]).toBeCloseTo(0.375 * Math.log(0.8 / 0.3), 6);
    expect(candidates.oldLogProbs[1]).toBeCloseTo(Math.log(0.3), 6);
  });

  it("gives nothing to learn where teacher and student agree", () => {
    const same = ln(0.4, 0.3, 0.2, 0.1);
    expect([...hindsightCandidates(same, same, { vocabSize: 4 }).advantages].every((advantage) => advantage === 0)).toBe(true);
  });
});

describe("topIndices", () => {
  it("orders by value and gives ties to the lower index", () => {
    expect(topIndices(Float32Array.of(1, 3, 3, 2, 0), 3)).toEqual([1, 2, 3]);
  });
});
