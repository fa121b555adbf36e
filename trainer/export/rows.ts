/**
 * What an export holds: one row for each answer whose tokens carry an advantage, as any trainer of token policies reads it. No mask
 * and no teacher is left in a row: what another trainer cannot know is folded into the advantages or said to be absent.
 *
 *     A_t of a reward      = step reward against the same step of the same task, at every token        (advantage/steps.ts)
 *     A_t of a correction  = r − baseline at the tokens of the corrected argument, 0 elsewhere         (`rewards`)
 *                          = c_reward · credited (r − baseline) + c_hindsight · hindsight              (`hybrid`, learn/update/credits.ts)
 *     A_t of an answer     = 1: at ratio 1 the gradient of cross-entropy
 *
 * times the user's share of the loss over the mean share, so that the cap on one user outlives a mean over rows.
 */
import { zipStrict } from "../../shared/assert.ts";
import { argumentSpan } from "../../shared/argument-span.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { sampledBy } from "../../shared/events.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { stepAdvantages, type StepRewards } from "../advantage/steps.ts";
import { firstUntold, prompted, type LoggedTurn } from "../data/exchange.ts";
import type { Refusal } from "../data/refusal.ts";
import type { AnswerRow } from "../learn/lesson/answer-rows.ts";
import { callsTool, type CorrectedRow } from "../learn/lesson/corrected-rows.ts";
import { rewardFault } from "../learn/lesson/reward-rows.ts";
import type { CorrectedExchange, RewardedExchange } from "../learn/update/learner.ts";

export type ExportRow = {
  readonly eventId: string;
  readonly turnId: string;
  /** Rows of one group are answers to the same request. */
  readonly group: string;
  readonly form: "correction" | "answer" | "reward";
  /** The request, and its prompt in tokens. */
  readonly messages: readonly ChatMessage[];
  readonly prompt: readonly number[];
  readonly response: readonly number[];
  /** 1 at the response tokens that the loss is about. */
  readonly mask: readonly (0 | 1)[];
  /** A_t of each response token, the share included. */
  readonly advantages: readonly number[];
  /** ln μ of each token as it was sampled; null where the log does not tell it of the distribution without a grammar's masks. */
  readonly rolloutLogProbs: readonly number[] | null;
  readonly reward: -1 | 0 | 1;
  /** The version whose tokens they are, on the line that it is of; null for an answer that a person wrote. */
  readonly version: number | null;
  readonly temperature: number;
  readonly truncated: boolean;
};

export type Rows = { readonly rows: ExportRow[]; readonly refused: Refusal[] };

/** Rows of corrections by their reward alone: no model is asked. */
export function correctionRows(
  corrected: readonly CorrectedExchange[],
  { tokenizer, baseline }: { tokenizer: Tokenizer; baseline: number },
): Rows {
  const rows: ExportRow[] = [];
  const refused: Refusal[] = [];
  const weights = weightsOf(corrected);
  for (const [{ eventId, correction, turns, reward }, weight] of zipStrict(corrected, weights)) {
    const own = turns.flatMap((turn) => {
      const { answer, rollout } = turn.payload;
      // Under a note, to push against what followed from it would teach the policy to be deaf to notes; after a yes that nobody gave, to who says yes.
      if (!callsTool(answer, correction) || prompted(turn.payload) !== undefined) return [];
      const span = argumentSpan(tokenizer, rollout.responseTokens, correction.parameter.name, correction.tool.function.name);
      if (span === undefined) return [];
      return [rowOf(turn, { eventId, form: "correction", reward, span, advantages: rollout.responseTokens.map(() => reward - baseline) })];
    });
    if (own.length === 0)
      refused.push(
        withoutTokens(eventId, turns) ??
          noRow(eventId, "a turn with the corrected argument among its tokens, under nothing that speaks for the user, expected, got none"),
      );
    rows.push(...own.map((row) => weighted(row, weight / own.length)));
  }
  return { rows, refused };
}

/** Rows of corrections as an update of our own would credit them. `credited` holds A_t of each row. */
export function creditedRows(
  corrected: readonly CorrectedExchange[],
  scored: readonly { row: CorrectedRow; credited: readonly number[] }[],
): Rows {
  const weights = weightsOf(corrected);
  const rows: ExportRow[] = [];
  const refused: Refusal[] = [];
  for (const [{ eventId, turns, reward }, weight] of zipStrict(corrected, weights)) {
    const own = scored.filter(({ row }) => row.eventId === eventId);
    if (own.length === 0)
      refused.push(
        withoutTokens(eventId, turns) ??
          noRow(eventId, "a turn with the corrected argument that the base's context holds expected, got none"),
      );
    for (const { row, credited } of own) {
      const turn = turns.find(({ turnId }) => turnId === row.turnId);
      if (turn !== undefined)
        rows.push(
          weighted(rowOf(turn, { eventId, form: "correction", reward, span: row.span, advantages: credited }), weight / own.length),
        );
    }
  }
  return { rows, refused };
}

