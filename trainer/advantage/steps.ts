/**
 * Rewards of trajectories with many steps (arXiv:2603.10165 §4, general agents): r_t = o + mean of the step's process votes,
 * standardised over what stands at the same step of the same task. A step that nothing stands beside is compared with what the
 * agent is used to, r − b: raw, as published, rewards of −1 alone push the policy ever further from all that it says, to nowhere.
 * One at which all are the same tells nothing and is left out, unless nothing else is left: then the first such stays, at 0.
 */

export type Trajectory = {
  /** Trajectories of one task are compared. */
  readonly task: string;
  /** o, of the whole. */
  readonly outcome: number;
  readonly steps: readonly { /** −1, 0 or +1 each; those that could not be read are absent */ readonly votes: readonly number[] }[];
};

/** `outcome`: o at every step; `steps`: o + mean of the step's votes, o where it has none. */
export type StepRewards = "outcome" | "steps";

const TINY = 1e-6;
const CONSTANT = 1e-12; // variance

/** A of each step of each trajectory; undefined where the step is left out. @param options.baseline b, running mean of the agent's outcomes (baseline.ts) */
export function stepAdvantages(
  trajectories: readonly Trajectory[],
  { rewards, baseline }: { rewards: StepRewards; baseline: number },
): (number | undefined)[][] {
  const raw = trajectories.map(({ outcome, steps }) => steps.map(({ votes }) => outcome + (rewards === "steps" ? mean(votes) : 0)));
  const buckets = new Map<string, number[]>();
  const keyOf = (trajectory: number, step: number): string => JSON.stringify([trajectories[trajectory]?.task, step]);
  raw.forEach((own, trajectory) =>
    own.forEach((reward, step) => {
      const key = keyOf(trajectory, step);
      buckets.set(key, [...(buckets.get(key) ?? []), reward]);
    }),
  );
  const constant = new Set([...buckets].filter(([, values]) => values.length > 1 && variance(values) <= CONSTANT).map(([key]) => key));
  const [first] = buckets.keys();
  if (constant.size === buckets.size && first !== undefined) constant.delete(first);
  return raw.map((own, trajectory) =>
    own.map((reward, step) => {
      const key = keyOf(trajectory, step);
      const values = buckets.get(key) ?? [];
      if (constant.has(key)) return undefined;
      return values.length === 1 ? reward - baseline : (reward - mean(values)) / (Math.sqrt(variance(values)) + TINY);
    }),
  );
}

/** 0 of nothing. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Of the population. */
function variance(values: readonly number[]): number {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}
