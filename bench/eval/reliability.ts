/** How far a judge's votes can be relied on: of verdicts that were as certain, how many were right (reliability diagrams, Guo et al. 2017, arXiv:1706.04599). Pure. */
import { zipStrict } from "../../shared/assert.ts";
import { countVotes, disagreementOf, REWARDS, type Reward } from "../../trainer/judge/vote.ts";
import { type Share, share } from "./share.ts";

/** `chances`: of each reward in the order of `REWARDS`, as a vote is drawn from them; `meant`: what the data's acts tell. */
export type Heard = { readonly chances: readonly number[]; readonly votes: readonly Reward[]; readonly meant: Reward };
/** An exchange that leaves the judge no room. */
export type Unheard = { readonly chances?: undefined; readonly meant: Reward };

/** Verdicts whose certainty, the chance of the likeliest one, is above `from` and at most `to`; `certainty` is their mean. */
export type CertaintyBin = { readonly from: number; readonly to: number; readonly certainty: number; readonly right: Share };
export type Reliability = {
  /** Reactions by what they mean, in the order of `REWARDS`, those that were not heard among them. */
  readonly reactions: readonly { readonly meant: Reward; readonly count: number; readonly unheard: number }[];
  /** Those that hold a verdict. */
  readonly bins: readonly CertaintyBin[];
  /** Expected calibration error: mean distance of certainty and share right, by bin, each weighed by its verdicts. */
  readonly calibrationError: number;
  /** By how many of the votes are the most frequent one: how often what they come to is right. */
  readonly agreement: readonly { readonly agree: number; readonly votes: number; readonly right: Share }[];
};

const EDGES = [0, 0.5, 0.7, 0.9, 0.97, 0.99, 1];

export function reliabilityOf(judged: readonly (Heard | Unheard)[]): Reliability {
  const heard = judged.filter((each) => each.chances !== undefined);
  const verdicts = heard.map(({ chances, meant }) => {
    const certainty = Math.max(...chances);
    return { certainty, right: REWARDS[chances.indexOf(certainty)] === meant };
  });
  const bins = zipStrict(EDGES.slice(0, -1), EDGES.slice(1)).flatMap(([from, to]) => {
    const own = verdicts.filter(({ certainty }) => certainty > from && certainty <= to);
    if (own.length === 0) return [];
    const certainty = own.reduce((sum, each) => sum + each.certainty, 0) / own.length;
    return [{ from, to, certainty, right: share(own.map(({ right }) => right)) }];
  });
  const distances = bins.map(({ certainty, right }) => Math.abs(certainty - right.share) * right.count);
  const reactions = REWARDS.map((meant) => {
    const own = judged.filter((each) => each.meant === meant);
    return { meant, count: own.length, unheard: own.filter(({ chances }) => chances === undefined).length };
  });
  return {
    reactions,
    bins,
    calibrationError: distances.reduce((sum, each) => sum + each, 0) / Math.max(1, heard.length),
    agreement: agreementOf(heard),
  };
}

function agreementOf(heard: readonly Heard[]): Reliability["agreement"] {
  const polls = heard.map(({ votes, meant }) => ({
    votes: votes.length,
    agree: Math.round(votes.length * (1 - disagreementOf(votes))),
    right: countVotes(votes) === meant,
  }));
  const counts = [...new Set(polls.map(({ agree }) => agree))].sort((a, b) => b - a);
  return counts.map((agree) => {
    const own = polls.filter((poll) => poll.agree === agree);
    return { agree, votes: Math.max(...own.map(({ votes }) => votes)), right: share(own.map(({ right }) => right)) };
  });
}

/** `judge`: SHA-256 of the adapter that it was measured under, or none. */
type Measured = { readonly split: string; readonly command: string; readonly judge: string | undefined };

/** The tables of a model card. */
export function reliabilityText(
  { reactions, bins, calibrationError, agreement }: Reliability,
  { split, command, judge }: Measured,
): string {
  const kinds = reactions.map(
    ({ meant, count, unheard }) => `${count} that mean ${meant}${unheard === 0 ? "" : ` (${unheard} of them too long to be heard)`}`,
  );
  return [
    `\`${command}\` wrote this, of reactions on SGD ${split}: ${kinds.join(", ")}. Certainty is the chance with which a vote is the likeliest verdict;`,
    `on average it is ${calibrationError.toFixed(3)} away from the share that is right (expected calibration error, arXiv:1706.04599). The judge: ${judge === undefined ? "the base by itself" : `its adapter of SHA-256 ${judge}`}.`,
    "",
    "| certainty | on average | right | n | 95 % |",
    "|---|---|---|---|---|",
    ...bins.map(({ from, to, certainty, right }) => `| ${from} to ${to} | ${certainty.toFixed(3)} | ${cells(right)} |`),
    "",
    "| votes that agree | right | n | 95 % |",
    "|---|---|---|---|",
    ...agreement.map(({ agree, votes, right }) => `| ${agree} of ${votes} | ${cells(right)} |`),
  ].join("\n");
}

function cells({ share: right, count, interval: [low, high] }: Share): string {
  return `${right.toFixed(3)} | ${count} | ${low.toFixed(2)}–${high.toFixed(2)}`;
}