/** Rows of every step of exchanges with a reward. */
export function rewardRows(
  rewarded: readonly RewardedExchange[],
  { parent, maxStaleness, ...how }: { parent: number; maxStaleness: number; rewards: StepRewards; baseline: number },
): Rows {
  const refused: Refusal[] = [];
  const usable = rewarded.filter((exchange) => {
    const fault = rewardFault(exchange, { parentVersion: parent, maxStaleness });
    if (fault !== undefined) refused.push(fault);
    return fault === undefined;
  });
  const advantages = stepAdvantages(usable, how);
  const weights = weightsOf(usable);
  const rows = usable.flatMap(({ eventId, task, outcome, steps }, index) => {
    const own = steps.flatMap(({ turn }, step) => {
      const advantage = advantages[index]?.[step];
      const { responseTokens } = turn.payload.rollout;
      if (advantage === undefined) return [];
      const span = { from: 0, to: responseTokens.length };
      const row = rowOf(turn, { eventId, form: "reward", reward: outcome, span, advantages: responseTokens.map(() => advantage) });
      return [{ ...row, group: task }];
    });
    return own.map((row) => weighted(row, (weights[index] ?? 1) / own.length));
  });
  const told = new Set(rows.map(({ eventId }) => eventId));
  const same = usable.filter(({ eventId }) => !told.has(eventId));
  refused.push(...same.map(({ eventId }) => noRow(eventId, "a reward that differs within its task expected, got the same everywhere")));
  return { rows, refused };
}

/** Rows of answers that people supplied: nobody has sampled them. */
export function suppliedRows(answers: readonly AnswerRow[]): ExportRow[] {
  const weights = weightsOf(answers.map(({ supplied }) => supplied));
  return zipStrict(answers, weights).map(([{ supplied, chosen }, weight]) => {
    const span = { from: 0, to: chosen.answer.length };
    const row = rowOf(supplied.turn, {
      eventId: supplied.eventId,
      form: "answer",
      reward: 1,
      span,
      advantages: chosen.answer.map(() => 1),
    });
    const written = { prompt: chosen.prompt, response: chosen.answer, mask: chosen.answer.map(() => 1 as const) };
    return weighted({ ...row, ...written, rolloutLogProbs: null, version: null, truncated: false }, weight);
  });
}

type Made = {
  readonly eventId: string;
  readonly form: ExportRow["form"];
  readonly reward: ExportRow["reward"];
  readonly span: { readonly from: number; readonly to: number };
  readonly advantages: readonly number[];
};

function rowOf({ turnId, line, payload }: LoggedTurn, { eventId, form, reward, span, advantages }: Made): ExportRow {
  const { promptTokens, responseTokens, rolloutLogProbs, sampling, unusable } = payload.rollout;
  // Log-probs under a grammar's masks, or of a draw from a part of the distribution, are none that another trainer can compare with its own.
  const comparable = unusable === undefined && !sampling.masked && sampling.topP >= 1 && rolloutLogProbs.length === responseTokens.length;
  return {
    ...{ eventId, turnId, group: eventId, form, reward },
    messages: payload.messages,
    prompt: promptTokens,
    response: responseTokens,
    mask: responseTokens.map((_, place) => (place >= span.from && place < span.to ? 1 : 0)),
    advantages: advantages.map((advantage, place) => (place >= span.from && place < span.to ? advantage : 0)),
    rolloutLogProbs: comparable ? rolloutLogProbs : null,
    version: sampledBy({ line, payload }).version,
    temperature: sampling.temperature,
    truncated: payload.finishReason === "length",
  };
}

/** Each one's share over the mean share. */
function weightsOf(each: readonly { readonly share: number }[]): number[] {
  const total = each.reduce((sum, { share }) => sum + share, 0);
  return each.map(({ share }) => (total > 0 ? (share * each.length) / total : 1));
}

function weighted(row: ExportRow, weight: number): ExportRow {
  return { ...row, advantages: row.advantages.map((advantage) => advantage * weight) };
}

/** Where nobody told the sampled tokens of a turn, which its row would be made of. */
function withoutTokens(eventId: string, turns: readonly LoggedTurn[]): Refusal | undefined {
  const silent = firstUntold(turns);
  return silent && { eventId, ...silent };
}

function noRow(eventId: string, detail: string): Refusal {
  return { eventId, code: "export/noRow", detail };
}
