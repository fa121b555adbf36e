/**
 * Learns one correction: lessons from the teacher, steps until the held-back contexts show it, a last word by the
 * candidate itself. Refuses where the teacher fails, where there is nothing to gain, and where the price is deafness or drift.
 */
import { hintText } from "../../../shared/jobs.ts";
import { mustStay, studentRow } from "../../teacher/answers.ts";
import type { Correction } from "../../teacher/contexts.ts";
import { askGreedily, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import { confirmationFailure, countKinds, holdBack, look } from "./confirm.ts";
import { correctedRows } from "../lesson/corrected-rows.ts";
import { creditsOf } from "./credits.ts";
import { costToEarlier } from "./earlier.ts";
import { collectLessons, countLessons, type Lessons } from "../lesson/lessons.ts";
import { OBJECTIVES } from "./objective.ts";
import { describeChanges, driftBetween } from "./report.ts";
import { refuse, refuseUnmarked, type CorrectionResult, type RefusedCorrection, type Work } from "./result.ts";
import { trainUntilShown } from "./run.ts";
import { latest, taughtBy } from "./taught-default.ts";
import { measureLifts, teach } from "../lesson/teaching.ts";
import { withoutLift } from "./unmoved.ts";

const LOOK_FROM = 15; // steps; no correction of a bench has met its bars in ten
const MIN_SILENT_LESSONS = 3;
const MIN_TEACHER_SHARE = 0.25; // of silent contexts; below it the few successes are luck

export async function learnCorrection(deps: LearnerDependencies, work: Work): Promise<CorrectionResult> {
  const { group, adapters, request, earlier } = work;
  const { engine, base, settings } = deps;
  const { tokenizer } = base;
  const { vocabSize } = base.config;
  const unmarked = refuseUnmarked(tokenizer);
  if (unmarked !== undefined) return unmarked;
  const { correction } = latest(group);
  const askParent = askGreedily(engine, { adapter: adapters.parent, endIds: tokenizer.endIds, seed: request.seed });
  const lessons = await collectLessons(group, {
    correction,
    replay: request.replay,
    rehearsed: request.rehearsed,
    settings,
    base,
    ask: askParent,
    seed: request.seed,
  });
  deps.onTaught?.(countLessons(lessons));
  const failure = teacherFailure(lessons, correction);
  if (failure !== undefined) return failure;
  const taught = await teach(deps, lessons.training, { correction, adapters });
  const lifts = await measureLifts(deps, { group, taught, adapters });
  // Generated contexts may be mastered where the user's own is not yet.
  const lift = Math.max(lifts.mean, ...lifts.byEvent.values());
  if (lift < settings.minLiftNats) return withoutLift(deps, work, { lift, lifts, lessons: lessons.training });
  const teaches = settings.defaultsYield ? taughtBy(group) : undefined;
  const held = await holdBack(engine, lessons.heldBack, {
    correction,
    ...(teaches && { teaches }),
    parent: adapters.parent,
    tokenizer,
    vocabSize,
  });
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
    look: (adapter) => look(engine, held, { adapter, tokenizer, vocabSize }),
    lookFrom: LOOK_FROM,
    adapters,
    version: request.parentVersion,
    onStep: request.onStep,
  });
  if (run.status === "refused") return run;
  const { adapter, ask: askCandidate } = await takeCandidate(deps, run.adapter, { adapters, seed: request.seed });
  const shortfall = await confirmationFailure(held, { ask: askCandidate, base, settings });
  if (shortfall !== undefined) return shortfall;
  const cost = await costToEarlier(deps, earlier, {
    tools: [correction.tool.function.name],
    adapter: adapters.candidate,
    ask: askCandidate,
  });
  if (cost !== undefined) return cost;
  const { steps, loss, lossBefore } = run;
  const { driftNats } = await look(engine, held, { adapter: adapters.candidate, tokenizer, vocabSize });
  const staying = held.lessons.filter(({ context }) => mustStay(context));
  const klToBaseNats =
    adapters.parent === undefined
      ? driftNats
      : await driftBetween(deps, staying.map(studentRow), { from: undefined, to: adapters.candidate });
  return {
    status: "learned",
    adapter,
    held,
    metrics: { steps, loss, lossBefore, klToParentNats: driftNats, klToBaseNats, contexts: taught.length },
    changes: await describeChanges(deps, { group, ask: askCandidate }),
    lifts: lifts.byEvent,
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
