/** Plurality of votes. Ties and votes that cannot be read are worth nothing: 0 (arXiv:2603.10165 §3). */

export const REWARDS = [-1, 0, 1] as const;
export type Reward = (typeof REWARDS)[number];

export function countVotes(votes: readonly Reward[]): Reward {
  const counts = new Map<Reward, number>();
  for (const vote of votes) counts.set(vote, (counts.get(vote) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const winners = [...counts].filter(([, count]) => count === most).map(([vote]) => vote);
  const [winner] = winners;
  return winners.length === 1 && winner !== undefined ? winner : 0;
}

/** Share of the votes that are not the most frequent one, 0 to 1. */
export function disagreementOf(votes: readonly Reward[]): number {
  const counts = REWARDS.map((reward) => votes.filter((vote) => vote === reward).length);
  return votes.length === 0 ? 0 : 1 - Math.max(...counts) / votes.length;
}
