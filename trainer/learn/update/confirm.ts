/**
 * Whether a candidate has learned what it should and nothing else, on contexts that were made for the correction and
 * never trained on. `look` is cheap and steers an update; `confirm` lets the candidate speak for itself before anybody sees it.
 * Both count what would go out: where what was said overrules the default, the parent's answer.
 */
import { at, zipStrict } from "../../../shared/assert.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { answerMasks } from "../../../shared/grammar/answer-masks.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { UpdateSettings } from "../../config.ts";
import { readAnswer } from "../../teacher/answer-text.ts";
import { mustStay, ownRow, shows, studentRow, type Lesson } from "../../teacher/answers.ts";
import type { AskPolicy } from "../../teacher/lead.ts";
import type { ContextKind, Correction } from "../../teacher/contexts.ts";
import { argumentSpan } from "../../../shared/argument-span.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import { passedFor } from "../../../shared/held-notes.ts";
import { holds, tells } from "../../../shared/yielding.ts";
import type { LearnerDependencies } from "./candidate.ts";
import { refuse, type RefusedCorrection } from "./result.ts";
import { meanKlNats, scoreRows, type RowScore, type Scoring } from "../lesson/scores.ts";
import { mean, oneOf, percent, share } from "./shares.ts";

type Base = Pick<LearnerDependencies["base"], "tokenizer" | "grammars">;

export type HeldBack = {
  readonly correction: Correction;
  readonly lessons: readonly Lesson[];
  /** Whole distributions of the parent on the lessons that must stay as they are. */
  readonly before: ReadonlyMap<Lesson, RowScore>;
  /** Lessons in which the parent tells what was said, so that the default yields as it is served; none of what is no default. */
  readonly told: ReadonlySet<Lesson>;
  /** Whether a version will carry it, and be held to it where its weights pass it over. */
  readonly carried: boolean;
};

export type Look = {
  /** Share of silent contexts in which the value would be used, in [0, 1]. */
  readonly honoured: number;
  /** Share of the stated contexts won before in which the user's value would still win. */
  readonly kept: number;
  /** Mean KL(parent ‖ candidate) per token on contexts that must stay as they are, nats. */
  readonly driftNats: number;
  /** Share of those in which every token that was most probable still is. The mean hides one argument that has turned over. */
  readonly stays: number;
};

/** Holds lessons back with the parent's own view of them. @param options.teaches the default that a version will be served with, if any */
export async function holdBack(
  engine: Scoring,
  lessons: readonly Lesson[],
  {
    correction,
    teaches,
    parent,
    tokenizer,
    vocabSize,
  }: { correction: Correction; teaches?: LearnedDefault; parent: string | undefined; tokenizer: Tokenizer; vocabSize: number },
): Promise<HeldBack> {
  const staying = lessons.filter(({ context }) => mustStay(context));
  const scores = await scoreHeld(engine, staying, { adapter: parent, vocabSize });
  const told = teaches === undefined ? new Set<Lesson>() : await toldByParent(engine, lessons, { teaches, parent, tokenizer, vocabSize });
  return { correction, lessons, before: new Map(zipStrict(staying, scores)), told, carried: teaches !== undefined };
}

/** Where the parent fills the argument by itself, surely, with what is neither the default nor was made up. Log-probs are without the grammar's mask, under which it may be surer. */
async function toldByParent(
  engine: Scoring,
  lessons: readonly Lesson[],
  {
    teaches,
    parent,
    tokenizer,
    vocabSize,
  }: { teaches: LearnedDefault; parent: string | undefined; tokenizer: Tokenizer; vocabSize: number },
): Promise<ReadonlySet<Lesson>> {
  const { tool, parameter, value, corrected } = teaches;
  const about = { tool, parameter, corrected: corrected === null ? [value] : [value, corrected] };
  const asked = lessons.filter(({ context }) => !mustStay(context));
  const rows = asked.map(ownRow);
  const scores = await scoreRows(engine, rows, { adapter: parent, vocabSize });
  const told = zipStrict(asked, scores).filter(([{ own: tokens, context: heard }, { logProbs }]) =>
    tells(tokenizer, about, { without: { tokens, logProbs, call: readAnswer(tokenizer, tokens).calls[0] }, heard }),
  );
  return new Set(told.map(([lesson]) => lesson));
}

/** Reads the most probable tokens at the corrected argument, given the teacher's answer up to there; no decoding, so it is cheap. */
export async function look(
  engine: Scoring,
  held: HeldBack,
  { adapter, tokenizer, vocabSize }: { adapter: string; tokenizer: Tokenizer; vocabSize: number },
): Promise<Look> {
  const scores = await scoreHeld(engine, held.lessons, { adapter, vocabSize });
  const others = held.lessons.flatMap((lesson, index) => {
    const before = held.before.get(lesson);
    return before === undefined ? [] : [{ before, after: at(scores, index) }];
  });
  const agreed = held.lessons.map((lesson, index) =>
    held.told.has(lesson) ? lesson.context.kind === "stated" : agrees(tokenizer, held.correction, { lesson, score: at(scores, index) }),
  );
  return {
    honoured: share(agreed.filter((_, index) => at(held.lessons, index).context.kind === "silent")),
    kept: share(wonBefore(tokenizer, held).map((index) => at(agreed, index))),
    driftNats: mean(others.map(({ before, after }) => meanKlNats(before.full, after.full, vocabSize))),
    stays: share(others.map(({ before, after }) => before.argmax.every((token, index) => token === after.argmax[index]))),
  };
}

