/**
 * Running baseline of an agent's rewards: an exponential mean over the last judged outcomes in log order, up to
 * the line's cursor, so that any trainer that goes on from there has the same baseline. Binary RL: A_t = r − b. (design §5)
 */
const HORIZON = 16; // judgements; low traffic is the normal case
const WINDOW = 4 * HORIZON; // what came before weighs less than 2 %

/** b after `rewards`, in order; 0 before the first. b ← b + (r − b) / min(n, HORIZON) */
export function runningBaseline(rewards: readonly number[]): number {
  return rewards.slice(-WINDOW).reduce((baseline, reward, index) => baseline + (reward - baseline) / Math.min(index + 1, HORIZON), 0);
}
