/**
 * `npm run eval:base -- --sgd <folder> --split dev|test`: what the base can do, on dialogues that training never saw.
 * Greedy; a call is exact when its JSON equals the data's canonical arguments. Calls are counted unconstrained, and again held
 * to their tools' schemas as the edge holds them, which is how hints and notes are followed. Hints and notes are worded as
 * training never words them. Where the base has an adapter to judge under, it judges under it, as the trainer does.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommandLine } from "../trainer/command-line.ts";
import { Engine } from "../trainer/engine/engine.ts";
import { createJobSampler, type JobAdapters, loadJudge } from "../trainer/policy/answerer.ts";
import { type Base, loadBase } from "../trainer/policy/base.ts";
import { type Lexicon, readLexicon } from "../trainer/pretrain/lexicon.ts";
import { RELIABILITY_MARK } from "../trainer/pretrain/model-card.ts";
import { Random } from "../trainer/random.ts";
import { TRAIN_SERVICES } from "../trainer/pretrain/sgd.ts";
import { atLeast, type Bar, report } from "./bench.ts";
import { marksOf, replaceBetween } from "./marked-text.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { evaluateActs, evaluateCorrected, evaluateHints, evaluateNotes } from "./eval/acting.ts";
import { evaluateAfterResults } from "./eval/after-results.ts";
import { evaluateBeside } from "./eval/beside.ts";
import { Cases } from "./eval/cases.ts";
import {
  correctedIn,
  evaluateHintJob,
  evaluateJudge,
  evaluateMisheard,
  evaluatePlain,
  evaluateWishes,
  evaluateWording,
} from "./eval/judging.ts";
import { EvaluatedPolicy } from "./eval/policy.ts";
import { evaluateOwnTools, EVERYDAY, OWN_TOOLS } from "./eval/own-tools.ts";
import { evaluateResults } from "./eval/results.ts";
import { type Reliability, reliabilityText } from "./eval/reliability.ts";
import { evaluateUnnamed } from "./eval/unnamed.ts";

const DEFAULT_COUNTS = { calls: 600, replies: 300, hinted: 200, noted: 200, corrected: 200, judged: 300, hints: 150 };
const EVERYTHING = { calls: 100_000, replies: 100_000, hinted: 2_000, noted: 2_000, corrected: 2_000, judged: 3_000, hints: 1_000 };
const PARTS = ["acting", "judging"];

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    /** On the counts of cases; less for a quick look. */
    scale: { type: "string", default: "1" },
    /** One part alone: acting or judging. */
    only: { type: "string" },
    /** How far votes can be relied on goes into the model card, which is the README of the base. */
    write: { type: "boolean", default: false },
  },
});

const CARD = join(options.base, "README.md");
const JUDGE_WEIGHTS = "judge_adapter_model.safetensors";

type Stage = {
  policy: EvaluatedPolicy;
  conversations: ReturnType<Cases["conversations"]>;
  lexicon: Lexicon;
  counts: typeof DEFAULT_COUNTS;
  random: Random;
};
type Part = { figures: Record<string, unknown>; bars: Bar[] };

async function main(): Promise<void> {
  const sgd = openSgd(options, "eval:base", ["[--scale 1]", "[--only acting|judging]", "[--write]"]);
  if (sgd === undefined) return;
  if (options.only !== undefined && !PARTS.includes(options.only))
    throw new Error(`--only: ${PARTS.join(" or ")} expected, got ${options.only}`);
  if (options.write && options.only === "acting") throw new Error("--write: the judging part expected, got --only acting");
  // Before minutes of measuring.
  if (options.write) withReliability("");
  const base = loadBase(options.base);
  const { config, tokenizer, tokenizerFiles } = base;
  const engine = await Engine.start({ config, threads: Number(options.threads), tokenizer: tokenizerFiles });
  await engine.loadCheckpoint(options.base);
  const random = new Random(Number(options.seed));
  const cases = new Cases({ tokenizer, sgd, trainServices: new Set(TRAIN_SERVICES), context: config.contextTokens });
  const scale = Number(options.scale);
  const counts = options.full
    ? EVERYTHING
    : (Object.fromEntries(Object.entries(DEFAULT_COUNTS).map(([key, count]) => [key, Math.ceil(count * scale)])) as typeof DEFAULT_COUNTS);
  const common = { conversations: cases.conversations(), lexicon: readLexicon(sgd), counts, random };
  const parts: Part[] = [];
  if (options.only !== "judging") {
    parts.push(await acting({ ...common, policy: new EvaluatedPolicy(engine, tokenizer) }, cases, base));
  }
  if (options.only !== "acting") {
    const adapters = await loadJudge(engine, base);
    parts.push(
      await judging({ ...common, policy: new EvaluatedPolicy(engine, tokenizer, { adapter: adapters.judge }) }, { engine, base, adapters }),
    );
  }
  await engine.close();
  report({
    bench: "eval:base",
    conditions: {
      ...{ split: options.split, seed: Number(options.seed), subset: !options.full, base: options.base, only: options.only ?? null },
      ...{ tooLong: cases.tooLong, unsaid: cases.unsaid },
    },
    figures: Object.assign({}, ...parts.map(({ figures }) => figures)),
    bars: parts.flatMap(({ bars }) => bars),
  });
}

