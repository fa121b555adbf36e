/**
 * The corrected turns' own sampled tokens, with what the teacher under the hint says about each and the credited reward.
 * Outside the corrected argument the teacher differs by habit alone: under a hint it begins the call with what the hint
 * names, and taken as advice that would push away the right first argument.
 */
import { type ChatMessage, withGuidance } from "../../shared/chat.ts";
import { hintText, parseHint } from "../../shared/jobs.ts";
import type { TurnFinished } from "../../shared/events.ts";
import type { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { answerMasks } from "../../shared/grammar/answer-masks.ts";
import type { TokenMask } from "../../shared/grammar/token-grammar.ts";
import { creditedAdvantages } from "../advantage/credit.ts";
import { readCalls } from "../data/calls.ts";
import { argumentSpan } from "../../shared/argument-span.ts";
import type { Correction } from "../teacher/contexts.ts";
import type { LearnerDependencies } from "./candidate.ts";
import type { CorrectedExchange } from "./learner.ts";
import type { Objective } from "./objective.ts";
import { fits, type Row } from "./rows.ts";
import { scoreRows, type RowScore, type Scoring } from "./scores.ts";

export type CorrectedRow = {
  readonly eventId: string;
  readonly turnId: string;
  readonly row: Row;
  /** Tokens [from, to) of the answer that hindsight and reward are about: the corrected argument, or all for a method that credits all. */
  readonly span: { readonly from: number; readonly to: number };
  /** Under the hint, at the student's tokens. */
  readonly teacher: RowScore;
  /** A_t of the binary reward. */
  readonly advantages: readonly number[];
  /** What each token was drawn under. */
  readonly masks: readonly (TokenMask | undefined)[];
  /** Its part of the weight of all rows, which add up to 1: an exchange's share, split among its rows. */
  readonly weight: number;
};

/**
 * Rows of every turn of the exchanges that the context holds, that has the tokens in question and had no note of the
 * argument in its prompt. Turns drawn with top_p < 1, or under a mask that the log does not tell, carry no reward: their
 * ratios mean nothing.
 */
export async function correctedRows(
  engine: Scoring,
  corrected: readonly CorrectedExchange[],
  {
    base: { tokenizer, grammars, config },
    parent,
    objective,
    baseline,
  }: { base: LearnerDependencies["base"]; parent: string | undefined; objective: Objective; baseline: number },
): Promise<CorrectedRow[]> {
  const { vocabSize } = config;
  const turns = corrected.flatMap(({ eventId, correction, reward, share, turns: own }) =>
    own.map(({ payload, turnId }) => ({ payload, correction, reward, share, eventId, turnId })),
  );
  const pairs = turns.flatMap(({ payload, correction, reward, share, eventId, turnId }) => {
    // Served under a note of the same argument: to push against its value there would teach the policy to be deaf to notes.
    if (payload.notes?.some(({ text }) => isAbout(text, correction)) === true) return [];
    const { promptTokens, responseTokens, sampling } = payload.rollout;
    const argument = callsTool(payload.answer, correction) ? argumentSpan(tokenizer, responseTokens, correction.parameter.name) : undefined;
    const span = objective.credit === "all" ? { from: 0, to: responseTokens.length } : argument;
    if (span === undefined) return [];
    const teacherPrompt = tokenizer.encodePrompt({
      messages: withGuidance(payload.messages, { hint: hintText(correction.hint) }),
      tools: payload.tools,
      addGenerationPrompt: true,
    });
    if (!fits(Math.max(teacherPrompt.length, promptTokens.length), responseTokens.length)) return [];
    const masks = sampling.masked ? masksOf(payload, grammars) : [];
    const comparable = sampling.topP >= 1 && masks !== undefined;
    return [
      {
        eventId,
        turnId,
        share,
        span,
        masks: masks ?? [],
        student: { prompt: promptTokens, answer: responseTokens },
        teacher: { prompt: teacherPrompt, answer: responseTokens },
        advantage: comparable ? reward - (objective.baseline ? baseline : 0) : 0,
      },
    ];
  });
  const students = await scoreRows(
    engine,
    pairs.map(({ student }) => student),
    { adapter: parent, vocabSize },
  );
  const teachers = await scoreRows(
    engine,
    pairs.map(({ teacher }) => teacher),
    { adapter: parent, full: true, vocabSize },
  );
  const weights = splitShares(pairs);
  return pairs.flatMap(({ eventId, turnId, student: row, span, masks, advantage }, index) => {
    const [studentScore, teacher] = [students[index], teachers[index]];
    if (studentScore === undefined || teacher === undefined) return [];
    const credited =
      objective.credit === "all"
        ? row.answer.map(() => advantage)
        : creditedAdvantages(advantage, { teacherLogProbs: [...teacher.logProbs], studentLogProbs: [...studentScore.logProbs] });
    return [{ eventId, turnId, row, span, masks, teacher, advantages: credited, weight: weights[index] ?? 0 }];
  });
}

/** Each exchange's share in equal parts on its rows; what exchanges without rows leave goes to the others. */
function splitShares(rows: readonly { eventId: string; share: number }[]): number[] {
  const counts = new Map<string, number>();
  for (const { eventId } of rows) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  const parts = rows.map(({ eventId, share }) => share / (counts.get(eventId) ?? 1));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

/** Undefined where the log does not tell them, or tells of others than would be made today. */
function masksOf({ tools, rollout }: TurnFinished, grammars: AnswerGrammars): (TokenMask | undefined)[] | undefined {
  const { responseTokens: tokens, sampling } = rollout;
  return sampling.form === undefined ? undefined : answerMasks(grammars, { tools, form: sampling.form, tokens });
}

function callsTool(answer: ChatMessage, { tool }: Correction): boolean {
  return readCalls(answer).some(({ name }) => name === tool.function.name);
}

function isAbout(note: string, { parameter }: Correction): boolean {
  const parsed = parseHint(note);
  return parsed.kind === "hint" && parsed.hint.parameter === parameter.name;
}
