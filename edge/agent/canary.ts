/**
 * Whether a canary is promoted, rolled back, or watched on. Pure.
 *
 * The test looks after every judgement, so it is one that may be looked at always: the mixture sequential probability ratio test
 * (Robbins 1970; Johari, Pekelis, Walsh, "Always valid inference", arXiv:1512.04922, eq. 4), here as a confidence sequence for
 * the difference of two means, with variances plugged in, hence the smallest sample before it says anything. Its unit is a
 * conversation, not a turn: turns of one conversation are not independent, and a long one must not outvote the others.
 */
import type { Arm, CanaryVerdict, Sample } from "../../shared/api.ts";
import type { CanarySettings } from "../../shared/release.ts";

/** Wrong rollbacks of a canary that is as good, over all looks: 0.05, most of it for the reward. */
const ALPHA = { score: 0.041, guard: 0.003 } as const;
const PROMOTE_ALPHA = 0.05;
/** Scale of the differences that matter; the test is at its sharpest there. */
const EXPECTED = { score: 0.08, failed: 0.05, invalid: 0.05, lengthShare: 0.25 } as const;
/** Answers may shrink or grow by this share before length alone rolls a version back. */
const LENGTH_TOLERANCE = 0.25;

type Difference = { mean: number; squaredError: number };

export function judgeCanary(
  { canary, stable }: { canary: Arm; stable: Arm },
  { minSessions, marginPoints }: Pick<CanarySettings, "minSessions" | "marginPoints">,
): CanaryVerdict {
  for (const guard of ["failed", "invalid"] as const) {
    const worse = differenceOfShares(canary[guard], stable[guard]);
    if (enough(canary[guard], stable[guard], minSessions) && worse.mean - radius(worse.squaredError, EXPECTED[guard], ALPHA.guard) > 0)
      return { decision: "rollBack", reason: `${guard}: ${points(canary[guard].mean)} of 100 turns, ${points(stable[guard].mean)} before` };
  }
  const length = lengthFault(canary.tokens, stable.tokens, minSessions);
  if (length !== undefined) return { decision: "rollBack", reason: length };
  const { score } = canary;
  const counted = `${score.count} judged conversations against ${stable.score.count}`;
  if (!enough(score, stable.score, minSessions))
    return { decision: "wait", reason: `${counted}, ${minSessions} of each expected before the test says anything` };
  const better = difference(score, stable.score);
  const means = `score ${points(score.mean)} against ${points(stable.score.mean)} of 100 over ${counted}`;
  if (better.mean + radius(better.squaredError, EXPECTED.score, ALPHA.score) < 0) return { decision: "rollBack", reason: means };
  const surely = better.mean - radius(better.squaredError, EXPECTED.score, PROMOTE_ALPHA);
  if (surely >= -marginPoints / 100) return { decision: "promote", reason: means };
  return { decision: "wait", reason: `${means}; at worst ${points(-surely)} points lower, ${marginPoints} allowed` };
}

/** Share of the conversations a canary gets: little traffic is split evenly, or nothing would ever be decided. */
export function canaryShare({ share }: Pick<CanarySettings, "share">, turnsPerDay: number): number {
  return turnsPerDay < LITTLE_TRAFFIC ? EVEN : share;
}

const LITTLE_TRAFFIC = 100; // turns a day
const EVEN = 0.5;

/**
 * Radius of the one-sided confidence sequence at level `alpha` for a difference whose squared standard error is `squaredError`:
 * √(2 s² (s² + τ²)/τ² · ln(√((s² + τ²)/s²) / 2α)).
 */
function radius(squaredError: number, tau: number, alpha: number): number {
  const spread = squaredError + tau * tau;
  return Math.sqrt(((2 * squaredError * spread) / (tau * tau)) * Math.log(Math.sqrt(spread / squaredError) / (2 * alpha)));
}

/**
 * No arm is thought to vary less than both together: s²_p = ((n₁ − 1) s₁² + (n₂ − 1) s₂²) / (n₁ + n₂ − 2), Student's pooled
 * variance, which estimates either's where the versions are alike. Where nearly all conversations score the same, a small arm
 * seldom holds one that does not; its own variance is then 0, and the few of the large arm would prove it worse. An arm that
 * varies more keeps its own, since the pooled one is mostly the larger arm's.
 */
function difference(a: Sample, b: Sample): Difference {
  const pooled = ((a.count - 1) * a.variance + (b.count - 1) * b.variance) / (a.count + b.count - 2);
  const squaredErrorOf = ({ count, variance }: Sample): number => Math.max(variance, pooled, TINY) / count;
  return { mean: a.mean - b.mean, squaredError: squaredErrorOf(a) + squaredErrorOf(b) };
}

const TINY = 1e-6; // all values alike: the radius of no error at all is not a number

function differenceOfShares(a: Sample, b: Sample): Difference {
  return { mean: a.mean - b.mean, squaredError: squaredErrorOfShare(a) + squaredErrorOfShare(b) };
}

/** A share that was 0 or 1 throughout has no variance to plug in: one more of each kind is thought to it. */
function squaredErrorOfShare({ count, mean }: Sample): number {
  const share = (mean * count + 1) / (count + 2);
  return (share * (1 - share)) / count;
}

function lengthFault(canary: Sample, stable: Sample, minSessions: number): string | undefined {
  if (!enough(canary, stable, minSessions) || stable.mean === 0) return undefined;
  const { mean, squaredError } = difference(canary, stable);
  const share = mean / stable.mean;
  const surely = Math.abs(share) - radius(squaredError / stable.mean ** 2, EXPECTED.lengthShare, ALPHA.guard / 2);
  if (surely <= LENGTH_TOLERANCE) return undefined;
  return `length: ${canary.mean.toFixed(1)} tokens an answer, ${stable.mean.toFixed(1)} before`;
}

function enough(a: Sample, b: Sample, least: number): boolean {
  return a.count >= least && b.count >= least;
}

function points(share: number): string {
  return (share * 100).toFixed(1);
}