/** How the parent did before: the share of silent contexts in which it used the value already. */
function honouredBefore(tokenizer: Tokenizer, { lessons, correction }: HeldBack): number {
  const silent = lessons.filter(({ context }) => context.kind === "silent");
  return share(silent.map(({ context, own }) => shows(context, correction, readAnswer(tokenizer, own))));
}

/** Shares over the candidate's own greedy answers, as they would go out: `honoured` of the `silent` contexts, `kept` of the stated ones that were `won` before. */
async function confirm(
  ask: AskPolicy,
  { tokenizer, grammars }: Base,
  held: HeldBack,
): Promise<{ honoured: number; silent: number; kept: number; won: number }> {
  const won = wonBefore(tokenizer, held).map((index) => at(held.lessons, index));
  const silent = held.lessons.filter(({ context }) => context.kind === "silent");
  const answers = await ask(
    [...silent, ...won].map(({ studentPrompt: prompt, answer, context: { tools } }) => {
      const lets = answerMasks(grammars, { tools, form: FREE_FORM, tokens: answer }) !== undefined;
      return { prompt, tools, supposed: lets ? answer : undefined };
    }),
  );
  const right = [...silent, ...won].map((lesson, index) =>
    shows(lesson.context, held.correction, readAnswer(tokenizer, asServed(tokenizer, held, { lesson, answer: answers[index] ?? [] }))),
  );
  const [honoured, kept] = [share(right.slice(0, silent.length)), share(right.slice(silent.length))];
  return { honoured, silent: silent.length, kept, won: won.length };
}

/** What goes out for a candidate's answer: one with the default, or what nobody said, yields to the parent's where that tells what was said. */
function asServed(
  tokenizer: Tokenizer,
  { correction: { tool, parameter, hint }, told }: HeldBack,
  { lesson, answer }: { lesson: Lesson; answer: readonly number[] },
): readonly number[] {
  if (!told.has(lesson)) return answer;
  const learned = { tool: tool.function.name, parameter: parameter.name, value: hint.value };
  const [call] = readAnswer(tokenizer, answer).calls;
  return holds(learned, { call }) || passedFor(learned, { call, heard: lesson.context }) !== undefined ? lesson.own : answer;
}

/** What the candidate's own answers fall short of, if anything. */
export async function confirmationFailure(
  held: HeldBack,
  { ask, base, settings }: { ask: AskPolicy; base: Base; settings: UpdateSettings },
): Promise<RefusedCorrection | undefined> {
  const { honoured, silent, kept, won } = await confirm(ask, base, held);
  const before = honouredBefore(base.tokenizer, held);
  const bar = held.carried ? settings.carriedBar : settings.honouredBar;
  if (honoured < Math.max(bar, before - oneOf(silent)))
    return refuse(
      "update/notLearned",
      `used unasked in ${percent(honoured)} of held-back contexts, ${percent(bar)} expected, ${percent(before)} before`,
    );
  if (kept < Math.min(settings.statedBar, 1 - oneOf(won)))
    return refuse(
      "update/deaf",
      `the user's own value wins in ${percent(kept)} of held-back contexts, ${percent(settings.statedBar)} expected`,
    );
  return undefined;
}

/** Stated contexts in which the user's value won under the parent: what was never won cannot be lost. */
function wonBefore(tokenizer: Tokenizer, { lessons, correction }: HeldBack): number[] {
  return lessons.flatMap(({ context, own }, index) =>
    context.kind === "stated" && shows(context, correction, readAnswer(tokenizer, own)) ? [index] : [],
  );
}

/**
 * Whether the policy would write the lesson's argument. Where the user stated the value, the call up to there is asked, too: a
 * default begins the call, so a policy that is deaf leaves its old answer long before the argument stands in it.
 */
function agrees(tokenizer: Tokenizer, { parameter }: Correction, { lesson, score }: { lesson: Lesson; score: RowScore }): boolean {
  const span = argumentSpan(tokenizer, lesson.answer, parameter.name);
  if (span === undefined) return false;
  const from = lesson.context.kind === "stated" ? 0 : span.from;
  return lesson.answer.slice(from, span.to).every((token, offset) => score.argmax[from + offset] === token);
}

/** Scores in the order of `lessons`; whole distributions only where drift is measured, since they are most of the cost. */
async function scoreHeld(
  engine: Scoring,
  lessons: readonly Lesson[],
  { adapter, vocabSize }: { adapter: string | undefined; vocabSize: number },
): Promise<RowScore[]> {
  const scores = new Map<Lesson, RowScore>();
  for (const full of [true, false]) {
    const some = lessons.filter(({ context }) => mustStay(context) === full);
    const rows = some.map(studentRow);
    zipStrict(some, await scoreRows(engine, rows, { adapter, full, vocabSize })).forEach(([lesson, score]) => scores.set(lesson, score));
  }
  return lessons.map((lesson) => scores.get(lesson)).filter((score) => score !== undefined);
}

export function countKinds(lessons: readonly Lesson[]): Record<ContextKind, number> {
  const counts: Record<ContextKind, number> = { silent: 0, stated: 0, other: 0, anchor: 0 };
  for (const { context } of lessons) counts[context.kind] += 1;
  return counts;
}
