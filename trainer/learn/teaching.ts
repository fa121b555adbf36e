/** The teacher's side of an update: distributions to match, and how far the teacher is ahead. */
import { zipStrict } from "../../shared/assert.ts";
import type { Lesson } from "../teacher/answers.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import type { CorrectedExchange } from "./learner.ts";
import { scoreRows, sharpen, totalLogProb } from "./scores.ts";
import type { TaughtLesson } from "./train.ts";

/**
 * Distributions of the teacher, under its guidance, at every token of its answers. Answers that were checked are
 * taught with more certainty than the teacher has; what must stay as it is keeps the parent's own distribution.
 */
export async function teach(
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
export async function measureLifts(
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
