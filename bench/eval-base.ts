/**
 * `npm run eval:base -- --sgd <folder> --split dev|test`: what the base can do, on dialogues that training never saw.
 * Greedy and unconstrained; a call is exact when its JSON equals the data's canonical arguments. Hints and notes are
 * worded as training never words them.
 */
import { parseArgs } from "node:util";
import { hintPrompt, hintText, judgePrompt, parseReward } from "../shared/jobs.ts";
import { Engine } from "../trainer/engine/engine.ts";
import { readCheckpoint } from "../trainer/model/checkpoint.ts";
import type { Conversation } from "../trainer/pretrain/conversation.ts";
import { correctedExchange, naturalExchanges } from "../trainer/pretrain/exchanges.ts";
import { type Lexicon, readLexicon } from "../trainer/pretrain/lexicon.ts";
import { fill } from "../trainer/pretrain/phrases.ts";
import { Random } from "../trainer/random.ts";
import { TRAIN_SERVICES } from "../trainer/pretrain/sgd.ts";
import { spokenName } from "../trainer/pretrain/values.ts";
import { atLeast, type Bar, median, report, wilson } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { type ActCase, ANSWER_TOKENS, Cases, type GuidedCase } from "./eval/cases.ts";
import { argumentOf, EvaluatedPolicy, parseCall, sameCall } from "./eval/policy.ts";
import { EVAL_CORRECTIONS } from "./phrases.ts";

const DEFAULT_COUNTS = { calls: 600, replies: 300, hinted: 200, noted: 200, judged: 300, hints: 150 };
const EVERYTHING = { calls: 100_000, replies: 100_000, hinted: 2_000, noted: 2_000, judged: 3_000, hints: 1_000 };

const { values: options } = parseArgs({
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
  const { config, weights, tokenizer } = readCheckpoint(options.base);
  const engine = await Engine.start({ config, threads: Number(options.threads) });
  await engine.loadWeights(weights);
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
  const silent = await shareUsed(policy, "notes, user silent", cases.noted(conversations, lexicon, counts.noted, random, "silent"));
  const stated = await shareUsed(policy, "notes, user stated", cases.noted(conversations, lexicon, counts.noted, random, "stated"));
  const judge = await evaluateJudge(policy, tokenizer.encodePrompt.bind(tokenizer), conversations, counts.judged, random);
  const hintJob = await evaluateHintJob(policy, tokenizer.encodePrompt.bind(tokenizer), conversations, lexicon, counts.hints, random);

  const recalls = Object.values(judge.recall).map(({ share }) => share);
  const macroRecall = recalls.reduce((sum, each) => sum + each, 0) / recalls.length;
  const bars: Bar[] = [
    atLeast("call made when due", acts.callMade.share, 0.92, "share"),
    atLeast("right tool", acts.rightTool.share, 0.9, "share"),
    atLeast("exact call", acts.exact.share, 0.35, "share"),
    atLeast("exact call, unseen services", acts.exactUnseen.share, 0.2, "share"),
    atLeast("judge macro-recall", macroRecall, 0.8, "share"),
    ...Object.entries(judge.recall).map(([reward, { share }]) => atLeast(`judge recall of ${reward}`, share, 0.7, "share")),
    atLeast("hint lift, median", hints.medianLiftNats, 5, "nats"),
    atLeast("hint obeyed", hints.obeyed.share, 0.7, "share"),
    atLeast("note used, user silent", silent.share, 0.7, "share"),
    atLeast("user's own value kept, user stated", stated.share, 0.9, "share"),
  ];
  await engine.close();
  report({
    bench: "eval:base",
    conditions: { split: options.split, seed: Number(options.seed), subset: !options.full, base: options.base, tooLong: cases.tooLong },
    figures: { acts, hints, notes: { silent, stated }, judge: { macroRecall, ...judge }, hintJob },
    bars,
  });
}

async function evaluateActs(policy: EvaluatedPolicy, calls: readonly ActCase[], replies: readonly ActCase[]) {
  const made = (
    await policy.answers(
      "calls",
      calls.map(({ prompt }) => prompt),
      ANSWER_TOKENS,
    )
  ).map((text) => ({ begun: text.startsWith("<tool_call>"), call: parseCall(text) }));
  const exact = calls.map(({ call }, index) => call !== undefined && sameCall(made[index]?.call, call));
  // Whether to call shows in the first token.
  const needless = (
    await policy.answers(
      "replies",
      replies.map(({ prompt }) => prompt),
      2,
    )
  ).filter((text) => text.startsWith("<tool_call>")).length;
  return {
    callMade: share(made.map(({ begun }) => begun)),
    needlessCall: shareOf(needless, replies.length),
    rightTool: share(calls.map(({ call }, index) => made[index]?.call?.name === call?.name)),
    validJson: share(made.map(({ call }) => call !== undefined)),
    exact: share(exact),
    exactSeen: share(exact.filter((_, index) => calls[index]?.seen === true)),
    exactUnseen: share(exact.filter((_, index) => calls[index]?.seen === false)),
    argumentsRight: share(
      calls.flatMap(({ call }, index) =>
        Object.entries(call?.arguments ?? {}).map(([name, value]) => argumentOf(made[index]?.call, name) === value),
      ),
    ),
  };
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
  const obeyed = await shareUsed(policy, "hints", cases);
  return { medianLiftNats: cases.length === 0 ? null : median(under.map((logProb, index) => logProb - (without[index] ?? 0))), obeyed };
}

/** Share of guided prompts whose greedy call is to the right tool and has the wanted value. */
async function shareUsed(policy: EvaluatedPolicy, label: string, cases: readonly GuidedCase[]): Promise<Share> {
  const answers = await policy.answers(
    label,
    cases.map(({ guided }) => guided),
    ANSWER_TOKENS,
  );
  return share(
    cases.map(({ tool, parameter, wanted }, index) => {
      const made = parseCall(answers[index] ?? "");
      return made?.name === tool && argumentOf(made, parameter) === wanted;
    }),
  );
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
      4,
    );
    recall[String(reward)] = share(answers.map((answer) => parseReward(answer) === reward));
    const tally: Record<string, number> = {};
    for (const answer of answers) tally[answer] = (tally[answer] ?? 0) + 1;
    confusion[String(reward)] = tally;
  }
  return { recall, confusion };
}

async function evaluateHintJob(
  policy: EvaluatedPolicy,
  encode: EncodePrompt,
  conversations: readonly Conversation[],
  lexicon: Lexicon,
  count: number,
  random: Random,
) {
  const worded = (name: string, value: string): string => fill(random.pick(EVAL_CORRECTIONS), spokenName(name), value);
  const corrected = random
    .shuffled(conversations)
    .slice(0, count * 2)
    .flatMap((conversation) => correctedExchange(conversation, lexicon, random, worded) ?? [])
    .slice(0, count);
  const answers = await policy.answers(
    "hint job",
    corrected.map(({ exchange }) => encode({ ...hintPrompt(exchange), addGenerationPrompt: true })),
    48,
  );
  return {
    exact: share(answers.map((answer, index) => answer.trim() === hintText(corrected[index]?.hint ?? { parameter: "", value: "" }))),
  };
}

function share(hits: readonly boolean[]): Share {
  return shareOf(hits.filter(Boolean).length, hits.length);
}

function shareOf(hits: number, count: number): Share {
  return { share: count === 0 ? 0 : hits / count, count, interval: wilson(hits, count) };
}

await main();
