/**
 * Learns one correction: lessons from the teacher, steps until the held-back contexts show it, a last word by the
 * candidate itself. Refuses where the teacher fails, where there is nothing to gain, and where the price is deafness or drift.
 */
import type { z } from "zod";
import { invariant, zipStrict } from "../../shared/assert.ts";
import type { SampleChange } from "../../shared/policy.ts";
import { hintText } from "../../shared/jobs.ts";
import type { RefusalCode } from "../data/refusal.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Lesson } from "../teacher/answers.ts";
import { confirm, countKinds, holdBack, honouredBefore, look, type HeldBack, type Look } from "./confirm.ts";
import { correctedRows, type CorrectedRow } from "./corrected-rows.ts";
import type { CorrectedExchange, UpdateRequest } from "./learner.ts";
import { collectLessons } from "./lessons.ts";
import { OBJECTIVES } from "./objective.ts";
import { meanKlNats, scoreRows, sharpen, totalLogProb } from "./scores.ts";
import { groupLessons, trainStep, type TaughtLesson, type Training } from "./train.ts";
import { askGreedily, roundCandidate, type Adapters, type LearnerDependencies } from "./candidate.ts";

export type LearntCorrection = {
  readonly status: "learned";
  readonly adapter: AdapterTensors;
  readonly metrics: {
    readonly steps: number;
    readonly loss: number;
    readonly lossBefore: number;
    readonly klToParentNats: number;
    readonly klToBaseNats: number;
    readonly contexts: number;
  };
  readonly changes: readonly Change[];
  readonly lifts: ReadonlyMap<string, number>;
};

export type CorrectionResult = LearntCorrection | { readonly status: "refused"; readonly code: RefusalCode; readonly detail: string };

type Change = z.infer<typeof SampleChange>;
type Work = { readonly group: readonly CorrectedExchange[]; readonly adapters: Adapters; readonly request: UpdateRequest };

const MIN_SILENT_LESSONS = 3;
const MIN_TEACHER_SHARE = 0.25; // of silent contexts; below it the few successes are luck

export async function learnCorrection(deps: LearnerDependencies, { group, adapters, request }: Work): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { tokenizer } = base;
  const { vocabSize } = base.config;
  const correction = latest(group).correction;
  const ask = askGreedily(engine, { adapter: adapters.parent, eosId: tokenizer.eosId, seed: request.seed });
  const lessons = await collectLessons(group, { correction, replay: request.replay, settings, tokenizer, ask, seed: request.seed });
  const counts = countKinds(lessons.training);
  const taughtShare = 1 - lessons.silentFailed / Math.max(1, lessons.silentAsked);
  if (counts.silent < MIN_SILENT_LESSONS || taughtShare < MIN_TEACHER_SHARE)
    return refuse(
      "teacher/fails",
      `with "${hintText(correction.hint)}" in its context the teacher uses it in ${lessons.silentAsked - lessons.silentFailed} of ${lessons.silentAsked} silent contexts`,
    );
  const taught = await teach(deps, lessons.training, adapters);
  const lifts = await measureLifts(deps, { group, taught, adapters });
  if (lifts.mean < settings.minLiftNats)
    return refuse(
      "teacher/noLift",
      `lift of at least ${settings.minLiftNats} nats expected, got ${lifts.mean.toFixed(2)}: the policy does this already`,
    );
  const held = await holdBack(engine, lessons.heldBack, { correction, parent: adapters.parent, vocabSize });
  const corrected = await correctedRows(engine, group, {
    tokenizer,
    parent: adapters.parent,
    objective: OBJECTIVES.hybrid,
    baseline: request.baseline,
    vocabSize,
  });
  const run = await trainUntilShown(deps, { taught, corrected, held, adapters });
  if (run.status === "refused") return run;
  await engine.loadAdapter(adapters.candidate, run.adapter);
  const adapter = await roundCandidate(engine, adapters.candidate);
  const askCandidate = askGreedily(engine, { adapter: adapters.candidate, eosId: tokenizer.eosId, seed: request.seed });
  const shown = await confirm(askCandidate, tokenizer, held);
  const before = honouredBefore(tokenizer, held);
  if (shown.honoured < Math.max(settings.honouredBar, before))
    return refuse(
      "update/notLearned",
      `used unasked in ${percent(shown.honoured)} of held-back contexts, ${percent(settings.honouredBar)} expected, ${percent(before)} before`,
    );
  if (shown.kept < settings.statedBar)
    return refuse(
      "update/deaf",
      `the user's own value wins in ${percent(shown.kept)} of held-back contexts, ${percent(settings.statedBar)} expected`,
    );
  return {
    status: "learned",
    adapter,
    metrics: {
      steps: run.steps,
      loss: run.loss,
      lossBefore: run.lossBefore,
      klToParentNats: run.look.driftNats,
      klToBaseNats: await driftFromBase(deps, { held, adapters }),
      contexts: taught.length,
    },
    changes: await describeChanges(deps, { group, ask: askCandidate }),
    lifts: lifts.byEvent,
  };
}

