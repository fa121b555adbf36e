/**
 * The corrected turns' own sampled tokens, with what the teacher under the hint says about each and the credited reward.
 * Outside the corrected argument the teacher differs by habit alone: under a hint it begins the call with what the hint
 * names, and taken as advice that would push away the right first argument.
 */
import { isAspect } from "../../../shared/aspects.ts";
import { at, zipStrict } from "../../../shared/assert.ts";
import { type ChatMessage, withGuidance } from "../../../shared/chat.ts";
import { hintText } from "../../../shared/jobs.ts";
import type { TurnFinished } from "../../../shared/events.ts";
import type { AnswerGrammars } from "../../../shared/grammar/answer-grammars.ts";
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import { answerMasks } from "../../../shared/grammar/answer-masks.ts";
import type { TokenMask } from "../../../shared/grammar/token-grammar.ts";
import { creditedAdvantages } from "../../advantage/credit.ts";
import { chooseHints, mixTeachers, type HintChoice } from "../../advantage/hint-choice.ts";
import { readCalls } from "../../../shared/speech/calls.ts";
import { argumentSpan } from "../../../shared/argument-span.ts";
import { mentions } from "../../../shared/speech/mention.ts";
import { prompted, untold } from "../../data/exchange.ts";
import { sentencesOf } from "../../../shared/speech/sentences.ts";
import type { Correction } from "../../teacher/contexts.ts";
import type { LearnerDependencies } from "../update/candidate.ts";
import type { CorrectedExchange } from "../update/learner.ts";
import type { Objective } from "../update/objective.ts";
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
 * argument in its prompt. A turn whose sampled tokens nobody told has none: hindsight and reward are about what was
 * sampled. Turns drawn with top_p < 1, or under a mask that the log does not tell, carry no reward: their ratios mean nothing.
 */
export async function correctedRows(
  engine: Scoring,
  corrected: readonly CorrectedExchange[],
  {
    base,
    parent,
    objective,
    baseline,
    hints,
    onTaught,
  }: {
    base: LearnerDependencies["base"];
    parent: string | undefined;
    objective: Objective;
    baseline: number;
    hints: SignalSettings["hints"];
    /** Told how many turns are too long for a row, and of how many nobody told the tokens, where any is. */
    onTaught?: LearnerDependencies["onTaught"];
  },
): Promise<CorrectedRow[]> {
  const { tokenizer, grammars, config } = base;
  const { vocabSize } = config;
  const leftOut = { long: 0, untold: 0 };
  // Aspects are learned from answers, not from the tokens of one argument.
  const turns = corrected
    .filter(({ correction: { parameter } }) => !isAspect(parameter.name))
    .flatMap(({ eventId, correction, reward, words, share, turns: own }) => {
      const wordings = wordingsOf(correction, words, hints.candidates);
      return own.map(({ payload, turnId }) => ({ payload, correction, reward, share, eventId, turnId, wordings }));
    });
  const pairs = turns.flatMap(({ payload, correction, reward, share, eventId, turnId, wordings }) => {
    // Under a note, or after a yes that nobody gave, the prompt held more than the teacher's: to push against what followed from that would
    // teach the policy to be deaf to notes, and to overrule who says yes.
    if (prompted(payload) !== undefined) return [];
    const { promptTokens, responseTokens, sampling } = payload.rollout;
    const calls = callsTool(payload.answer, correction);
    if (untold(payload) !== undefined) {
      leftOut.untold += calls || objective.credit === "all" ? 1 : 0;
      return [];
    }
    const argument = calls ? argumentSpan(tokenizer, responseTokens, correction.parameter.name, correction.tool.function.name) : undefined;
    const span = objective.credit === "all" ? { from: 0, to: responseTokens.length } : argument;
    if (span === undefined) return [];
    const teacherPrompts = wordings
      .map((hint) => {
        const messages = withGuidance(payload.messages, { hint });
        return tokenizer.encodePrompt({ messages, tools: payload.tools, addGenerationPrompt: true });
      })
      .filter((prompt) => fits(base, prompt.length, responseTokens.length));
    if (teacherPrompts.length === 0 || !fits(base, promptTokens.length, responseTokens.length)) {
      leftOut.long += 1;
      return [];
    }
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
        teachers: teacherPrompts.map((prompt) => ({ prompt, answer: responseTokens })),
        advantage: comparable ? reward - (objective.baseline ? baseline : 0) : 0,
      },
    ];
  });
  if (leftOut.long > 0) onTaught?.({ "corrected too long": leftOut.long });
  if (leftOut.untold > 0) onTaught?.({ "corrected untold": leftOut.untold });
  const choosing = pairs.some(({ teachers }) => teachers.length > 1);
  const students = await scoreRows(
    engine,
    pairs.map(({ student }) => student),
    { adapter: parent, full: choosing, vocabSize },
  );
  const candidates = await scoreRows(
    engine,
    pairs.flatMap(({ teachers }) => teachers),
    { adapter: parent, full: true, vocabSize },
  );
  const weights = splitShares(pairs);
  return zipStrict(pairs, students).map(([{ eventId, turnId, student: row, teachers, span, masks, advantage }, studentScore], index) => {
    const teacher = hintedTeacher(candidates.splice(0, teachers.length), {
      student: studentScore,
      answer: row.answer,
      choice: hints.choice,
      vocabSize,
    });
    const credited =
      objective.credit === "all"
        ? row.answer.map(() => advantage)
        : creditedAdvantages(advantage, { teacherLogProbs: [...teacher.logProbs], studentLogProbs: [...studentScore.logProbs] });
    return { eventId, turnId, row, span, masks, teacher, advantages: credited, weight: weights[index] ?? 0 };
  });
}

