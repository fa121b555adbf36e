/** The canary's test: what it decides on plain numbers, and how often it is wrong, by simulation with seeds. */
import type { Arm, CanaryVerdict, Sample } from "../../../shared/api.ts";
import { describe, expect, it } from "vitest";
import { canaryShare, judgeCanary } from "../../../edge/agent/canary.ts";
import { toSample } from "../../../edge/agent/trial-store.ts";
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
    // s²_p = 0.185·200/199 lies between 0.21·200/199 and 0.16·200/199, so s² = 0.21/199 + 0.185/199 = 0.0019849. With τ² = 0.0064:
    // r = √(2·0.0019849·0.0083849/0.0064·ln(√4.22433/0.082)) = 0.12944 > 0.1, so it stays.
    const { decision, reason } = judgeCanary({ canary: arm(200, { score: 0.7 }), stable: arm(200) }, { ...settings, marginPoints: 50 });
    expect([decision, reason]).toEqual(["promote", "score 70.0 against 80.0 of 100 over 200 judged conversations against 200"]);
    // The other side at α = 0.05: r = √(0.0052010·ln(√4.22433/0.1)) = 0.12539, so at worst 22.5 points lower.
    expect(judgeCanary({ canary: arm(200, { score: 0.7 }), stable: arm(200) }, settings).reason).toMatch(
      /at worst 22\.5 points lower, 5 allowed/,
    );
  });

  it("does not take 50 conversations that all scored alike for certain", () => {
    // Of 50 at 3 in 100, none is approved in 0.97⁵⁰ = 22 % of the trials.
    const unmoved = { ...arm(50), score: toSample({ count: 50, sum: 25, squares: 12.5 }) };
    const approved = { ...arm(450), score: toSample({ count: 450, sum: 436 / 2 + 14, squares: 436 / 4 + 14 }) };
    expect(unmoved.score.variance).toBe(0);
    expect(decide(unmoved, approved)).not.toBe("rollBack");
  });
});

it("splits little traffic evenly", () => {
  expect([canaryShare(settings, 99), canaryShare(settings, 100)]).toEqual([0.5, 0.1]);
});

type Outcome = { decision: CanaryVerdict["decision"]; turns: number };
/** Chances that a conversation is rewarded with +1 and with −1; else the reward is 0. */
type Chances = { readonly good: number; readonly bad: number };
type Trial = { readonly canary: Chances; readonly stable: Chances; readonly toCanary: number; readonly atMost: number };

/** Judged conversations of one turn, drawn to either version by lot until the test decides; samples are held as trials hold them. */
function simulate(random: Random, { toCanary, atMost, ...chances }: Trial): Outcome {
  const sums = { canary: { count: 0, sum: 0, squares: 0 }, stable: { count: 0, sum: 0, squares: 0 } };
  const clean = arm(atMost);
  for (let turns = 1; turns <= atMost; turns += 1) {
    const side = random.next() < toCanary ? "canary" : "stable";
    const score = (rewardOf(random.next(), chances[side]) + 1) / 2;
    sums[side].count += 1;
    sums[side].sum += score;
    sums[side].squares += score * score;
    // Below that it waits, as tested above; not to ask saves most of the looks at a share of 0.1.
    if (Math.min(sums.canary.count, sums.stable.count) < settings.minSessions) continue;
    const canary = { ...clean, score: toSample(sums.canary) };
    const stable = { ...clean, score: toSample(sums.stable) };
    const { decision } = judgeCanary({ canary, stable }, settings);
    if (decision !== "wait") return { decision, turns };
  }
  return { decision: "wait", turns: atMost };
}

function rewardOf(drawn: number, { good, bad }: Chances): number {
  if (drawn < good) return 1;
  return drawn < good + bad ? -1 : 0;
}

const simulations = ({ runs, ...trial }: Trial & { runs: number }): Outcome[] => {
  const random = new Random(7);
  return Array.from({ length: runs }, () => simulate(random, trial));
};
const shareOf = (outcomes: readonly Outcome[], wanted: CanaryVerdict["decision"]): number =>
  outcomes.filter(({ decision }) => decision === wanted).length / outcomes.length;

describe("where every conversation is rewarded with +1 or −1", () => {
  it.for([
    { good: 0.8, toCanary: 0.5, atMost: 2_000, runs: 1_000 },
    { good: 0.6, toCanary: 0.5, atMost: 2_000, runs: 1_000 },
    { good: 0.5, toCanary: 0.5, atMost: 2_000, runs: 1_000 },
    { good: 0.5, toCanary: 0.1, atMost: 6_000, runs: 200 },
  ])("takes back one 10 points worse than $good in 95 % of the runs, an equal one in 5 %, at share $toCanary", ({ good, ...trial }) => {
    const stable = { good, bad: 1 - good };
    const worse = simulations({ canary: { good: good - 0.1, bad: 1.1 - good }, stable, ...trial });
    const equal = simulations({ canary: stable, stable, ...trial });
    expect(shareOf(worse, "rollBack")).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(worse, "promote")).toBeLessThanOrEqual(0.05);
    expect(shareOf(equal, "rollBack")).toBeLessThanOrEqual(0.05);
  });
});

describe.for([0.1, 0.5])("where most conversations are rewarded with 0, at share %f", (toCanary) => {
  it.for([
    { good: 0.02, bad: 0 },
    { good: 0.03, bad: 0 },
    { good: 0.05, bad: 0 },
    { good: 0.1, bad: 0 },
    { good: 0.05, bad: 0.02 },
    { good: 0, bad: 0.05 },
  ])("takes back an equal one in at most 5 % of the runs, and one 10 points worse in 95 %: $good, $bad", (stable) => {
    const equal = simulations({ canary: stable, stable, toCanary, atMost: 6_000, runs: 1_000 });
    // From 0 to −1 is half of the scale: 20 of 100 conversations are 10 points.
    const worse = simulations({ canary: { ...stable, bad: stable.bad + 0.2 }, stable, toCanary, atMost: 2_000, runs: 200 });
    expect(shareOf(equal, "rollBack")).toBeLessThanOrEqual(0.05);
    expect(shareOf(worse, "rollBack")).toBeGreaterThanOrEqual(0.95);
  });
});
