/** Step rewards by hand: outcome and votes, standardised within task and step. */
import { describe, expect, it } from "vitest";
import { stepAdvantages, type Trajectory } from "../../../trainer/advantage/steps.ts";

const trajectory = (task: string, outcome: number, ...votes: number[][]): Trajectory => ({
  task,
  outcome,
  steps: votes.map((own) => ({ votes: own })),
});

/** What differs by the 1e-6 beside the deviation is the same. */
function expectNear(got: readonly (readonly (number | undefined)[])[], wanted: readonly (readonly (number | undefined)[])[]): void {
  got.forEach((own, index) => {
    expect(own).toHaveLength(wanted[index]?.length ?? 0);
    own.forEach((value, step) => {
      const want = wanted[index]?.[step];
      if (want === undefined) expect(value).toBeUndefined();
      else expect(value).toBeCloseTo(want, 4);
    });
  });
}

describe("stepAdvantages", () => {
  it("is the hand-worked example", () => {
    // Step 0: r = 1 + (1 + 1 − 1)/3 = 4/3, −1 + (−1) = −2 and −1 + 1 = 0: mean −2/9, deviation √(152/81) = 1.369857
    //   → (4/3 + 2/9)/1.369857 = 1.135550, (−2 + 2/9)/1.369857 = −1.297771, (2/9)/1.369857 = 0.162221.
    // Step 1: r = 1 (no votes), −1 + 1 = 0 and −1 + 0 = −1 (a tie): mean 0, deviation √(2/3) → 1.224745, 0, −1.224745.
    const trajectories = [trajectory("a", 1, [1, 1, -1], []), trajectory("a", -1, [-1], [1]), trajectory("a", -1, [1], [1, -1])];
    expectNear(stepAdvantages(trajectories, { rewards: "steps", baseline: 0 }), [
      [1.13555, 1.224745],
      [-1.297771, 0],
      [0.162221, -1.224745],
    ]);
  });

  it("gives every step its outcome alone, where votes are not to count", () => {
    // Outcomes 1, −1, −1: mean −1/3, deviation √(8/9) = 0.942809 → 1.414214 and −0.707107.
    const trajectories = [trajectory("a", 1, [-1], [-1]), trajectory("a", -1, [1], [1]), trajectory("a", -1, [1], [1])];
    expectNear(stepAdvantages(trajectories, { rewards: "outcome", baseline: 0 }), [
      [1.414214, 1.414214],
      [-0.707107, -0.707107],
      [-0.707107, -0.707107],
    ]);
  });

  it("compares a step that nothing stands beside with what the agent is used to", () => {
    // b = −0.5: 1 + 1 + 0.5 stands alone in its task, −1 − (−0.5) is a usual fault, and one of −1 where everything is −1 tells nothing.
    expectNear(stepAdvantages([trajectory("a", 1, [1]), trajectory("b", -1, [])], { rewards: "steps", baseline: -0.5 }), [[2.5], [-0.5]]);
    expectNear(stepAdvantages([trajectory("a", -1, [1], [])], { rewards: "outcome", baseline: -1 }), [[0, 0]]);
    // Within a task the mean is the baseline.
    const two = [trajectory("a", 1, []), trajectory("a", -1, [])];
    expect(stepAdvantages(two, { rewards: "outcome", baseline: 0.7 })).toEqual(stepAdvantages(two, { rewards: "outcome", baseline: 0 }));
  });

  it("keeps the raw reward there, where the agent is used to nothing yet", () => {
    // The first has a step more than the second; of its own task the third has one.
    const trajectories = [trajectory("a", 1, [1], [-1]), trajectory("a", -1, [-1]), trajectory("b", -1, [0])];
    expectNear(stepAdvantages(trajectories, { rewards: "steps", baseline: 0 }), [[1, 0], [-1], [-1]]);
  });

  it("leaves out what tells nothing, but keeps the first where nothing tells anything", () => {
    const same = [trajectory("a", 1, [1], [1]), trajectory("a", 1, [1], [0])];
    // Step 0 is 2 twice; step 1 is 2 and 1: mean 1.5, deviation 0.5.
    expectNear(stepAdvantages(same, { rewards: "steps", baseline: 0 }), [
      [undefined, 1],
      [undefined, -1],
    ]);
    // All the same everywhere: the first stays, and its advantage is 0.
    const constant = [trajectory("a", 1, [1], [1]), trajectory("a", 1, [1], [1])];
    expectNear(stepAdvantages(constant, { rewards: "steps", baseline: 0 }), [
      [0, undefined],
      [0, undefined],
    ]);
    expect(stepAdvantages([], { rewards: "steps", baseline: 0 })).toEqual([]);
  });
});
