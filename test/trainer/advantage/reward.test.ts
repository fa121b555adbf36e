/** The running baseline, and which tokens a reward is credited to. */
import { describe, expect, it } from "vitest";
import { runningBaseline } from "../../../trainer/advantage/baseline.ts";
import { creditedAdvantages } from "../../../trainer/advantage/credit.ts";

describe("runningBaseline", () => {
  it("is zero before any reward and the mean of the first few", () => {
    expect(runningBaseline([])).toBe(0);
    expect(runningBaseline([1, -1, 1, 1])).toBeCloseTo(0.5, 12);
  });

  it("forgets beyond its horizon", () => {
    // 16 rewards of 1, then one of −1: b = 1 + (−1 − 1)/16
    expect(runningBaseline([...Array.from({ length: 16 }, () => 1), -1])).toBeCloseTo(0.875, 12);
  });
});

describe("creditedAdvantages", () => {
  it("credits only the token on which the teacher disagrees", () => {
    // tokens:        {"rooms": "   1     "}
    // teacher:        −0.1        −4.0   −0.1
    // student:        −0.2        −0.3   −0.1
    expect(creditedAdvantages(-1, { teacherLogProbs: [-0.1, -4, -0.1], studentLogProbs: [-0.2, -0.3, -0.1] })).toEqual([0, -1, 0]);
  });

  it("blames no token that the teacher likes better, and praises none that it likes less", () => {
    expect(creditedAdvantages(-1, { teacherLogProbs: [-0.1], studentLogProbs: [-0.9] })).toEqual([0]);
    expect(creditedAdvantages(1, { teacherLogProbs: [-0.1, -4], studentLogProbs: [-0.9, -0.3] })).toEqual([1, 0]);
  });
});
