/**
 * The embedded judge: m votes (`votes.ts`) and m hint candidates of the base under the judge and hint prompts, which are
 * the ones it was trained on (shared/jobs.ts). The base judges, not the policy: what is learnt cannot soften its judge.
 */
import { hintPrompt, parseHint, type JobPrompt } from "../../shared/jobs.ts";
import type { Call } from "../../shared/speech/calls.ts";
import { mentions, namesTopic, wordsBy } from "../../shared/speech/mention.ts";
import { isSmallTalk } from "../../shared/speech/small-talk.ts";
import type { Signal } from "../data/exchange.ts";
import { sentencesOf } from "../../shared/speech/sentences.ts";
import { isAspect } from "../../shared/aspects.ts";
import { type CallAsked, findAskWish, findToolDenial, findToolOutright, findToolWish, findWording } from "./aspects.ts";
import { rejections } from "./denial.ts";
import type { HintFinder } from "./feedback.ts";
import { findFit, type Fit } from "./fit.ts";
import { withFurther } from "./further.ts";
import { type Grounded, heldText, lastCall, type Stands, parameterOfHint } from "../../shared/correction/ground.ts";
import { mostFrequentHint, standingHint } from "./hints.ts";
import { type Judge, JUDGE_TEMPERATURE, type Verdict } from "./judge.ts";
import type { ReactionModel } from "./reaction-model.ts";
import { countVotes, type Reward } from "./vote.ts";
import { castVotes } from "./votes.ts";

/** Answers prompts with the base. One text per prompt; `temperature` 0 is greedy. */
export interface JobSampler {
  answer(prompts: readonly JobPrompt[], options: { maxTokens: number; temperature: number; seed: number }): Promise<string[]>;
  /** ln p of each answer in full after the prompt, nats. */
  score(prompt: JobPrompt, answers: readonly string[]): Promise<number[]>;
  /** The call that the base makes there if it has to make one; undefined where it does not come to its end. */
  call(asked: CallAsked, options: { seed: number }): Promise<Call | undefined>;
  /** Whether the base was taught the wish job. */
  readonly knowsWishes: boolean;
  /** What the user's words say by themselves, where that was trained. */
  readonly reactions?: ReactionModel | undefined;
  /** Whether words around a value correct a call, where that was trained. */
  readonly corrections?: ReactionModel | undefined;
}

// Probabilities at which a wish is believed: of a rejection, and of words that the votes take for none, as most words of people are.
const REJECTED_WISH = 0.5;
const UNTOLD_WISH = 0.95;
// Chances from which what fits a user's words is a correction: over what the hint job wrote, of an answer that the votes reject, take for neither, and approve.
const LEAST_CHANCE = { over: 0.5, rejected: 0.02, neither: 0.1, approved: 0.8 } as const;
// Of a named argument's other option, which is no new request where the words begin none: "Could I get a window seat?"
const LEAST_OF_OPTION = 0.001;
const BEGINS_ANOTHER = /\b(?:also|now|next|then|another|later|tomorrow|second|new)\b/i;
const HINT_TOKENS = 48; // one sentence that names a parameter and a value

