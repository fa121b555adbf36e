/**
 * What an update's first step says about each token that a corrected turn was answered with, for people to see:
 *
 *   A_t = c_reward · A_t^reward + c_hindsight · A_v, v = y_t       (train.ts; objective.ts)
 *
 * within the span that hindsight and reward are about, 0 elsewhere. At ρ = 1 it is how strongly the loss moves ln π(y_t), up or down.
 */
import type { TurnCredit } from "../../../shared/credit.ts";
import { hindsightCandidates, TOP_K } from "../../advantage/hindsight.ts";
import type { LearnerDependencies } from "./candidate.ts";
import type { CorrectedRow } from "../lesson/corrected-rows.ts";
import type { Objective } from "./objective.ts";
import { scoreRows } from "../lesson/scores.ts";

const DIGITS = 3; // significant ones that are kept

/** One for each row, in order. `parent` undefined is the bare base. */
export async function creditsOf(
  { engine, base: { tokenizer, config } }: Pick<LearnerDependencies, "engine" | "base">,
  corrected: readonly CorrectedRow[],
  { parent, objective }: { parent: string | undefined; objective: Objective },
): Promise<TurnCredit[]> {
  const { vocabSize } = config;
  const rows = corrected.map(({ row }) => row);
  const students = await scoreRows(engine, rows, { adapter: parent, full: true, vocabSize });
  return corrected.map((each, index) => {
    const perToken = tokenAdvantages(each, students[index]?.full ?? new Float32Array(0), { objective, vocabSize });
    return { eventId: each.eventId, turnId: each.turnId, pieces: piecesOf(each.row.answer, perToken, (ids) => tokenizer.decode(ids)) };
  });
}

/** A_t of each token of a corrected answer. @param student whole distributions [n·V] of the parent */
export function tokenAdvantages(
  { row, span, teacher, advantages }: CorrectedRow,
  student: Float32Array,
  { objective, vocabSize }: { objective: Pick<Objective, "reward" | "hindsight">; vocabSize: number },
): number[] {
  const candidates = hindsightCandidates(student, teacher.full, { vocabSize });
  return row.answer.map((token, place) => {
    if (place < span.from || place >= span.to) return 0;
    const own = candidates.tokens.subarray(place * TOP_K, (place + 1) * TOP_K).indexOf(token);
    const hindsight = own < 0 ? 0 : (candidates.advantages[place * TOP_K + own] ?? 0);
    return objective.reward * (advantages[place] ?? 0) + objective.hindsight * hindsight;
  });
}

/** The answer's text in pieces, each with its tokens' advantage; neighbours that nothing is said about are one piece. Pure. */
export function piecesOf(
  answer: readonly number[],
  advantages: readonly number[],
  decode: (ids: readonly number[]) => string,
): TurnCredit["pieces"] {
  const whole = decode(answer);
  const pieces: [string, number][] = [];
  let from = 0;
  advantages.forEach((value, index) => {
    // A sign of several tokens is readable once the last of them is there.
    const upTo = index + 1 === answer.length ? whole.length : decode(answer.slice(0, index + 1)).replace(/\uFFFD+$/, "").length;
    const advantage = Number(value.toPrecision(DIGITS));
    const last = pieces.at(-1);
    if (last !== undefined && last[1] === 0 && advantage === 0) last[0] += whole.slice(from, upTo);
    else pieces.push([whole.slice(from, upTo), advantage]);
    from = Math.max(from, upTo);
  });
  return pieces.filter(([text]) => text !== "");
}
