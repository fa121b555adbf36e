/**
 * `npm run eval:base -- --sgd <folder> --split dev|test`: what the base can do, on dialogues that training never saw.
 * Greedy; a call is exact when its JSON equals the data's canonical arguments. Calls are counted unconstrained, and again held
 * to their tools' schemas as the edge holds them, which is how hints and notes are followed. Hints and notes are worded as
 * training never words them.
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { isRecord } from "../shared/grammar/schema-parts.ts";
import { zipStrict } from "../shared/assert.ts";
import { type Hint, hintPrompt, hintText, judgePrompt, parseReward } from "../shared/jobs.ts";
import { sameText } from "../shared/speech/calls.ts";
import { Engine } from "../trainer/engine/engine.ts";
import { createHintNamer } from "../trainer/judge/embedded.ts";
import { checkArguments } from "../trainer/judge/schema-check.ts";
import { readCheckpoint } from "../trainer/model/checkpoint.ts";
import { createJobSampler } from "../trainer/policy/answerer.ts";
import type { Base } from "../trainer/policy/base.ts";
import type { Conversation } from "../trainer/pretrain/conversation.ts";
import { type CorrectedExchange, correctedExchange, naturalExchanges } from "../trainer/pretrain/exchanges.ts";
import { type Lexicon, readLexicon } from "../trainer/pretrain/lexicon.ts";
import { fill } from "../trainer/pretrain/phrases.ts";
import { Random } from "../trainer/random.ts";
import { TRAIN_SERVICES } from "../trainer/pretrain/sgd.ts";
import { spokenName } from "../trainer/pretrain/values.ts";
import { atLeast, type Bar, median, report, wilson } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { type ActCase, ANSWER_TOKENS, Cases, type GuidedCase } from "./eval/cases.ts";
import { argumentOf, EvaluatedPolicy, parseCall, sameCall } from "./eval/policy.ts";
import { EVAL_CORRECTIONS, EVAL_REACTIONS } from "./phrases.ts";
import { signalOf } from "./sim/logbook.ts";

const DEFAULT_COUNTS = { calls: 600, replies: 300, hinted: 200, noted: 200, judged: 300, hints: 150 };
const EVERYTHING = { calls: 100_000, replies: 100_000, hinted: 2_000, noted: 2_000, judged: 3_000, hints: 1_000 };

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    /** On the counts of cases; less for a quick look. */
    scale: { type: "string", default: "1" },
  },
});

type Share = { share: number; count: number; interval: [number, number] };

async function main(): Promise<void> {
  const sgd = openSgd(options, "eval:base", ["[--scale 1]"]);
  if (sgd === undefined) return;
  const { config, tokenizer, tokenizerFiles } = readCheckpoint(options.base);
  const engine = await Engine.start({ config, threads: Number(options.threads), tokenizer: tokenizerFiles });
  await engine.loadCheckpoint(options.base);
  const policy = new EvaluatedPolicy(engine, tokenizer);
  const random = new Random(Number(options.seed));
  const cases = new Cases({ tokenizer, sgd, trainServices: new Set(TRAIN_SERVICES), context: config.contextTokens });
  const conversations = cases.conversations();
  const lexicon = readLexicon(sgd);
  const scale = Number(options.scale);
  const counts = options.full
    ? EVERYTHING
    : (Object.fromEntries(Object.entries(DEFAULT_COUNTS).map(([key, count]) => [key, Math.ceil(count * scale)])) as typeof DEFAULT_COUNTS);

  const acts = await evaluateActs(
    policy,
    cases.calls(conversations, counts.calls, random),
    cases.replies(conversations, counts.replies, random),
  );
  const hints = await evaluateHints(policy, cases.hinted(conversations, lexicon, counts.hinted, random), config.contextTokens);
  const silent = await evaluateNotes(policy, "notes, user silent", cases.noted(conversations, lexicon, counts.noted, random, "silent"));
  const stated = await evaluateNotes(policy, "notes, user stated", cases.noted(conversations, lexicon, counts.noted, random, "stated"));
  const judge = await evaluateJudge(policy, tokenizer.encodePrompt.bind(tokenizer), conversations, counts.judged, random);
  const hintJob = await evaluateHintJob(policy, { engine, tokenizer, config }, correctedIn(conversations, lexicon, counts.hints, random));

  const plain = await evaluatePlain(policy, tokenizer.encodePrompt.bind(tokenizer), conversations, counts.judged, random);

  const recalls = Object.values(judge.recall).map(({ share }) => share);
  const macroRecall = recalls.reduce((sum, each) => sum + each, 0) / recalls.length;
  const bars: Bar[] = [
    atLeast("call made when due", acts.callMade.share, 0.92, "share"),
    atLeast("right tool", acts.rightTool.share, 0.9, "share"),
    atLeast("exact call", acts.exact.share, 0.35, "share"),
    atLeast("exact call, unseen services", acts.exactUnseen.share, 0.2, "share"),
    atLeast("judge macro-recall", macroRecall, 0.8, "share"),
    ...Object.entries(judge.recall).map(([reward, { share }]) => atLeast(`judge recall of ${reward}`, share, 0.7, "share")),
    ...Object.entries(plain).map(([reward, { share }]) => atLeast(`judge recall of ${reward} in general words`, share, 0.9, "share")),
    atLeast("hint lift, median", hints.medianLiftNats, 5, "nats"),
    atLeast("hint obeyed", hints.asServed.share, 0.7, "share"),
    atLeast("slot and value of a correction", hintJob.asServed.share, 0.85, "share"),
    atLeast("note used, user silent", silent.asServed.share, 0.7, "share"),
    atLeast("user's own value kept, user stated", stated.asServed.share, 0.9, "share"),
  ];
  await engine.close();
  report({
    bench: "eval:base",
    conditions: {
      ...{ split: options.split, seed: Number(options.seed), subset: !options.full, base: options.base },
      ...{ tooLong: cases.tooLong, unsaid: cases.unsaid },
    },
    figures: { acts, hints, notes: { silent, stated }, judge: { macroRecall, ...judge, plain }, hintJob },
    bars,
  });
}

