/**
 * How far the policy that learns is from the one that answered. The edge records ln μ of what it sampled; where a turn is learned
 * from by a later version, its tokens weigh min(π_parent / μ, 2): what the parent would hardly say any more is learned from less
 * (truncated importance sampling, Ionides 2008; the proximal policy apart from the behaviour policy, arXiv:2110.00641). The
 * clip of the objective is then about the update's own steps alone.
 */
import { zipStrict } from "../../shared/assert.ts";
import type { TurnFinished } from "../../shared/events.ts";

const MOST = 2;

/** Weight of each token. `parentLogProbs` is of the distribution that `rolloutLogProbs` is of: same temperature, same masks. */
export function importanceWeights(parentLogProbs: ArrayLike<number>, rolloutLogProbs: readonly number[]): number[] {
  return zipStrict(Array.from(parentLogProbs), rolloutLogProbs).map(([parent, rollout]) => Math.min(MOST, Math.exp(parent - rollout)));
}

/**
 * How many versions lie between the one that a turn was served under and the one that is learned from; all of the line's where that was another line's.
 * Beside a version older ones answer for what it has not learned of, and go on to: what those sample is as fresh as the version that they stand beside, and
 * how far the parent is from them the weights tell.
 */
export function stalenessOf(
  { line, payload: { policyLine = line, policyVersion } }: { line: string; payload: Pick<TurnFinished, "policyLine" | "policyVersion"> },
  parent: number,
): number {
  return policyLine === line ? Math.abs(parent - policyVersion) : parent;
}
