/**
 * `npm run bench:steps`: rewards of steps against the outcome alone, on a task of several tool calls that the base cannot know.
 * Both learn by the product's own learner from the same number of conversations, and differ in `learning.signals.rewards` only:
 * `outcome` credits every call with whether all were right, `steps` adds what the call's own result says (the verifiable judge).
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { at } from "../shared/assert.ts";
import type { ChatMessage } from "../shared/chat.ts";
import type { AnswerForm } from "../shared/grammar/answer-form.ts";
import { SignalSettings } from "../shared/signal-settings.ts";
import { UpdateSettings } from "../trainer/config.ts";
import { assembleSignal, type LoggedTurn } from "../trainer/data/exchange.ts";
import { Engine } from "../trainer/engine/engine.ts";
import { verifiableJudge } from "../trainer/judge/verifiable.ts";
import type { RewardedExchange } from "../trainer/learn/update/learner.ts";
import { createLearner } from "../trainer/learn/update/update.ts";
import type { AdapterTensors } from "../trainer/policy/adapter.ts";
import { loadBase, type Base } from "../trainer/policy/base.ts";
import { Random, seedAt } from "../trainer/random.ts";
import { readAnswer } from "../trainer/teacher/answer-text.ts";
import { atLeast, report, say } from "./bench.ts";
import { bootstrap, meanOf } from "./interval.ts";
import { Logbook } from "./sim/logbook.ts";
import { drawSafe, STEPS, turn, type Safe } from "./sim/safe.ts";

const FORM: AnswerForm = { toolChoice: "required", parallelToolCalls: false, responseFormat: { type: "text" } };
const CALL_TOKENS = 32;
const SELDOM = 0.2; // of the conversations
const LEAST_GAIN = 0.01; // an interval that reaches down to nothing shows nothing
const ARMS = ["outcome", "steps"] as const;
type Arm = (typeof ARMS)[number];

const { values: options } = readCommandLine({
  options: {
    base: { type: "string", default: "base" },
    seed: { type: "string", default: "1" },
    threads: { type: "string", default: "2" },
    /** Safes, each learnt from scratch by both. */
    seeds: { type: "string", default: "5" },
    updates: { type: "string", default: "8" },
    /** Conversations before an update. */
    conversations: { type: "string", default: "16" },
  },
});

type Conversation = { readonly exchange: RewardedExchange; readonly right: readonly boolean[] };
/** Of one safe and arm: what the conversations before each update, and after the last, came to. */
type Curve = { readonly rightSteps: readonly number[]; readonly solved: readonly number[]; readonly refused: number };

async function main(): Promise<void> {
  const base = loadBase(options.base);
  const engine = await Engine.start({ config: base.config, threads: Number(options.threads), tokenizer: base.tokenizerFiles });
  await engine.loadCheckpoint(base.folder);
  const curves: Record<Arm, Curve[]> = { outcome: [], steps: [] };
  try {
    for (let index = 0; index < Number(options.seeds); index += 1) {
      const seed = seedAt(Number(options.seed), index);
      const safe = await drawClosed({ base, engine }, { seed, index });
      for (const arm of ARMS) {
        const curve = await learn({ base, engine }, { safe, arm, seed });
        curves[arm].push(curve);
        say(`${index + 1}/${options.seeds} ${arm}: right steps ${percents(curve.rightSteps)}, solved ${percents(curve.solved)}`);
      }
    }
  } finally {
    await engine.close();
  }
  summarise(curves);
}

/** A safe that the base seldom opens by itself: what it does anyway nobody needs to learn. */
async function drawClosed(sides: { base: Base; engine: Engine }, { seed, index }: { seed: number; index: number }): Promise<Safe> {
  const random = new Random(seed);
  for (;;) {
    const safe = drawSafe(random, index);
    const talks = await talk(sides, { safe, adapter: undefined, version: 0, seed });
    if (meanOf(talks.map(({ right }) => Number(right.every(Boolean)))) <= SELDOM) return safe;
  }
}

async function learn(
  { base, engine }: { base: Base; engine: Engine },
  { safe, arm, seed }: { safe: Safe; arm: Arm; seed: number },
): Promise<Curve> {
  const learner = createLearner({ engine, base, settings: UpdateSettings.parse({}), now: () => performance.now() });
  const signals = SignalSettings.parse({ rewards: arm });
  let served: AdapterTensors | null = null;
  const [rightSteps, solved]: [number[], number[]] = [[], []];
  let refused = 0;
  for (let update = 0; update <= Number(options.updates); update += 1) {
    if (served !== null) await engine.loadAdapter("served", served);
    const talks = await talk(
      { base, engine },
      { safe, adapter: served === null ? undefined : "served", version: update, seed: seedAt(seed, update) },
    );
    if (served !== null) await engine.dropAdapter("served");
    rightSteps.push(meanOf(talks.map(({ right }) => meanOf(right.map(Number)))));
    solved.push(meanOf(talks.map(({ right }) => Number(right.every(Boolean)))));
    if (update === Number(options.updates)) break;
    const outcome = await learner.update({
      corrected: [],
      supplied: [],
      rewarded: talks.map(({ exchange }) => exchange),
      signals,
      replay: [],
      parent: served,
      parentVersion: update,
      baseline: 0,
      objective: "distillation",
      seed: seedAt(seed, update),
    });
    if (outcome.status === "learned") served = outcome.adapter;
    else {
      refused += 1;
      say(`    update ${update + 1}: ${[...new Set(outcome.refused.map(({ code, detail }) => `${code}, ${detail}`))].join("; ")}`);
    }
  }
  return { rightSteps, solved, refused };
}

