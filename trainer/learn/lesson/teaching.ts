/** The teacher's side of an update: distributions to match, and how far the teacher is ahead. */
import { at, zipStrict } from "../../../shared/assert.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import { readAnswer } from "../../teacher/answer-text.ts";
import { mustStay, ownRow, studentRow, type Lesson } from "../../teacher/answers.ts";
import type { Correction } from "../../teacher/contexts.ts";
import { forceLogProbs } from "../../teacher/forced.ts";
import type { Adapters, LearnerDependencies } from "../update/candidate.ts";
import type { CorrectedExchange } from "../update/learner.ts";
import { withOwnRest } from "./reworded.ts";
import { scoreRows, sharpen, totalLogProb } from "./scores.ts";
import type { TaughtLesson } from "../update/train.ts";

const REPLY_TOKENS = 48;

/**
 * Distributions of the teacher, under its guidance, at every token of its answers. Guided answers that were checked are
 * taught with more certainty than the teacher has, forced ones at the forced argument alone; what must stay as it is
 * keeps the parent's own distribution.
 */
export async function teach(
  deps: Pick<LearnerDependencies, "engine" | "base" | "settings">,
  lessons: readonly Lesson[],
  { correction, adapters }: { correction: Correction; adapters: Adapters },
): Promise<TaughtLesson[]> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const cut = lessons.map((lesson) => withoutRest(base.tokenizer, lesson));
  const rows = cut.map(({ teacherPrompt: prompt, answer }) => ({ prompt, answer }));
  const scores = await scoreRows(engine, rows, { adapter: adapters.parent, full: true, vocabSize });
  const reworded = cut.filter((lesson) => isReworded(base.tokenizer, lesson));
  const ownRows = reworded.map(ownRow);
  const ownScores = await scoreRows(engine, ownRows, { adapter: adapters.parent, full: true, vocabSize });
  return zipStrict(cut, scores).map(([lesson, { full, argmax }]) => {
    const { answer, guidance, own } = lesson;
    if (guidance === "forced") {
      const forced = forceLogProbs(base.tokenizer, { full, argmax }, { answer, parameter: correction.parameter.name, vocabSize });
      const ownFull = ownScores[reworded.indexOf(lesson)]?.full;
      const held = ownFull === undefined ? forced : withOwnRest(forced, { own, ownFull, reply: answer, vocabSize });
      return { lesson, teacherLogProbs: held, teacherLogProb: answerLogProb(held, answer, vocabSize) };
    }
    const taught = guidance === "none" ? full : sharpen(full, { temperature: settings.teacherTemperature, vocabSize });
    return { lesson, teacherLogProbs: taught, teacherLogProb: answerLogProb(full, answer, vocabSize) };
  });
}

/** Whether a lesson has words in the place of words. */
function isReworded(tokenizer: Tokenizer, { guidance, answer, own }: Lesson): boolean {
  const open = tokenizer.specialIds.get("<tool_call>");
  return guidance === "forced" && answer[0] !== open && own[0] !== open;
}

/** A reply that is to stay as it is, without its rest: one of ninety tokens is attended from as far in every row of its batch. Calls stay whole. */
function withoutRest(tokenizer: Tokenizer, lesson: Lesson): Lesson {
  const { context, answer } = lesson;
  if (!mustStay(context) || answer.length <= REPLY_TOKENS || readAnswer(tokenizer, answer).calls.length > 0) return lesson;
  return { ...lesson, answer: answer.slice(0, REPLY_TOKENS) };
}

/** Σ ln p of the answer's tokens from whole distributions [n·V], nats. */
function answerLogProb(logProbs: Float32Array, answer: readonly number[], vocabSize: number): number {
  return answer.reduce((sum, token, index) => sum + at(logProbs, index * vocabSize + token), 0);
}

/** Lift of a silent lesson: ln p_teacher − ln p_student of the teacher's answer, nats. An exchange has the lift of its own turn where that is a lesson, else the mean. */
export async function measureLifts(
  { engine, base }: LearnerDependencies,
  { group, taught, adapters }: { group: readonly CorrectedExchange[]; taught: readonly TaughtLesson[]; adapters: Adapters },
): Promise<{ mean: number; byEvent: Map<string, number> }> {
  const silent = taught.filter(({ lesson }) => lesson.context.kind === "silent");
  const students = await scoreRows(
    engine,
    silent.map(({ lesson }) => studentRow(lesson)),
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
