/**
 * Votes on an answer, drawn from what the base makes of the exchange and, where there is a reaction model, from what the user's words say by themselves:
 * a product of experts. Words that name something are the base's, which knows what was answered.
 */
import { judgePrompt, parseReward, rewardText, type Exchange } from "../../shared/jobs.ts";
import { wordsBy } from "../../shared/speech/mention.ts";
import { Random, seedAt } from "../random.ts";
import type { JobSampler } from "./job-sampler.ts";
import { JUDGE_TEMPERATURE } from "./judge.ts";
import { logSoftmax } from "./reaction-model.ts";
import { REWARDS, type Reward } from "./vote.ts";

const JUDGE_TOKENS = 4;
// Chosen on tuning dialogues, by verdicts on their reactions and on sayings that training does not have.
const WORDS_WEIGHT = 2;
const NAMING_WEIGHT = 0.3;
const COUNTS_OR_DATES =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today)\b/i;
// Not where a sentence begins, be it behind a bracket, a dash, a quote or an emoji. Looked for at capitals alone: a long run of signs is gone through once.
const CAPITAL = /(?<![\p{L}\p{N}])(?=\p{Lu}[\p{L}\p{N}])(?!(?:I|NO|NOT|OK|LOL)\b)(?<!(?:^|[.!?\n])[^\p{L}\p{N}]*)/u;

/** Whether the words have a number, a day or a name; who writes in capitals throughout marks no names. */
export function namesSomething(words: string): boolean {
  return COUNTS_OR_DATES.test(words) || (words !== words.toUpperCase() && CAPITAL.test(words));
}

/** Those of the votes that can be read. */
export async function castVotes(
  sampler: JobSampler,
  exchange: Exchange,
  { votes, seed }: { votes: number; seed: number },
): Promise<Reward[]> {
  const logProbs = sampler.reactions === undefined ? undefined : await rewardLogProbs(sampler, exchange);
  if (logProbs !== undefined) return drawVotes(voteChances(logProbs), { votes, seed });
  const prompts = Array.from({ length: votes }, () => judgePrompt(exchange));
  const answers = await sampler.answer(prompts, { maxTokens: JUDGE_TOKENS, temperature: JUDGE_TEMPERATURE, seed });
  return answers.map(parseReward).filter((vote) => vote !== undefined);
}

/** ln p of each reward, in the order of `REWARDS`, nats; undefined where the exchange leaves the base no room. */
export async function rewardLogProbs(sampler: JobSampler, exchange: Exchange): Promise<number[] | undefined> {
  const scores = await sampler.score(judgePrompt(exchange), REWARDS.map(rewardText));
  if (!scores.every(Number.isFinite)) return undefined;
  const words = wordsBy(exchange.nextState, "user");
  if (sampler.reactions === undefined || words.trim() === "") return logSoftmax(scores);
  const said = sampler.reactions.logProbs(words);
  const weight = namesSomething(words) ? NAMING_WEIGHT : WORDS_WEIGHT;
  return logSoftmax(scores.map((score, index) => score + weight * (said[index] ?? 0)));
}

/** The chance of each reward in a vote, of their ln p. */
export function voteChances(logProbs: readonly number[]): number[] {
  return logSoftmax(logProbs.map((logProb) => logProb / JUDGE_TEMPERATURE)).map(Math.exp);
}

/** @param chances in the order of `REWARDS` */
export function drawVotes(chances: readonly number[], { votes, seed }: { votes: number; seed: number }): Reward[] {
  return Array.from({ length: votes }, (_, vote) => {
    let left = new Random(seedAt(seed, vote)).next();
    return REWARDS.find((_, index) => (left -= chances[index] ?? 0) < 0) ?? 1;
  });
}