/** The published recipe, for comparison: the judged turns alone, every token, a fixed number of steps, nothing confirmed. */
export async function learnAsPublished(deps: LearnerDependencies, { group, adapters, request }: Work): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const objective = OBJECTIVES.paper;
  const corrected = await correctedRows(engine, group, {
    tokenizer: base.tokenizer,
    parent: adapters.parent,
    objective,
    baseline: request.baseline,
    vocabSize,
  });
  const training: Training = { engine, adapter: adapters.candidate, objective, vocabSize, lr: settings.lr };
  const losses: number[] = [];
  for (let step = 0; step < settings.maxSteps; step += 1) losses.push(await trainStep(training, { step, groups: [], corrected }));
  const adapter = await roundCandidate(engine, adapters.candidate);
  const ask = askGreedily(engine, { adapter: adapters.candidate, eosId: base.tokenizer.eosId, seed: request.seed });
  return {
    status: "learned",
    adapter,
    metrics: {
      steps: losses.length,
      loss: losses.at(-1) ?? 0,
      lossBefore: losses[0] ?? 0,
      klToParentNats: 0,
      klToBaseNats: 0,
      contexts: corrected.length,
    },
    changes: await describeChanges(deps, { group, ask }),
    lifts: new Map(),
  };
}

/**
 * Distributions of the teacher, under its guidance, at every token of its answers. Answers that were checked are
 * taught with more certainty than the teacher has; what must stay as it is keeps the parent's own distribution.
 */
async function teach(
  { engine, base, settings }: LearnerDependencies,
  lessons: readonly Lesson[],
  { parent }: Adapters,
): Promise<TaughtLesson[]> {
  const { vocabSize } = base.config;
  const rows = lessons.map(({ teacherPrompt: prompt, answer }) => ({ prompt, answer }));
  const scores = await scoreRows(engine, rows, { adapter: parent, full: true, vocabSize });
  return zipStrict(lessons, scores).map(([lesson, score]) => ({
    lesson,
    teacherLogProbs:
      lesson.context.kind === "other" ? score.full : sharpen(score.full, { temperature: settings.teacherTemperature, vocabSize }),
    teacherLogProb: totalLogProb(score),
  }));
}

/** Lift of a silent lesson: ln p_teacher − ln p_student of the teacher's answer, nats. An exchange has the lift of its own turn where that is a lesson, else the mean. */
async function measureLifts(
  { engine, base }: LearnerDependencies,
  { group, taught, adapters }: { group: readonly CorrectedExchange[]; taught: readonly TaughtLesson[]; adapters: Adapters },
): Promise<{ mean: number; byEvent: Map<string, number> }> {
  const silent = taught.filter(({ lesson }) => lesson.context.kind === "silent");
  const students = await scoreRows(
    engine,
    silent.map(({ lesson }) => ({ prompt: lesson.studentPrompt, answer: lesson.answer })),
    { adapter: adapters.parent, vocabSize: base.config.vocabSize },
  );
  const lifts = zipStrict(silent, students).map(([{ teacherLogProb, lesson }, student]) => ({
    origin: lesson.context.origin,
    lift: teacherLogProb - totalLogProb(student),
  }));
  const mean = lifts.reduce((sum, { lift }) => sum + lift, 0) / Math.max(1, lifts.length);
  const byEvent = new Map(
    group.map(({ eventId, turns }) => [eventId, lifts.find(({ origin }) => turns.some(({ turnId }) => turnId === origin))?.lift ?? mean]),
  );
  return { mean, byEvent };
}

type Run = {
  readonly status: "trained";
  readonly adapter: AdapterTensors;
  readonly steps: number;
  readonly loss: number;
  readonly lossBefore: number;
  readonly look: Look;
};

