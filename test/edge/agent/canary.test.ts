/** The canary's test: what it decides on plain numbers, and how often it is wrong, by simulation with seeds. */
import type { Arm, CanaryVerdict, Sample } from "../../../shared/api.ts";
import { describe, expect, it } from "vitest";
import { canaryShare, judgeCanary } from "../../../edge/agent/canary.ts";
import { CanarySettings } from "../../../shared/release.ts";
import { Random } from "../../../trainer/random.ts";

const settings = CanarySettings.parse({});
const share = (count: number, mean: number): Sample => ({ count, mean, variance: (mean * (1 - mean) * count) / Math.max(1, count - 1) });
const length = (count: number, mean: number): Sample => ({ count, mean, variance: 100 });
const arm = (count: number, { score = 0.8, failed = 0, invalid = 0, tokens = 30 } = {}): Arm => ({
  score: share(count, score),
  failed: share(count, failed),
  invalid: share(count, invalid),
  tokens: length(count, tokens),
});
const decide = (canary: Arm, stable: Arm): CanaryVerdict["decision"] => judgeCanary({ canary, stable }, settings).decision;

describe("judgeCanary", () => {
  it("waits until there is a sample, however bad it looks", () => {
    expect(decide(arm(10, { score: 0 }), arm(10))).toBe("wait");
    expect(decide(arm(49, { score: 0 }), arm(500))).toBe("wait");
    expect(decide(arm(50, { score: 0 }), arm(50))).toBe("rollBack");
  });

  it("promotes one that is as good once it cannot be much worse", () => {
    expect(decide(arm(100), arm(100))).toBe("wait");
    expect(decide(arm(3_000), arm(3_000))).toBe("promote");
  });

  it("rolls back what fails, breaks its calls, or answers at another length, though its users do not mind", () => {
    expect(decide(arm(100, { failed: 0.2 }), arm(100))).toBe("rollBack");
    expect(decide(arm(100, { invalid: 0.2 }), arm(100))).toBe("rollBack");
    expect(decide(arm(100, { tokens: 5 }), arm(100))).toBe("rollBack");
    expect(decide(arm(100, { tokens: 60 }), arm(100))).toBe("rollBack");
    expect(decide(arm(100, { tokens: 33 }), arm(100))).toBe("wait");
  });

  it("follows the formula: by hand for 200 conversations of each, 0.7 against 0.8", () => {
    // s² = 0.21/199 + 0.16/199 = 0.0018593, τ² = 0.0064: r = √(2·0.0018593·0.0082593/0.0064·ln(√4.44215/0.082)) = 0.12482 > 0.1, so it stays.
    const { decision, reason } = judgeCanary({ canary: arm(200, { score: 0.7 }), stable: arm(200) }, { ...settings, marginPoints: 50 });
    expect([decision, reason]).toEqual(["promote", "score 70.0 against 80.0 of 100 over 200 judged conversations against 200"]);
    // The other side at α = 0.05: r = √(0.0047989·ln(√4.44215/0.1)) = 0.12095, so at worst 22.1 points lower.
    expect(judgeCanary({ canary: arm(200, { score: 0.7 }), stable: arm(200) }, settings).reason).toMatch(
      /at worst 22\.1 points lower, 5 allowed/,
    );
  });
});

it("splits little traffic evenly", () => {
  expect([canaryShare(settings, 99), canaryShare(settings, 100)]).toEqual([0.5, 0.1]);
});

type Outcome = { decision: CanaryVerdict["decision"]; turns: number };

/** Up to 2,000 judged conversations of one turn, drawn to either version by lot; `good` is the chance of +1, else −1. */
function simulate(random: Random, { canary: worse, stable: before }: { canary: number; stable: number }): Outcome {
  const arms = { canary: { count: 0, sum: 0 }, stable: { count: 0, sum: 0 } };
  const settled = (mine: { count: number; sum: number }): Arm => arm(mine.count, { score: mine.count === 0 ? 0 : mine.sum / mine.count });
  for (let turns = 1; turns <= 2_000; turns += 1) {
    const side = random.next() < 0.5 ? "canary" : "stable";
    arms[side].count += 1;
    arms[side].sum += Number(random.next() < (side === "canary" ? worse : before));
    const { decision } = judgeCanary({ canary: settled(arms.canary), stable: settled(arms.stable) }, settings);
    if (decision !== "wait") return { decision, turns };
  }
  return { decision: "wait", turns: 2_000 };
}

const RUNS = 1_000;
const shareOf = (outcomes: readonly Outcome[], wanted: CanaryVerdict["decision"]): number =>
  outcomes.filter(({ decision }) => decision === wanted).length / outcomes.length;

describe("over 2,000 judged turns at a half share", () => {
  it.for([0.8, 0.6, 0.5])("rolls back one 10 points worse than %f in 95 % of the runs, and an equal one in 5 %", (stable) => {
    const random = new Random(7);
    const worse = Array.from({ length: RUNS }, () => simulate(random, { canary: stable - 0.1, stable }));
    const equal = Array.from({ length: RUNS }, () => simulate(random, { canary: stable, stable }));
    expect(shareOf(worse, "rollBack")).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(worse, "promote")).toBeLessThanOrEqual(0.05);
    expect(shareOf(equal, "rollBack")).toBeLessThanOrEqual(0.05);
  });
});
