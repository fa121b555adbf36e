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

type Options = {
  readonly base: LearnerDependencies["base"];
  readonly parent: string | undefined;
  readonly objective: Objective;
  readonly baseline: number;
  readonly hints: SignalSettings["hints"];
  /** Told how many turns are too long for a row, and of how many nobody told the tokens, where any is. */
  readonly onTaught?: LearnerDependencies["onTaught"];
};

/**
 * Rows of every turn of the exchanges that the context holds, that has the tokens in question and had no note of the
 * argument in its prompt. A turn whose sampled tokens nobody told has none: hindsight and reward are about what was
 * sampled. Turns drawn with top_p < 1, or under a mask that the log does not tell, carry no reward: their ratios mean nothing.
 */
export async function correctedRows(engine: Scoring, corrected: readonly CorrectedExchange[], options: Options): Promise<CorrectedRow[]> {
  const { base, parent, objective, hints, onTaught } = options;
  const { vocabSize } = base.config;
  const read = turnsOf(corrected, hints.candidates).map((turn) => readTurn(turn, options));
  const leftOut = (why: LeftOut): number => read.filter((each) => each === why).length;
  if (leftOut("long") > 0) onTaught?.({ "corrected too long": leftOut("long") });
  if (leftOut("untold") > 0) onTaught?.({ "corrected untold": leftOut("untold") });
  const turns = read.filter((each) => typeof each === "object");
  const students = await scoreRows(
    engine,
    turns.map(({ row }) => row),
    { adapter: parent, full: turns.some(({ teachers }) => teachers.length > 1), vocabSize },
  );
  const candidates = await scoreRows(
    engine,
    turns.flatMap(({ teachers }) => teachers),
    { adapter: parent, full: true, vocabSize },
  );
  const weights = splitShares(turns);
  return zipStrict(turns, students).map(([{ eventId, turnId, row, teachers, span, masks, advantage }, student], index) => {
    const hinted = candidates.splice(0, teachers.length);
    const teacher = hintedTeacher(hinted, { student, answer: row.answer, choice: hints.choice, vocabSize });
    const advantages =
      objective.credit === "all"
        ? row.answer.map(() => advantage)
        : creditedAdvantages(advantage, { teacherLogProbs: [...teacher.logProbs], studentLogProbs: [...student.logProbs] });
    return { eventId, turnId, row, span, masks, teacher, advantages, weight: at(weights, index) };
  });
}

/** A turn of a corrected exchange, and what its teacher may be told. */
type CorrectedTurn = Pick<CorrectedExchange, "eventId" | "correction" | "reward" | "share"> &
  Pick<CorrectedExchange["turns"][number], "payload" | "turnId"> & { readonly wordings: readonly string[] };

function turnsOf(corrected: readonly CorrectedExchange[], candidates: number): CorrectedTurn[] {
  return corrected
    .filter(({ correction: { parameter } }) => !isAspect(parameter.name)) // aspects are learned from answers, not from the tokens of one argument
    .flatMap(({ eventId, correction, reward, words, share, turns }) => {
      const wordings = wordingsOf(correction, words, candidates);
      return turns.map(({ payload, turnId }) => ({ payload, correction, reward, share, eventId, turnId, wordings }));
    });
}

/** Why a turn that is in question has no row. */
type LeftOut = "long" | "untold";

/** What a turn's row needs before it is scored; undefined where the turn is not in question. */
type ReadTurn = Pick<CorrectedRow, "eventId" | "turnId" | "row" | "span" | "masks"> &
  Pick<CorrectedTurn, "share"> & { readonly teachers: readonly Row[]; readonly advantage: number };

function readTurn(turn: CorrectedTurn, { base, objective, baseline }: Options): ReadTurn | LeftOut | undefined {
  const { payload, correction, wordings } = turn;
  // Under a note, or after a yes that nobody gave, the prompt held more than the teacher's: to push against what followed from that would
  // teach the policy to be deaf to notes, and to overrule who says yes.
  if (prompted(payload) !== undefined) return undefined;
  const all = objective.credit === "all";
  if (!all && !callsTool(payload.answer, correction)) return undefined;
  if (untold(payload) !== undefined) return "untold";
  const { promptTokens: prompt, responseTokens: answer, sampling } = payload.rollout;
  const span = all ? { from: 0, to: answer.length } : correctedSpan(base, answer, correction);
  if (span === undefined) return undefined;
  const teachers = wordings.map((hint) => ({ prompt: hintedPrompt(base, payload, hint), answer })).filter((row) => fitsRow(base, row));
  if (teachers.length === 0 || !fitsRow(base, { prompt, answer })) return "long";
  const masks = sampling.masked ? masksOf(payload, base.grammars) : [];
  const comparable = sampling.topP >= 1 && masks !== undefined;
  const advantage = comparable ? turn.reward - (objective.baseline ? baseline : 0) : 0;
  const { eventId, turnId, share } = turn;
  return { eventId, turnId, share, span, masks: masks ?? [], row: { prompt, answer }, teachers, advantage };
}

function correctedSpan(
  { tokenizer }: Options["base"],
  answer: readonly number[],
  { parameter, tool }: Correction,
): CorrectedRow["span"] | undefined {
  return argumentSpan(tokenizer, answer, parameter.name, tool.function.name);
}

function hintedPrompt({ tokenizer }: Options["base"], { messages, tools }: TurnFinished, hint: string): number[] {
  return tokenizer.encodePrompt({ messages: withGuidance(messages, { hint }), tools, addGenerationPrompt: true });
}

function fitsRow(base: Options["base"], { prompt, answer }: Row): boolean {
  return fits(base, prompt.length, answer.length);
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
  const scoreAt = (place: number): RowScore => at(scores, at(chosen, place));
  return {
    full: mixTeachers(fulls, chosen, vocabSize),
    logProbs: Float32Array.from(answer, (_, place) => at(scoreAt(place).logProbs, place)),
    argmax: Int32Array.from(answer, (_, place) => at(scoreAt(place).argmax, place)),
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
