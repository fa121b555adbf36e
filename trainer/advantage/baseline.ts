/**
 * Running baseline of an agent's rewards: an exponential mean over judgements in log order, so that any trainer that
 * reads the same log has the same baseline. Binary RL: A_t = r − b. (design §5)
 */
const HORIZON = 16; // judgements; low traffic is the normal case

/** b after `rewards`, in order; 0 before the first. b ← b + (r − b) / min(n, HORIZON) */
export function runningBaseline(rewards: readonly number[]): number {
  return rewards.reduce((baseline, reward, index) => baseline + (reward - baseline) / Math.min(index + 1, HORIZON), 0);
}
