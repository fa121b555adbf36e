/**
 * Answers that somebody supplied, as tokens to say (cross-entropy) and as the better of a pair (DPO). Both are one weighted
 * cross-entropy: what is shown to be preferred has a positive weight, what the policy said instead a negative one.
 */
import { at } from "../../../shared/assert.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { answerMasks } from "../../../shared/grammar/answer-masks.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import { preferenceAdvantage } from "../../advantage/preference.ts";
import { findTool, readCalls, sameAnswer } from "../../../shared/speech/calls.ts";
import { type Refusal, unreadable } from "../../data/refusal.ts";
import { encodeAnswer, givenTokens, readOtherwise, statedPrompt } from "../../data/turn-text.ts";
import { checkArguments } from "../../../shared/schema-check.ts";
import type { LearnerDependencies } from "../update/candidate.ts";
import type { SuppliedAnswer } from "../update/learner.ts";
import { fits, packRows, tooLong, type Row } from "./rows.ts";
import { scoreRows, totalLogProb, type Scoring } from "./scores.ts";
import { tokensOf, type MoreLoss } from "../update/train.ts";

type Base = Pick<LearnerDependencies["base"], "tokenizer" | "grammars" | "rowTokens">;

export type AnswerRow = {
  readonly supplied: SuppliedAnswer;
  readonly tools: readonly ToolDefinition[];
  /** The answer supplied, and the one given, at the request as it stands without notes. */
  readonly chosen: Row;
  readonly rejected: Row;
};

/** A row with what its preference is measured from: ln π_ref(chosen) − ln π_ref(rejected), nats. */
export type PairedRow = AnswerRow & { readonly referenceMargin: number };

/** The rows of supplied answers, and which of them the policy could not say or has said. */
export function answerRows(supplied: readonly SuppliedAnswer[], base: Base): { rows: AnswerRow[]; refused: Refusal[] } {
  const rows: AnswerRow[] = [];
  const refused: Refusal[] = [];
  for (const each of supplied) {
    const row = rowOrRefusal(each, base);
    if ("code" in row) refused.push(row);
    else rows.push(row);
  }
  // What is refused has no part in what is learned: shares add up to 1 over the others.
  const total = rows.reduce((sum, { supplied: { share } }) => sum + share, 0);
  const shared = rows.map((row) => ({ ...row, supplied: { ...row.supplied, share: row.supplied.share / total } }));
  return { rows: shared, refused };
}

function rowOrRefusal(supplied: SuppliedAnswer, base: Base): AnswerRow | Refusal {
  try {
    return toRow(supplied, base);
  } catch (error) {
    const refusal = unreadable(supplied.eventId, error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

function toRow(supplied: SuppliedAnswer, { tokenizer, grammars, rowTokens }: Base): AnswerRow | Refusal {
  const { eventId, answer } = supplied;
  const { payload } = supplied.turn;
  const { tools, answer: given } = payload;
  const unfit = (detail: string): Refusal => ({ eventId, code: "answer/unfit", detail });
  if (sameAnswer(answer, given))
    return { eventId, code: "answer/held", detail: "another answer than the one given expected, got the same" };
  const faults = readCalls(answer).flatMap((call) => {
    const tool = findTool(tools, call.name);
    if (tool === undefined)
      return [`a call of ${tools.map(({ function: { name } }) => name).join(", ") || "no tool"} expected, got ${call.name}`];
    return call.status === "read" ? checkArguments(tool, call.arguments) : [`arguments of ${call.name} that are a JSON object expected`];
  });
  if (faults.length > 0) return unfit(faults.join("; "));
  const other = readOtherwise(tokenizer, payload, statedPrompt(payload));
  if (other !== undefined) return { eventId, ...other };
  const chosen = encodeAnswer(tokenizer, payload, answer);
  const rejected = givenTokens(tokenizer, payload);
  if (chosen === undefined || rejected === undefined)
    return unfit("a chat template that writes an answer where it asks for one expected, got another");
  const { prompt, answer: tokens } = chosen;
  // Calls are sampled under their tools' schemas: what those never let through would be taught in vain.
  if (answerMasks(grammars, { tools, form: FREE_FORM, tokens }) === undefined)
    return unfit("an answer that the tools' schemas let through expected, got another");
  const longest = Math.max(tokens.length, rejected.length);
  if (!fits({ rowTokens }, prompt.length, longest))
    return { eventId, code: "turn/tooLong", detail: tooLong({ rowTokens }, prompt.length, longest) };
  return { supplied, tools, chosen, rejected: { prompt, answer: rejected } };
}

/** ln π(chosen) − ln π(rejected) of each row, nats. */
export async function marginsOf(
  engine: Scoring,
  rows: readonly AnswerRow[],
  { adapter, vocabSize }: { adapter: string | undefined; vocabSize: number },
): Promise<number[]> {
  const scores = await scoreRows(
    engine,
    rows.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    { adapter, vocabSize },
  );
  return rows.map((_, index) => totalLogProb(at(scores, 2 * index)) - totalLogProb(at(scores, 2 * index + 1)));
}

/** The term of demonstrations and preferences: Σ share · [ −ln π(chosen) + DPO ], each part where the settings ask for it. */
export function answerLoss(rows: readonly PairedRow[], { answers, preference }: Pick<SignalSettings, "answers" | "preference">): MoreLoss {
  const [shows, prefers] = [answers !== "preference", answers !== "demonstration"];
  return async ({ engine, adapter, vocabSize }) => {
    const margins = prefers ? await marginsOf(engine, rows, { adapter, vocabSize }) : rows.map(() => 0);
    const pairs = rows.map(({ referenceMargin }, index) =>
      prefers ? preferenceAdvantage({ margin: at(margins, index), referenceMargin }, preference.beta) : { loss: 0, advantage: 0 },
    );
    const sides = rows.flatMap(({ chosen, rejected, supplied: { share } }, index) => [
      { row: chosen, weight: share * ((shows ? 1 : 0) + at(pairs, index).advantage) },
      ...(prefers ? [{ row: rejected, weight: -share * at(pairs, index).advantage }] : []),
    ]);
    let loss = rows.reduce((sum, { supplied }, index) => sum + supplied.share * at(pairs, index).loss, 0);
    for (const packed of packRows(sides.map(({ row }) => row))) {
      const weights = new Float32Array(packed.batch.positions.length);
      packed.rowIndices.forEach((side, place) => {
        const offset = at(packed.offsets, place);
        weights.fill(at(sides, side).weight, offset, offset + at(sides, side).row.answer.length);
      });
      const { logProbs } = await engine.accumulateAdapter(adapter, { ...tokensOf(packed), crossEntropy: { weights } });
      if (!shows) continue;
      packed.rowIndices.forEach((side, place) => {
        const row = rows.find(({ chosen }) => chosen === at(sides, side).row);
        const offset = at(packed.offsets, place);
        const said = logProbs.slice(offset, offset + at(sides, side).row.answer.length);
        loss -= (row?.supplied.share ?? 0) * said.reduce((sum, value) => sum + value, 0);
      });
    }
    return loss;
  };
}