async function evaluateActs(policy: EvaluatedPolicy, calls: readonly ActCase[], replies: readonly ActCase[]) {
  const prompts = calls.map(({ prompt }) => prompt);
  const free = await policy.answers("calls", prompts, { maxTokens: ANSWER_TOKENS });
  const held = await policy.answers("calls, as served", prompts, { maxTokens: ANSWER_TOKENS, tools: calls.map(({ tools }) => tools) });
  // Whether to call shows in the first token.
  const needless = (
    await policy.answers(
      "replies",
      replies.map(({ prompt }) => prompt),
      { maxTokens: 2 },
    )
  ).filter((text) => text.startsWith("<tool_call>")).length;
  return {
    callMade: share(free.map((text) => text.startsWith("<tool_call>"))),
    needlessCall: shareOf(needless, replies.length),
    ...callFigures(calls, free),
    asServed: callFigures(calls, held),
  };
}

function callFigures(cases: readonly ActCase[], texts: readonly string[]) {
  const made = texts.map(parseCall);
  const exact = cases.map(({ call }, index) => call !== undefined && sameCall(made[index], call));
  const begun = cases.flatMap((each, index) => (texts[index]?.startsWith("<tool_call>") === true ? [fits(each, made[index])] : []));
  return {
    rightTool: share(cases.map(({ call }, index) => made[index]?.name === call?.name)),
    /** Of the calls that were begun, those that were finished within the limit and fit their tool's schema. */
    valid: share(begun),
    exact: share(exact),
    exactSeen: share(exact.filter((_, index) => cases[index]?.seen === true)),
    exactUnseen: share(exact.filter((_, index) => cases[index]?.seen === false)),
    argumentsRight: share(
      cases.flatMap(({ call }, index) =>
        Object.entries(call?.arguments ?? {}).map(([name, value]) => argumentOf(made[index], name) === value),
      ),
    ),
  };
}

function fits({ tools }: ActCase, made: ReturnType<typeof parseCall>): boolean {
  const tool = tools.find((each) => each.function.name === made?.name);
  return tool !== undefined && isRecord(made?.arguments) && checkArguments(tool, made.arguments).length === 0;
}

async function evaluateHints(policy: EvaluatedPolicy, cases: readonly GuidedCase[], context: number) {
  const without = await policy.logProbs(
    "hint lift, without",
    cases.map(({ plain, answer }) => ({ prompt: plain, answer })),
    context,
  );
  const under = await policy.logProbs(
    "hint lift, under the hint",
    cases.map(({ guided, answer }) => ({ prompt: guided, answer })),
    context,
  );
  const tools = cases.map((each) => each.tools);
  const held = await policy.answers("hints, as served", guidedOf(cases), { maxTokens: ANSWER_TOKENS, tools });
  const free = await policy.answers("hints", guidedOf(cases), { maxTokens: ANSWER_TOKENS });
  return {
    medianLiftNats: cases.length === 0 ? null : median(under.map((logProb, index) => logProb - (without[index] ?? 0))),
    asServed: shareUsed(cases, held),
    free: shareUsed(cases, free),
  };
}

