/** The judge's part of `eval:base`: verdicts, what corrections in words are taken for, and wishes about being asked. */
import { LearningSettings } from "../../shared/agent.ts";
import { ASPECTS, isAspect } from "../../shared/aspects.ts";
import { at, zipStrict } from "../../shared/assert.ts";
import { type Exchange, type Hint, hintPrompt, hintText, parseWish, type Wish, wishPrompt } from "../../shared/jobs.ts";
import { sameText } from "../../shared/speech/calls.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { wordingSaid } from "../../trainer/judge/wording-said.ts";
import type { JobSampler } from "../../trainer/judge/job-sampler.ts";
import { createHintNamer } from "../../trainer/judge/written-hint.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { REWARDS, type Reward } from "../../trainer/judge/vote.ts";
import { drawVotes, rewardLogProbs, voteChances } from "../../trainer/judge/votes.ts";
import { rewardOfActs } from "../../trainer/pretrain/acts.ts";
import { type Conversation, toMessages } from "../../trainer/pretrain/conversation.ts";
import { type CorrectedExchange, correctedExchange, naturalExchanges } from "../../trainer/pretrain/exchanges.ts";
import type { Lexicon } from "../../trainer/pretrain/lexicon.ts";
import { fill } from "../../trainer/pretrain/phrases.ts";
import { spokenName } from "../../trainer/pretrain/values.ts";
import type { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import { CONFIRM_WORDS, WORDING_WORDS } from "../align/words.ts";
import { EVAL_CORRECTIONS, EVAL_REACTIONS } from "../phrases.ts";
import { signalIn, signalOf } from "../sim/logbook.ts";
import { SPOKEN } from "./spoken.ts";
import { SPOKEN_WORDING } from "./spoken-wording.ts";
import type { EvaluatedPolicy } from "./policy.ts";
import { type Heard, type Reliability, reliabilityOf, type Unheard } from "./reliability.ts";
import { type Share, share } from "./share.ts";

const { votes: VOTES } = LearningSettings.parse({}); // as agents ask for where their settings say nothing

type JudgeFigures = {
  readonly recall: Record<string, Share>;
  readonly confusion: Record<string, Record<string, number>>;
  readonly reliability: Reliability;
};

/** Of the data's own reactions, how many have the likeliest verdict that their acts tell, and how certain it was. */
export async function evaluateJudge(
  sampler: JobSampler,
  conversations: readonly Conversation[],
  { count, random }: { count: number; random: Random },
): Promise<JudgeFigures> {
  const judged = random.shuffled(conversations.flatMap(({ steps }) => naturalExchanges(steps)));
  const recall: Record<string, Share> = {};
  const confusion: Record<string, Record<string, number>> = {};
  const heard: (Heard | Unheard)[] = [];
  for (const reward of REWARDS) {
    const ofClass = judged.filter((each) => each.reward === reward).slice(0, count);
    const scored = await scoredBy(
      sampler,
      `judge, ${reward}`,
      ofClass.map(({ exchange }) => exchange),
    );
    const verdicts = scored.map(likeliest);
    for (const logProbs of scored) {
      const chances = logProbs && voteChances(logProbs);
      heard.push(
        chances === undefined
          ? { meant: reward }
          : { chances, votes: drawVotes(chances, { votes: VOTES, seed: heard.length }), meant: reward },
      );
    }
    recall[String(reward)] = share(verdicts.map((verdict) => verdict === reward));
    const tally: Record<string, number> = {};
    for (const verdict of verdicts) tally[String(verdict)] = (tally[String(verdict)] ?? 0) + 1;
    confusion[String(reward)] = tally;
  }
  return { recall, confusion, reliability: reliabilityOf(heard) };
}

/** Exchanges of the data to which the user reacts in general words that training never shows. */
export async function evaluatePlain(
  sampler: JobSampler,
  conversations: readonly Conversation[],
  { count, random }: { count: number; random: Random },
): Promise<Record<string, Share>> {
  const exchanges = random
    .shuffled(conversations.flatMap(({ steps }) => naturalExchanges(steps)))
    .slice(0, count)
    .map(({ exchange }) => exchange);
  const recall: Record<string, Share> = {};
  for (const reward of REWARDS) {
    const words = EVAL_REACTIONS[`${reward}`];
    const reacted = exchanges.map((exchange, index): Exchange => {
      const content = words[index % words.length] ?? "";
      return { ...exchange, nextState: [{ role: "user", content }] };
    });
    const scored = await scoredBy(sampler, `judge, ${reward} in general words`, reacted);
    recall[String(reward)] = share(scored.map((logProbs) => likeliest(logProbs) === reward));
  }
  return recall;
}

/** ln p of each reward; undefined where the exchange leaves the judge no room. */
async function scoredBy(sampler: JobSampler, what: string, exchanges: readonly Exchange[]): Promise<(number[] | undefined)[]> {
  const scored: (number[] | undefined)[] = [];
  for (const [index, exchange] of exchanges.entries()) {
    scored.push(await rewardLogProbs(sampler, exchange));
    if (index % 25 === 0) say(`${what}: ${index}/${exchanges.length}`);
  }
  return scored;
}

function likeliest(logProbs: readonly number[] | undefined): Reward | undefined {
  return logProbs && REWARDS[logProbs.indexOf(Math.max(...logProbs))];
}

export function correctedIn(conversations: readonly Conversation[], lexicon: Lexicon, count: number, random: Random): CorrectedExchange[] {
  const worded = (name: string, value: string): string => fill(random.pick(EVAL_CORRECTIONS), spokenName(name), value);
  return random
    .shuffled(conversations)
    .slice(0, count * 2)
    .flatMap((conversation) => correctedExchange(conversation, lexicon, random, worded) ?? [])
    .slice(0, count);
}

/** Of corrections in words, how many the base words as they were meant, and how many the trainer then takes for what they say. */
export async function evaluateHintJob(
  policy: EvaluatedPolicy,
  { sampler, encode }: { sampler: JobSampler; encode: Tokenizer["encodePrompt"] },
  corrected: readonly CorrectedExchange[],
): Promise<{ exact: Share; asServed: Share }> {
  const prompts = corrected.map(({ exchange }) => encode({ ...hintPrompt(exchange), addGenerationPrompt: true }));
  const answers = await policy.answers("hint job", prompts, { maxTokens: 48 });
  const name = createHintNamer(sampler);
  const named: boolean[] = [];
  for (const { exchange, hint } of corrected) {
    const grounded = await name(signalOf(exchange), { seed: 0 });
    named.push(grounded.status === "grounded" && isSaid(grounded.hint, hint));
  }
  const worded = zipStrict(answers, corrected).map(([answer, { hint }]) => answer.trim() === hintText(hint));
  return { exact: share(worded), asServed: share(named) };
}

/** Schemas write truth values in their own case. */
function isSaid(named: Hint, { parameter, value }: Hint): boolean {
  return named.parameter === parameter && sameText(named.value, value);
}

/** Wishes about being asked in words that training never shows, after exchanges that give reason to; and how often one is heard where there is none, in the data and in such words. */
export async function evaluateWishes(
  policy: EvaluatedPolicy,
  encode: Tokenizer["encodePrompt"],
  conversations: readonly Conversation[],
  { count, random }: { count: number; random: Random },
): Promise<Record<Wish, Share>> {
  const exchanges = random.shuffled(conversations.flatMap(({ steps }) => naturalExchanges(steps))).map(({ exchange }) => exchange);
  const called = exchanges.filter(({ tools }) => tools.length > 0);
  const asked = exchanges.filter(({ answered, tools }) => tools.length === 0 && /\bconfirm\b/i.test(answered.at(-1)?.content ?? ""));
  const voiced = (some: readonly Exchange[], words: readonly string[]): Exchange[] =>
    some
      .slice(0, count)
      .map((exchange, index) => ({ ...exchange, nextState: [{ role: "user", content: at(words, index % words.length) }] }));
  const cases: Record<Wish, readonly Exchange[]> = {
    ask: voiced(called, [...Object.values(CONFIRM_WORDS.always).flat(), ...SPOKEN.ask]),
    go: voiced(asked, [...Object.values(CONFIRM_WORDS.never).flat(), ...SPOKEN.go]),
    none: [...exchanges.slice(0, 2 * count), ...voiced([...called.slice(0, count / 2), ...asked], SPOKEN.none)],
  };
  const heard = async (wish: Wish): Promise<Share> => {
    const prompts = cases[wish].map((exchange) => encode({ ...wishPrompt(exchange), addGenerationPrompt: true }));
    const answers = await policy.answers(`wish, ${wish}`, prompts, { maxTokens: 4 });
    return share(answers.map((answer) => parseWish(answer) === wish));
  };
  return { ask: await heard("ask"), go: await heard("go"), none: await heard("none") };
}

/** How replies are to be worded, in words that the patterns were not written for; and how often that is heard where nothing is said of it, in such words and the data's. */
export function evaluateWording(conversations: readonly Conversation[]): Record<string, Share> {
  const reply = "I found one of them. Do you like it, or another?";
  const heard = (said: string): string =>
    wordingSaid(said.replaceAll("{as}", "Robin").replaceAll("{words}", "eight"), { reply })?.parameter ?? "none";
  const shareOf = (parameter: string, words: readonly string[]): Share => share(words.map((said) => heard(said) === parameter));
  const voiced = (rule: keyof typeof WORDING_WORDS, others: readonly string[]): string[] => [
    ...Object.values(WORDING_WORDS[rule]).flat(),
    ...others,
  ];
  const natural = conversations.flatMap(({ steps }) => steps.flatMap((step) => (step.kind === "user" ? [step.text] : [])));
  const others = [...SPOKEN_WORDING.none, ...SPOKEN.rejections, ...SPOKEN.approvals, ...SPOKEN.neutral, ...SPOKEN.none];
  return {
    "@length": shareOf("@length", voiced("brief", SPOKEN_WORDING.short)),
    "@question": shareOf("@question", voiced("statement", SPOKEN_WORDING.tell)),
    "@name": shareOf("@name", voiced("addressed", SPOKEN_WORDING.name)),
    "@count": shareOf("@count", voiced("counted", SPOKEN_WORDING.count)),
    none: shareOf("none", others),
    natural: shareOf("none", natural),
  };
}

/** Of the data's own reactions that reject nothing, in their conversations, how many a trainer would take for a correction, and of what. */
export async function evaluateMisheard(
  sampler: JobSampler,
  conversations: readonly Conversation[],
  { count, random }: { count: number; random: Random },
): Promise<Record<string, Share>> {
  const signals = random
    .shuffled(conversations)
    .slice(0, count)
    .flatMap((conversation) => {
      const { system, tools, steps } = conversation;
      const places = steps.flatMap((step, at) => {
        const reply = steps[at - 1];
        return step.kind === "user" && reply?.kind === "reply" && rewardOfActs(step.acts, reply.acts) >= 0
          ? [{ at, reply, text: step.text }]
          : [];
      });
      if (places.length === 0) return [];
      const { at: next, reply, text } = random.pick(places);
      const messages = toMessages(system, steps.slice(0, next - 1));
      return [signalIn({ messages, tools }, { role: "assistant", content: reply.text }, [{ role: "user", content: text }])];
    });
  const panel = createPanel(sampler);
  const heard: string[] = [];
  for (const [index, signal] of signals.entries()) {
    const verdict = await panel.judge(signal, { votes: VOTES, seed: index });
    const parameter = verdict?.hint?.hint.parameter;
    heard.push(
      parameter === undefined
        ? verdict !== undefined && verdict.reward < 0
          ? "rejection"
          : ""
        : isAspect(parameter)
          ? parameter
          : "argument",
    );
    if (index % 25 === 0) say(`misheard: ${index}/${signals.length}`);
  }
  return Object.fromEntries(["rejection", "argument", ...ASPECTS].map((kind) => [kind, share(heard.map((each) => each === kind))]));
}