/** Conversations at temperature 1, all at the same step at a time, logged and judged as the product logs and judges. */
async function talk(
  { base: { tokenizer }, engine }: { base: Base; engine: Engine },
  { safe, adapter, version, seed }: { safe: Safe; adapter: string | undefined; version: number; seed: number },
): Promise<Conversation[]> {
  const count = Number(options.conversations);
  const { tools, name, request } = safe;
  const log = new Logbook();
  const talks = Array.from({ length: count }, () => ({
    messages: [...request] as ChatMessage[],
    steps: [] as { turn: LoggedTurn; votes: readonly number[] }[],
    right: [] as boolean[],
  }));
  for (let step = 0; step < STEPS; step += 1) {
    const prompts = talks.map(({ messages }) => tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }));
    const answers = await engine.generate({
      prompts: prompts.map((prompt) => Int32Array.from(prompt)),
      forms: prompts.map(() => ({ tools, form: FORM })),
      maxTokens: CALL_TOKENS,
      stopTokens: tokenizer.endIds,
      temperature: 1,
      seed: seedAt(seed, step),
      ...(adapter === undefined ? {} : { adapter }),
    });
    for (const [index, each] of talks.entries()) {
      const { tokens, logProbs } = at(answers, index);
      const { calls } = readAnswer(tokenizer, [...tokens]);
      const id = `call_${index}_${step}`;
      const answer: ChatMessage = {
        role: "assistant",
        content: null,
        tool_calls: calls.map((call) => ({
          id,
          type: "function",
          function: { name: call.name, arguments: JSON.stringify(call.arguments) },
        })),
      };
      const { right, result } = turn(safe, step, calls);
      const completion = log.turn({ messages: each.messages, tools }, answer, {
        promptTokens: [...at(prompts, index)],
        responseTokens: [...tokens],
        rolloutLogProbs: [...logProbs],
        sampling: { seed, temperature: 1, topP: 1, masked: true, form: FORM },
      });
      const told: ChatMessage = { role: "tool", content: result, tool_call_id: id };
      const assembled = assembleSignal(log.next(completion, [told]), log.cache);
      if (assembled?.status !== "signal") throw new Error("a step that can be judged expected");
      const { turn: taken } = assembled.signal;
      const verdict = await verifiableJudge.judge(assembled.signal, { votes: 1, seed });
      each.steps.push({ turn: { ...taken, payload: { ...taken.payload, policyVersion: version } }, votes: verdict?.votes ?? [] });
      each.messages.push(answer, told);
      each.right.push(right);
    }
  }
  return talks.map(({ steps, right }, index) => ({
    right,
    exchange: { eventId: `e${index}`, task: name, outcome: right.every(Boolean) ? 1 : -1, steps, share: 1 / count },
  }));
}

function summarise({ outcome, steps }: Record<Arm, Curve[]>): void {
  const last = (curves: readonly Curve[], of: "rightSteps" | "solved"): number[] => curves.map((curve) => curve[of].at(-1) ?? 0);
  const gains = (of: "rightSteps" | "solved"): number[] => last(steps, of).map((value, index) => value - at(last(outcome, of), index));
  const figure = (of: "rightSteps" | "solved") => ({
    before: meanOf(outcome.map((curve) => at(curve[of], 0))),
    outcome: meanOf(last(outcome, of)),
    steps: meanOf(last(steps, of)),
    gain: bootstrap(gains(of), new Random(Number(options.seed))),
  });
  const [rightSteps, solved] = [figure("rightSteps"), figure("solved")];
  report({
    bench: "steps",
    conditions: {
      base: options.base,
      seed: Number(options.seed),
      threads: Number(options.threads),
      safes: Number(options.seeds),
      updates: Number(options.updates),
      conversationsPerUpdate: Number(options.conversations),
      stepsPerConversation: STEPS,
      drawn: `safes that the base opens in at most ${100 * SELDOM} % of ${options.conversations} conversations`,
      path: "the product's learner and verifiable judge in one process; conversations sampled at temperature 1 under forced tool choice",
    },
    figures: { rightSteps, solved, updatesRefused: { outcome: sumRefused(outcome), steps: sumRefused(steps) }, curves: { outcome, steps } },
    bars: [
      atLeast("right steps gained by step rewards, lower end of the 95 % interval", rightSteps.gain.interval[0], LEAST_GAIN, "share"),
      atLeast("conversations solved more, lower end of the 95 % interval", solved.gain.interval[0], LEAST_GAIN, "share"),
    ],
  });
}

function sumRefused(curves: readonly Curve[]): number {
  return curves.reduce((sum, { refused }) => sum + refused, 0);
}

function percents(shares: readonly number[]): string {
  return shares.map((share) => `${Math.round(100 * share)}`).join(" ");
}

await main();