export function createEmbeddedJudge(sampler: JobSampler): Judge {
  return {
    async judge(signal, { votes, seed }) {
      if (signal.exchange.nextState.length === 0) return undefined;
      const cast = await castVotes(sampler, signal.exchange, { votes, seed });
      const thankful = countVotes(cast) > 0 ? withoutThanks(signal) : undefined;
      return (thankful && (await hearThankful(thankful, { votes, seed }))) ?? hear(signal, cast, { votes, seed });
    },
  };

  /** A correction with thanks around it, "No, I always fly Business. Thank you!", which the votes take for an approval; undefined where the rest is none. */
  async function hearThankful(rest: Signal, asked: { votes: number; seed: number }): Promise<Verdict | undefined> {
    const rewards = await castVotes(sampler, rest.exchange, asked);
    if (countVotes(rewards) >= 0) return undefined;
    const heard = await hear(rest, rewards, asked);
    return heard.hint === undefined ? undefined : heard;
  }

  async function hear(signal: Signal, rewards: readonly Reward[], { votes, seed }: { votes: number; seed: number }): Promise<Verdict> {
    const reward = countVotes(rewards);
    if (rewards.length === 0)
      return verdict({
        reward: 0,
        rewards,
        detail: "no vote could be read",
        refused: { code: "judge/unparsable", detail: `${votes} votes, none readable` },
      });
    if (reward >= 0) return (await findUntold(signal, { reward, rewards, seed })) ?? verdict({ reward, rewards, detail: "by votes" });
    const found = await hearAspects(signal, {
      rejected: true,
      sampler,
      seed,
      findArgument: () => findHint(signal, { votes, seed }),
    });
    return { ...verdict({ reward, rewards, detail: "by votes" }), ...withFurther(found, signal) };
  }

  /**
   * A rejection that the votes did not see: "Could we sit outside instead?" What fits the words sounds like a correction; or the hint job, which says `none` to
   * nearly everything that is none, says what should have been different, and the user names that parameter; or they will never have what the call had:
   * "Anything but Standard as type!" Of what the votes take for an approval a correction is believed from a higher chance on, unless it is an option alone, and a
   * wish: "Thanks, but keep it short."
   */
  async function findUntold(
    signal: Signal,
    { reward, rewards, seed }: { reward: Reward; rewards: readonly Reward[]; seed: number },
  ): Promise<Verdict | undefined> {
    const findArgument = async (): Promise<Partial<Verdict>> => {
      const fit = await findFit(signal, sampler);
      const least =
        reward > 0 && fit?.saysNoMore !== true
          ? LEAST_CHANCE.approved
          : isOtherOption(fit, signal)
            ? LEAST_OF_OPTION
            : LEAST_CHANCE.neither;
      if (fit !== undefined && (fit.chance ?? 0) >= least) return standingHint(fit.found, signal);
      return reward > 0 ? {} : findNamed(signal, { seed, fit });
    };
    const { hint, further } =
      reward > 0
        ? await hearApproved(signal, { findArgument, seed })
        : withFurther(await hearAspects(signal, { rejected: false, sampler, seed, findArgument }), signal);
    if (hint === undefined) return undefined;
    return { ...verdict({ reward: -1, rewards, detail: "by what should have been different" }), hint, ...(further && { further }) };
  }

  /** Who approves may still wish for something: an argument's value outright, or to be asked. */
  async function hearApproved(
    signal: Signal,
    { findArgument, seed }: { findArgument: () => Promise<Partial<Verdict>>; seed: number },
  ): Promise<Pick<Verdict, "hint" | "further">> {
    const argument = await findArgument();
    if (argument.hint !== undefined) return withFurther(argument, signal);
    return hearWish(signal, { sampler, seed, least: UNTOLD_WISH });
  }

  async function findNamed(signal: Signal, { seed, fit }: { seed: number; fit: Fit | undefined }): Promise<Partial<Verdict>> {
    const texts = await sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    const isWritten = texts.some((text) => parseHint(text).kind === "hint");
    if (!isWritten && rejections(signal).length === 0) return {};
    const found = chooseHint(texts, { signal, fit });
    const counts = found.status === "grounded" && ((isWritten && isNamed(found, signal)) || isOther(found, signal));
    return counts ? standingHint(found, signal) : {};
  }

  /** One greedy candidate and `votes − 1` drawn ones; the most frequent grounded one wins, the greedy one on a tie. */
  async function findHint(signal: Signal, { votes, seed }: { votes: number; seed: number }): Promise<Partial<Verdict>> {
    const prompt = hintPrompt(signal.exchange);
    const greedy = await sampler.answer([prompt], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    const drawn = await sampler.answer(
      Array.from({ length: votes - 1 }, () => prompt),
      { maxTokens: HINT_TOKENS, temperature: JUDGE_TEMPERATURE, seed: seed + 1 },
    );
    return standingHint(chooseHint([...greedy, ...drawn], { signal, fit: await findFit(signal, sampler) }), signal);
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

/** What a correction in words says, whatever its user had said before: its tool, slot and value, or why that cannot be told. */
export function createHintNamer(sampler: JobSampler): (signal: Heard, options: { seed: number }) => Promise<Grounded> {
  return async (signal, { seed }) => {
    const texts = await sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    return chooseHint(texts, { signal, fit: await findFit(signal, sampler) });
  };
}

type Heard = Pick<Signal, "exchange" | "turn">;

/** The hint of a rejected answer: what fits the words and sounds like a correction, else the most frequent grounded text. */
function chooseHint(texts: readonly string[], { signal, fit }: { signal: Heard; fit: Fit | undefined }): Grounded {
  const written = chooseWritten(texts, signal);
  // Who names the argument of what the hint job wrote means it.
  if (written.status === "grounded" && isNamed(written, signal)) return written;
  if (fit === undefined) return written;
  // Without a model of corrections a value alone tells too little.
  const chance = fit.chance ?? (fit.told === "alone" || fit.told === "absent" ? 0 : 1);
  const least = written.status === "grounded" ? LEAST_CHANCE.over : LEAST_CHANCE.rejected;
  return chance >= least ? fit.found : written;
}

function isOtherOption(fit: Fit | undefined, signal: Heard): boolean {
  const isNamed = fit?.told === "whole" || fit?.told === "named";
  return isNamed && fit.isOption && !BEGINS_ANOTHER.test(wordsBy(signal.exchange.nextState, "user"));
}

/** Whether the user names the parameter of a hint. */
function isNamed(found: Stands, signal: Heard): boolean {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  return parameter !== undefined && namesTopic(wordsBy(signal.exchange.nextState, "user"), parameter);
}

/** Whether its value is one that the schema lists and the user does not, who is against the one that the call had. */
function isOther(found: Stands, signal: Heard): boolean {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  if (parameter === undefined || parameter.allowed.length === 0) return false;
  const used = heldText(lastCall(signal.exchange, found.toolName), parameter.name) ?? parameter.fallback;
  if (used === undefined || mentions(wordsBy(signal.exchange.nextState, "user"), { parameter, value: found.hint.value })) return false;
  return rejections(signal).some((clause) => mentions(clause, { parameter, value: used }));
}

function chooseWritten(texts: readonly string[], signal: Heard): Grounded {
  const hints = texts.map(parseHint).flatMap((parsed) => (parsed.kind === "hint" && !isAspect(parsed.hint.parameter) ? [parsed.hint] : []));
  if (hints.length > 0) return mostFrequentHint(hints, signal);
  return { status: "refused", code: "hint/none", detail: `no hint in ${JSON.stringify(texts)}` };
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
