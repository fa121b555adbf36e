/** The learning rate over a run. */
import { describe, expect, it } from "vitest";
import { scheduleFactor } from "../../../trainer/optim/schedule.ts";

describe("scheduleFactor", () => {
  const schedule = { totalSteps: 10, warmupSteps: 2, decaySteps: 4 };

  it("rises to one, stays, and falls towards the floor", () => {
    const factors = Array.from({ length: 10 }, (_, step) => scheduleFactor(step, schedule));
    expect(factors).toEqual([0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25]);
  });

  it("falls no lower than the floor", () => {
    expect(scheduleFactor(9, { ...schedule, floor: 0.2 })).toBeCloseTo(0.4, 12);
  });
});
