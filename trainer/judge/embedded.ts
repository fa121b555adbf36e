/**
 * The embedded judge: m votes (`votes.ts`) and m hint candidates of the base under the judge and hint prompts, which are
 * the ones it was trained on (shared/jobs.ts). The base judges, not the policy: what is learnt cannot soften its judge.
 */
import { parseHint, hintPrompt } from "../../shared/jobs.ts";
import { wordsBy } from "../../shared/speech/mention.ts";
import { sentencesOf } from "../../shared/speech/sentences.ts";
import { isSmallTalk } from "../../shared/speech/small-talk.ts";
import type { Signal } from "../data/exchange.ts";
import { findAskWish, findToolDenial, findToolOutright, findToolWish, findWording } from "./aspects.ts";
import { rejections } from "./denial.ts";
import type { HintFinder } from "./feedback.ts";
import { findFit, type Fit } from "./fit.ts";
import { withFurther } from "./further.ts";
import { standingHint } from "./hints.ts";
import type { JobSampler } from "./job-sampler.ts";
import { type Judge, JUDGE_TEMPERATURE, type Verdict } from "./judge.ts";
import { countVotes, type Reward } from "./vote.ts";
import { castVotes } from "./votes.ts";
import { chooseHint, createHintNamer, HINT_TOKENS, isNamed, isOther } from "./written-hint.ts";

// Probabilities at which a wish is believed: of a rejection, and of words that the votes take for none, as most words of people are.
const REJECTED_WISH = 0.5;
const UNTOLD_WISH = 0.95;
// Chances from which what fits a user's words is a correction: of an answer that the votes take for neither, and approve.
const LEAST_CHANCE = { neither: 0.1, approved: 0.8 } as const;
// Of a named argument's other option, which is no new request where the words begin none: "Could I get a window seat?"
const LEAST_OF_OPTION = 0.001;
const BEGINS_ANOTHER = /\b(?:also|now|next|then|another|later|tomorrow|second|new)\b/i;

export function createEmbeddedJudge(sampler: JobSampler): Judge {
  return new EmbeddedJudge(sampler);
}

class EmbeddedJudge implements Judge {
  readonly #sampler: JobSampler;

  constructor(sampler: JobSampler) {
    this.#sampler = sampler;
  }

