/** Importance weights against what the edge recorded, and how far behind a turn is. */
import { describe, expect, it } from "vitest";
import { importanceWeights, stalenessOf } from "../../../trainer/advantage/staleness.ts";

describe("importanceWeights", () => {
  it("is the hand-worked ratio, at most 2", () => {
    // π_parent / μ = 0.3 / 0.5 = 0.6, 0.4 / 0.4 = 1, 0.9 / 0.1 = 9 → 2
    const ln = (values: readonly number[]): number[] => values.map(Math.log);
    const weights = importanceWeights(ln([0.3, 0.4, 0.9]), ln([0.5, 0.4, 0.1]));
    [0.6, 1, 2].forEach((want, index) => expect(weights[index]).toBeCloseTo(want, 12));
  });

  it("needs a log-prob for each token", () => {
    expect(() => importanceWeights([-1], [-1, -2])).toThrow();
  });
});

describe("stalenessOf", () => {
  it("counts versions, on either side of a rollback", () => {
    const by = (policyVersion: number) => ({ line: "shared", payload: { policyVersion } });
    expect([stalenessOf(by(3), 3), stalenessOf(by(3), 5), stalenessOf(by(5), 3)]).toEqual([0, 2, 2]);
  });

  it("counts from the version that the turn was served under, whichever answered beside it", () => {
    const turn = { line: "shared", payload: { policyVersion: 40, yieldedTo: { line: "shared", version: 1 } } };
    expect([stalenessOf(turn, 40), stalenessOf(turn, 41)]).toEqual([0, 1]);
    expect(stalenessOf({ line: "u_1", payload: { policyLine: "shared", policyVersion: 2 } }, 3)).toBe(3);
  });
});
