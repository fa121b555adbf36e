/**
 * Learns one correction: lessons from the teacher, steps until the held-back contexts show it, a last word by the
 * candidate itself. Refuses where the teacher fails, where there is nothing to gain, and where the price is deafness or drift.
 */
import { hintText } from "../../../shared/jobs.ts";
import { mustStay, studentRow } from "../../teacher/answers.ts";
import type { Correction } from "../../teacher/contexts.ts";
import { askGreedily, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import { confirmationFailure, countKinds, type HeldBack, holdBack, look } from "./confirm.ts";
import { type CorrectedRow, correctedRows } from "../lesson/corrected-rows.ts";
import { creditsOf } from "./credits.ts";
import { costToEarlier } from "./earlier.ts";
import { collectLessons, countLessons, type Lessons } from "../lesson/lessons.ts";
import { OBJECTIVES } from "./objective.ts";
import { describeChanges, driftBetween } from "./report.ts";
import { refuse, refuseUnmarked, type CorrectionResult, type RefusedCorrection, type Work } from "./result.ts";
import { type Run, trainUntilShown } from "./run.ts";
import { latest, taughtBy } from "./taught-default.ts";
import { measureLifts, teach } from "../lesson/teaching.ts";
import { withoutLift } from "./unmoved.ts";

const LOOK_FROM = 15; // steps; no correction of a bench has met its bars in ten
const MIN_SILENT_LESSONS = 3;
const MIN_TEACHER_SHARE = 0.25; // of silent contexts; below it the few successes are luck

export async function learnCorrection(deps: LearnerDependencies, work: Work): Promise<CorrectionResult> {
  const { group, adapters, request } = work;
  const { engine, base, settings } = deps;
  const unmarked = refuseUnmarked(base.tokenizer);
  if (unmarked !== undefined) return unmarked;
  const { correction } = latest(group);
  const lessons = await askTeacher(deps, work, correction);
  const failure = teacherFailure(lessons, correction);
  if (failure !== undefined) return failure;
  const taught = await teach(deps, lessons.training, { correction, adapters });
  const lifts = await measureLifts(deps, { group, taught, adapters });
  // Generated contexts may be mastered where the user's own is not yet.
  const lift = Math.max(lifts.mean, ...lifts.byEvent.values());
  if (lift < settings.minLiftNats) return withoutLift(deps, work, { lift, lifts, lessons: lessons.training });
  const scoring = { tokenizer: base.tokenizer, vocabSize: base.config.vocabSize };
  const teaches = settings.defaultsYield ? taughtBy(group) : undefined;
  const held = await holdBack(engine, lessons.heldBack, { correction, ...(teaches && { teaches }), parent: adapters.parent, ...scoring });
  const corrected = await correctedRows(engine, group, {
    base,
    parent: adapters.parent,
    objective: OBJECTIVES[request.objective],
    baseline: request.baseline,
    hints: request.signals.hints,
    onTaught: deps.onTaught,
  });
  const run = await trainUntilShown(deps, {
    taught,
    corrected,
    objective: OBJECTIVES[request.objective],
    look: (adapter) => look(engine, held, { adapter, ...scoring }),
    lookFrom: LOOK_FROM,
    adapters,
    version: request.parentVersion,
    onStep: request.onStep,
  });
  return run.status === "refused" ? run : confirmed(deps, work, { run, held, corrected, contexts: taught.length, lifts: lifts.byEvent });
}

async function askTeacher(deps: LearnerDependencies, { group, adapters, request }: Work, correction: Correction): Promise<Lessons> {
  const { engine, base, settings } = deps;
  const lessons = await collectLessons(group, {
    correction,
    replay: request.replay,
    rehearsed: request.rehearsed,
    settings,
    base,
    ask: askGreedily(engine, { adapter: adapters.parent, endIds: base.tokenizer.endIds, seed: request.seed }),
    seed: request.seed,
  });
  deps.onTaught?.(countLessons(lessons));
  return lessons;
}

type Trained = {
  readonly run: Run;
  readonly held: HeldBack;
  readonly corrected: readonly CorrectedRow[];
  /** Lessons that were trained on. */
  readonly contexts: number;
  readonly lifts: ReadonlyMap<string, number>;
};

/** What was trained, once the candidate's own answers show it and nothing learned before is lost. */
async function confirmed(
  deps: LearnerDependencies,
  { group, adapters, request, earlier }: Work,
  { run, held, corrected, contexts, lifts }: Trained,
): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { adapter, ask } = await takeCandidate(deps, run.adapter, { adapters, seed: request.seed });
  const shortfall = await confirmationFailure(held, { ask, base, settings });
  if (shortfall !== undefined) return shortfall;
  const tools = [held.correction.tool.function.name];
  const cost = await costToEarlier(deps, earlier, { tools, adapter: adapters.candidate, ask });
  if (cost !== undefined) return cost;
  const { tokenizer, config } = base;
  const { driftNats } = await look(engine, held, { adapter: adapters.candidate, tokenizer, vocabSize: config.vocabSize });
  const staying = held.lessons.filter(({ context }) => mustStay(context));
  const klToBaseNats =
    adapters.parent === undefined
      ? driftNats
      : await driftBetween(deps, staying.map(studentRow), { from: undefined, to: adapters.candidate });
  const { steps, loss, lossBefore } = run;
  return {
    status: "learned",
    adapter,
    held,
    metrics: { steps, loss, lossBefore, klToParentNats: driftNats, klToBaseNats, contexts },
    changes: await describeChanges(deps, { group, ask }),
    lifts,
    credits: await creditsOf(deps, corrected, { parent: adapters.parent, objective: OBJECTIVES[request.objective] }),
  };
}

/** No update is better than its teacher: too few silent contexts in which the guided policy does what it is told end it here. */
function teacherFailure(
  { training, heldBack, silentAsked, silentFailed, tooLong }: Lessons,
  { hint }: Correction,
): RefusedCorrection | undefined {
  const taught = silentAsked - silentFailed;
  const enough = countKinds(training).silent >= MIN_SILENT_LESSONS && countKinds(heldBack).silent > 0;
  if (enough && taught >= MIN_TEACHER_SHARE * silentAsked) return undefined;
  const long = tooLong === 0 ? "" : `; ${tooLong} contexts were too long for a row`;
  return refuse(
    "teacher/fails",
    `under "${hintText(hint)}" the teacher uses the value in ${taught} of ${silentAsked} silent contexts${long}`,
  );
}