  async judge(signal: Signal, { votes, seed }: { votes: number; seed: number }): Promise<Verdict | undefined> {
    if (signal.exchange.nextState.length === 0) return undefined;
    const cast = await castVotes(this.#sampler, signal.exchange, { votes, seed });
    const thankful = countVotes(cast) > 0 ? withoutThanks(signal) : undefined;
    return (thankful && (await this.#hearThankful(thankful, { votes, seed }))) ?? this.#hear(signal, cast, { votes, seed });
  }

  /** A correction with thanks around it, "No, I always fly Business. Thank you!", which the votes take for an approval; undefined where the rest is none. */
  async #hearThankful(rest: Signal, asked: { votes: number; seed: number }): Promise<Verdict | undefined> {
    const rewards = await castVotes(this.#sampler, rest.exchange, asked);
    if (countVotes(rewards) >= 0) return undefined;
    const heard = await this.#hear(rest, rewards, asked);
    return heard.hint === undefined ? undefined : heard;
  }

  async #hear(signal: Signal, rewards: readonly Reward[], { votes, seed }: { votes: number; seed: number }): Promise<Verdict> {
    const reward = countVotes(rewards);
    if (rewards.length === 0)
      return verdict({
        reward: 0,
        rewards,
        detail: "no vote could be read",
        refused: { code: "judge/unparsable", detail: `${votes} votes, none readable` },
      });
    if (reward >= 0) return (await this.#findUntold(signal, { reward, rewards, seed })) ?? verdict({ reward, rewards, detail: "by votes" });
    const found = await hearAspects(signal, {
      rejected: true,
      sampler: this.#sampler,
      seed,
      findArgument: () => this.#findHint(signal, { votes, seed }),
    });
    return { ...verdict({ reward, rewards, detail: "by votes" }), ...withFurther(found, signal) };
  }

  /**
   * A rejection that the votes did not see: "Could we sit outside instead?" What fits the words sounds like a correction; or the hint job, which says `none` to
   * nearly everything that is none, says what should have been different, and the user names that parameter; or they will never have what the call had:
   * "Anything but Standard as type!" Of what the votes take for an approval a correction is believed from a higher chance on, unless it is an option alone, and a
   * wish: "Thanks, but keep it short."
   */
  async #findUntold(
    signal: Signal,
    { reward, rewards, seed }: { reward: Reward; rewards: readonly Reward[]; seed: number },
  ): Promise<Verdict | undefined> {
    const findArgument = async (): Promise<Partial<Verdict>> => {
      const fit = await findFit(signal, this.#sampler);
      const least =
        reward > 0 && fit?.saysNoMore !== true
          ? LEAST_CHANCE.approved
          : isOtherOption(fit, signal)
            ? LEAST_OF_OPTION
            : LEAST_CHANCE.neither;
      if (fit !== undefined && (fit.chance ?? 0) >= least) return standingHint(fit.found, signal);
      return reward > 0 ? {} : this.#findNamed(signal, { seed, fit });
    };
    const { hint, further } =
      reward > 0
        ? await this.#hearApproved(signal, { findArgument, seed })
        : withFurther(await hearAspects(signal, { rejected: false, sampler: this.#sampler, seed, findArgument }), signal);
    if (hint === undefined) return undefined;
    return { ...verdict({ reward: -1, rewards, detail: "by what should have been different" }), hint, ...(further && { further }) };
  }

  /** Who approves may still wish for something: an argument's value outright, or to be asked. */
  async #hearApproved(
    signal: Signal,
    { findArgument, seed }: { findArgument: () => Promise<Partial<Verdict>>; seed: number },
  ): Promise<Pick<Verdict, "hint" | "further">> {
    const argument = await findArgument();
    if (argument.hint !== undefined) return withFurther(argument, signal);
    return hearWish(signal, { sampler: this.#sampler, seed, least: UNTOLD_WISH });
  }

  async #findNamed(signal: Signal, { seed, fit }: { seed: number; fit: Fit | undefined }): Promise<Partial<Verdict>> {
    const texts = await this.#sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    const isWritten = texts.some((text) => parseHint(text).kind === "hint");
    if (!isWritten && rejections(signal).length === 0) return {};
    const found = chooseHint(texts, { signal, fit });
    const counts = found.status === "grounded" && ((isWritten && isNamed(found, signal)) || isOther(found, signal));
    return counts ? standingHint(found, signal) : {};
  }

  /** One greedy candidate and `votes − 1` drawn ones; the most frequent grounded one wins, the greedy one on a tie. */
  async #findHint(signal: Signal, { votes, seed }: { votes: number; seed: number }): Promise<Partial<Verdict>> {
    const prompt = hintPrompt(signal.exchange);
    const greedy = await this.#sampler.answer([prompt], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    const drawn = await this.#sampler.answer(
      Array.from({ length: votes - 1 }, () => prompt),
      { maxTokens: HINT_TOKENS, temperature: JUDGE_TEMPERATURE, seed: seed + 1 },
    );
    return standingHint(chooseHint([...greedy, ...drawn], { signal, fit: await findFit(signal, this.#sampler) }), signal);
  }
}

/** The signal without sentences that only thank, greet or part; undefined where there are none, or nothing else. */
function withoutThanks(signal: Signal): Signal | undefined {
  const { exchange } = signal;
  const nextState = exchange.nextState.map((message) => {
    if (message.role !== "user") return message;
    const said = sentencesOf(message.content);
    const kept = said.filter((sentence) => !isSmallTalk(sentence, { asked: false }));
    return kept.length === 0 || kept.length === said.length ? message : { ...message, content: kept.join(" ") };
  });
  return nextState.some((message, at) => message !== exchange.nextState[at])
    ? { ...signal, exchange: { ...exchange, nextState } }
    : undefined;
}

/** Reads a correction in words with the hint job. */
export function createEmbeddedHints(sampler: JobSampler): HintFinder {
  const name = createHintNamer(sampler);
  return async (signal, { seed }) => {
    const findArgument = async (): Promise<Partial<Verdict>> => standingHint(await name(signal, { seed }), signal);
    return withFurther(await hearAspects(signal, { sampler, seed, rejected: true, findArgument }), signal);
  };
}

/** Another tool that is named says it all, and how the reply should have been worded; then what an argument should have been, that the one that was called was wrong, that somebody wants to be asked. */
async function hearAspects(
  signal: Signal,
  {
    sampler,
    seed,
    rejected,
    findArgument,
  }: { sampler: JobSampler; seed: number; rejected: boolean; findArgument: () => Promise<Partial<Verdict>> },
): Promise<Partial<Verdict>> {
  const tool = await findToolWish(signal, { sampler, seed, rejected });
  const said = tool ?? findWording(signal);
  if (said !== undefined) return standingHint(said, signal);
  const argument = await findArgument();
  if (argument.hint !== undefined) return argument;
  const denied = rejected ? (findToolOutright(signal) ?? (await findToolDenial(signal, { sampler, seed }))) : undefined;
  if (denied !== undefined) return standingHint(denied, signal);
  const wish = await hearWish(signal, { sampler, seed, least: rejected ? REJECTED_WISH : UNTOLD_WISH });
  return wish.hint === undefined ? argument : wish;
}

async function hearWish(signal: Signal, asking: Parameters<typeof findAskWish>[1]): Promise<Partial<Verdict>> {
  const found = findWording(signal) ?? (await findAskWish(signal, asking));
  return found === undefined ? {} : standingHint(found, signal);
}

function isOtherOption(fit: Fit | undefined, signal: Signal): boolean {
  const isNamed = fit?.told === "whole" || fit?.told === "named";
  return isNamed && fit.isOption && !BEGINS_ANOTHER.test(wordsBy(signal.exchange.nextState, "user"));
}

function verdict({
  reward,
  rewards,
  detail,
  refused,
}: {
  reward: Reward;
  rewards: readonly Reward[];
  detail: string;
  refused?: Verdict["refused"];
}): Verdict {
  return { judge: "embedded", reward, votes: rewards, detail, ...(refused === undefined ? {} : { refused }) };
}