/** What the teacher may be told, shortest first: the hint, the user's sentence with its value, and all that the user said. */
function wordingsOf({ hint, parameter }: Correction, words: string, most: number): string[] {
  const said = sentencesOf(words).filter((sentence) => mentions(sentence, { parameter, value: hint.value }));
  const others = [...new Set([...said, words.trim()])].filter((wording) => wording !== "").slice(0, most - 1);
  return [...new Set([hintText(hint), ...others])].toSorted((a, b) => a.length - b.length);
}

/** The teacher under the hint that is chosen for it, or under each token's own. */
function hintedTeacher(
  scores: readonly RowScore[],
  { student, answer, choice, vocabSize }: { student: RowScore; answer: readonly number[]; choice: HintChoice; vocabSize: number },
): RowScore {
  const [only] = scores;
  if (only !== undefined && scores.length === 1) return only;
  const fulls = scores.map(({ full }) => full);
  const chosen = chooseHints(student.full, fulls, { vocabSize, choice });
  const pick = <T extends Float32Array | Int32Array>(parts: readonly T[], place: number): number => at(at(parts, at(chosen, place)), place);
  return {
    full: mixTeachers(fulls, chosen, vocabSize),
    logProbs: Float32Array.from(answer, (_, place) =>
      pick(
        scores.map(({ logProbs }) => logProbs),
        place,
      ),
    ),
    argmax: Int32Array.from(answer, (_, place) =>
      pick(
        scores.map(({ argmax }) => argmax),
        place,
      ),
    ),
  };
}

/** Each exchange's share in equal parts on its rows; what exchanges without rows leave goes to the others. Rows that nobody weighed have none. */
function splitShares(rows: readonly { eventId: string; share: number }[]): number[] {
  const counts = new Map<string, number>();
  for (const { eventId } of rows) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  const parts = rows.map(({ eventId, share }) => share / (counts.get(eventId) ?? 1));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => (total === 0 ? 0 : part / total));
}

/** What each token was drawn under; undefined where the log does not tell, or tells of others than would be made today. */
export function masksOf(
  { tools, rollout, notes = [], heldTo = [] }: TurnFinished,
  grammars: AnswerGrammars,
): (TokenMask | undefined)[] | undefined {
  const { responseTokens: tokens, sampling } = rollout;
  // Held to a note, or to what its version has learned, it was drawn under masks that the form does not tell.
  return sampling.form === undefined || heldTo.length > 0 || notes.some(({ held }) => held === true)
    ? undefined
    : answerMasks(grammars, { tools, form: sampling.form, tokens });
}

export function callsTool(answer: ChatMessage, { tool }: Correction): boolean {
  return readCalls(answer).some(({ name }) => name === tool.function.name);
}