async function acting({ policy, conversations, lexicon, counts, random }: Stage, cases: Cases, { config, tokenizer }: Base): Promise<Part> {
  const context = config.contextTokens;
  const acts = await evaluateActs(
    policy,
    cases.calls(conversations, counts.calls, random),
    cases.replies(conversations, counts.replies, random),
  );
  const hints = await evaluateHints(policy, cases.hinted(conversations, lexicon, counts.hinted, random), context);
  const silent = await evaluateNotes(policy, "notes, user silent", cases.noted(conversations, lexicon, counts.noted, random, "silent"));
  const stated = await evaluateNotes(policy, "notes, user stated", cases.noted(conversations, lexicon, counts.noted, random, "stated"));
  const corrected = await evaluateCorrected(policy, cases.corrected(conversations, lexicon, counts.corrected, random));
  const encode = tokenizer.encodePrompt.bind(tokenizer);
  const results = await evaluateResults(policy, encode);
  const ownTools = await evaluateOwnTools(policy, encode, { file: OWN_TOOLS, label: "own tools" });
  const everyday = await evaluateOwnTools(policy, encode, { file: EVERYDAY, label: "everyday requests" });
  const afterResults = await evaluateAfterResults(policy, encode);
  const beside = await evaluateBeside(policy, encode, conversations, { context, random });
  return {
    figures: { acts, hints, notes: { silent, stated }, corrected, results, ownTools, everyday, afterResults, beside },
    bars: [
      atLeast("call made when due", acts.callMade.share, 0.92, "share"),
      atLeast("right tool", acts.rightTool.share, 0.9, "share"),
      atLeast("exact call", acts.exact.share, 0.35, "share"),
      atLeast("exact call, unseen services", acts.exactUnseen.share, 0.2, "share"),
      atLeast("hint lift, median", hints.medianLiftNats, 5, "nats"),
      atLeast("hint obeyed", hints.asServed.share, 0.7, "share"),
      atLeast("note used, user silent", silent.asServed.share, 0.7, "share"),
      atLeast("user's own value kept, user stated", stated.asServed.share, 0.9, "share"),
      atLeast("correction taken at once", corrected.valueTaken.share, 0.8, "share"),
      atLeast("in words where no tool is for it", beside.words.share, 0.9, "share"),
      atLeast("told that it cannot be done", beside.declined.share, 0.8, "share"),
    ],
  };
}

async function judging(
  { policy, conversations, lexicon, counts, random }: Stage,
  { engine, base, adapters }: { engine: Engine; base: Base; adapters: JobAdapters },
): Promise<Part> {
  const { tokenizer } = base;
  const sampler = createJobSampler(engine, base, adapters);
  const wishing = new EvaluatedPolicy(engine, tokenizer, { adapter: adapters.wish });
  const encode = tokenizer.encodePrompt.bind(tokenizer);
  const judge = await evaluateJudge(sampler, conversations, { count: counts.judged, random });
  const hintJob = await evaluateHintJob(policy, { sampler, encode }, correctedIn(conversations, lexicon, counts.hints, random));
  const plain = await evaluatePlain(sampler, conversations, { count: counts.judged, random });
  const wishes = sampler.knowsWishes ? await evaluateWishes(wishing, encode, conversations, { count: counts.judged, random }) : undefined;
  const misheard = await evaluateMisheard(sampler, conversations, { count: counts.judged, random });
  const wording = evaluateWording(conversations);
  const unnamed = await evaluateUnnamed(sampler);
  if (options.write) writeFileSync(CARD, withReliability(textOf(judge.reliability)));
  const recalls = Object.values(judge.recall).map(({ share }) => share);
  const macroRecall = recalls.reduce((sum, each) => sum + each, 0) / recalls.length;
  return {
    figures: { judge: { macroRecall, ...judge, plain }, hintJob, wishes: wishes ?? null, misheard, wording, unnamed },
    bars: [
      atLeast("judge macro-recall", macroRecall, 0.92, "share"),
      ...Object.entries(judge.recall).map(([reward, { share }]) => atLeast(`judge recall of ${reward}`, share, 0.7, "share")),
      ...Object.entries(plain).map(([reward, { share }]) => atLeast(`judge recall of ${reward} in general words`, share, 0.9, "share")),
      atLeast("slot and value of a correction", hintJob.asServed.share, 0.85, "share"),
    ],
  };
}

function textOf(reliability: Reliability): string {
  const { split, seed } = options;
  const size = options.full ? "--full" : `--scale ${options.scale}`;
  const command = `npm run eval:base -- --sgd <folder> --split ${split} ${size} --seed ${seed} --only judging --write`;
  const adapter = join(options.base, JUDGE_WEIGHTS);
  const judge = existsSync(adapter) ? createHash("sha256").update(readFileSync(adapter)).digest("hex") : undefined;
  return reliabilityText(reliability, { split, command, judge });
}

/** The model card with a text between its marks. @throws where there is no card, or one without marks */
function withReliability(text: string): string {
  return replaceBetween(readFileSync(CARD, "utf8"), text, marksOf(RELIABILITY_MARK));
}

await main();