/** Trains and looks in turn; keeps the best look whose price is within bounds, stops when two looks in a row leave nothing to wish or when the policy drifts. */
async function trainUntilShown(
  deps: LearnerDependencies,
  {
    taught,
    corrected,
    held,
    adapters,
  }: { taught: readonly TaughtLesson[]; corrected: readonly CorrectedRow[]; held: HeldBack; adapters: Adapters },
): Promise<Run | Extract<CorrectionResult, { status: "refused" }>> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const training: Training = { engine, adapter: adapters.candidate, objective: OBJECTIVES.hybrid, vocabSize, lr: settings.lr };
  const groups = groupLessons(taught, training);
  let best: Run | undefined;
  let settled = 0;
  let lossBefore: number | undefined;
  let last: Look | undefined;
  for (let step = 0; step < settings.maxSteps && settled < SETTLED_LOOKS; step += 1) {
    const loss = await trainStep(training, { step, groups, corrected });
    lossBefore ??= loss;
    if ((step + 1) % settings.checkEvery !== 0) continue;
    last = await look(engine, held, { adapter: adapters.candidate, tokenizer: base.tokenizer, vocabSize });
    deps.onLook?.({ step: step + 1, loss, ...last });
    if (last.driftNats > settings.driftLimitNats) break;
    const complete = last.honoured === 1 && last.kept === 1;
    settled = complete ? settled + 1 : 0;
    if (best === undefined || valueOf(last) >= valueOf(best.look))
      best = { status: "trained", adapter: await engine.readAdapter(adapters.candidate), steps: step + 1, loss, lossBefore, look: last };
  }
  if (best !== undefined) return best;
  return refuse(
    "update/drift",
    `drift of at most ${settings.driftLimitNats} nats expected, got ${last?.driftNats.toFixed(4) ?? "no look"}`,
  );
}

const SETTLED_LOOKS = 2;

/** Deafness costs as much as learning gains. */
function valueOf({ honoured, kept }: Look): number {
  return honoured + kept;
}

/** Mean KL(base ‖ candidate) per token over the held-back contexts of other tools, nats. */
async function driftFromBase(
  { engine, base }: LearnerDependencies,
  { held, adapters }: { held: HeldBack; adapters: Adapters },
): Promise<number> {
  const { vocabSize } = base.config;
  const rows = held.lessons
    .filter(({ context }) => context.kind === "other")
    .map(({ studentPrompt: prompt, answer }) => ({ prompt, answer }));
  const [bases, candidates] = [
    await scoreRows(engine, rows, { adapter: undefined, full: true, vocabSize }),
    await scoreRows(engine, rows, { adapter: adapters.candidate, full: true, vocabSize }),
  ];
  const drifts = bases.map(({ full }, index) => meanKlNats(full, candidates[index]?.full ?? full, vocabSize));
  return drifts.reduce((sum, drift) => sum + drift, 0) / Math.max(1, drifts.length);
}

/** The corrected turns answered again, for people to read. */
async function describeChanges(
  { base: { tokenizer } }: LearnerDependencies,
  { group, ask }: { group: readonly CorrectedExchange[]; ask: ReturnType<typeof askGreedily> },
): Promise<Change[]> {
  const turns = group.flatMap(({ correction, turns: own }) =>
    own.filter(
      ({ payload }) =>
        payload.answer.role === "assistant" &&
        payload.answer.tool_calls?.some((call) => call.function.name === correction.tool.function.name),
    ),
  );
  const answers = await ask(turns.map(({ payload }) => payload.rollout.promptTokens));
  return turns.map(({ payload }, index) => ({
    prompt: lastWords(payload.messages),
    before: tokenizer.decode(payload.rollout.responseTokens.filter((token) => token !== tokenizer.eosId)),
    after: tokenizer.decode((answers[index] ?? []).filter((token) => token !== tokenizer.eosId)),
  }));
}

function lastWords(messages: CorrectedExchange["turns"][number]["payload"]["messages"]): string {
  const message = messages.findLast(({ role }) => role === "user");
  return message?.role === "user" ? message.content : "";
}

function latest(group: readonly CorrectedExchange[]): CorrectedExchange {
  const last = group.at(-1);
  invariant(last !== undefined, "a group of corrections holds one");
  return last;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function refuse(code: RefusalCode, detail: string): Extract<CorrectionResult, { status: "refused" }> {
  return { status: "refused", code, detail };
}