/** Notes as served, held to the schema and yielding to what was said; and unconstrained, by the prompt alone. */
async function evaluateNotes(
  policy: EvaluatedPolicy,
  label: string,
  cases: readonly GuidedCase[],
): Promise<{ asServed: Share; free: Share }> {
  return {
    asServed: shareUsed(cases, await policy.answersUnderNotes(label, cases, ANSWER_TOKENS)),
    free: shareUsed(cases, await policy.answers(label, guidedOf(cases), { maxTokens: ANSWER_TOKENS })),
  };
}

/** Share of guided prompts whose greedy call is to the right tool and has the wanted value. */
function shareUsed(cases: readonly GuidedCase[], texts: readonly string[]): Share {
  return share(
    cases.map(({ tool, parameter, wanted }, index) => {
      const made = parseCall(texts[index] ?? "");
      return made?.name === tool && argumentOf(made, parameter) === wanted;
    }),
  );
}

function guidedOf(cases: readonly GuidedCase[]): number[][] {
  return cases.map(({ guided }) => guided);
}

type EncodePrompt = (prompt: {
  messages: ReturnType<typeof judgePrompt>["messages"];
  tools: ReturnType<typeof judgePrompt>["tools"];
  addGenerationPrompt: boolean;
}) => number[];

async function evaluateJudge(
  policy: EvaluatedPolicy,
  encode: EncodePrompt,
  conversations: readonly Conversation[],
  count: number,
  random: Random,
) {
  const judged = random.shuffled(conversations.flatMap(({ steps }) => naturalExchanges(steps)));
  const recall: Record<string, Share> = {};
  const confusion: Record<string, Record<string, number>> = {};
  for (const reward of [-1, 0, 1] as const) {
    const ofClass = judged.filter((each) => each.reward === reward).slice(0, count);
    const answers = await policy.answers(
      `judge, ${reward}`,
      ofClass.map(({ exchange }) => encode({ ...judgePrompt(exchange), addGenerationPrompt: true })),
      { maxTokens: 4 },
    );
    recall[String(reward)] = share(answers.map((answer) => parseReward(answer) === reward));
    const tally: Record<string, number> = {};
    for (const answer of answers) tally[answer] = (tally[answer] ?? 0) + 1;
    confusion[String(reward)] = tally;
  }
  return { recall, confusion };
}

/** Exchanges of the data to which the user reacts in general words that training never shows. */
async function evaluatePlain(
  policy: EvaluatedPolicy,
  encode: EncodePrompt,
  conversations: readonly Conversation[],
  count: number,
  random: Random,
): Promise<Record<string, Share>> {
  const exchanges = random
    .shuffled(conversations.flatMap(({ steps }) => naturalExchanges(steps)))
    .slice(0, count)
    .map(({ exchange }) => exchange);
  const recall: Record<string, Share> = {};
  for (const [reward, words] of Object.entries(EVAL_REACTIONS)) {
    const prompts = exchanges.map((exchange, index) => {
      const content = words[index % words.length] ?? "";
      return encode({ ...judgePrompt({ ...exchange, nextState: [{ role: "user", content }] }), addGenerationPrompt: true });
    });
    const answers = await policy.answers(`judge, ${reward} in general words`, prompts, { maxTokens: 4 });
    recall[reward] = share(answers.map((answer) => parseReward(answer) === Number(reward)));
  }
  return recall;
}

function correctedIn(conversations: readonly Conversation[], lexicon: Lexicon, count: number, random: Random): CorrectedExchange[] {
  const worded = (name: string, value: string): string => fill(random.pick(EVAL_CORRECTIONS), spokenName(name), value);
  return random
    .shuffled(conversations)
    .slice(0, count * 2)
    .flatMap((conversation) => correctedExchange(conversation, lexicon, random, worded) ?? [])
    .slice(0, count);
}

/** Of corrections in words, how many the base words as they were meant, and how many the trainer then takes for what they say. */
async function evaluateHintJob(
  policy: EvaluatedPolicy,
  parts: { engine: Engine } & Pick<Base, "tokenizer" | "config">,
  corrected: readonly CorrectedExchange[],
): Promise<{ exact: Share; asServed: Share }> {
  const prompts = corrected.map(({ exchange }) => parts.tokenizer.encodePrompt({ ...hintPrompt(exchange), addGenerationPrompt: true }));
  const answers = await policy.answers("hint job", prompts, { maxTokens: 48 });
  const name = createHintNamer(createJobSampler(parts.engine, parts));
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

function share(hits: readonly boolean[]): Share {
  return shareOf(hits.filter(Boolean).length, hits.length);
}

function shareOf(hits: number, count: number): Share {
  return { share: count === 0 ? 0 : hits / count, count, interval: wilson(hits, count) };
}

await main();
