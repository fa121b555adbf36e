/** From a judged signal to the exchange that an update learns a correction from. */
import { aspectParameter } from "../../../shared/aspects.ts";
import { invariant } from "../../../shared/assert.ts";
import { heldText, lastCall } from "../../../shared/correction/ground.ts";
import { findTool } from "../../../shared/speech/calls.ts";
import { wordsBy } from "../../../shared/speech/mention.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import type { Signal } from "../../data/exchange.ts";
import type { Verdict } from "../../judge/judge.ts";
import type { CorrectedExchange } from "../update/learner.ts";

/** Only verdicts with a grounded hint become corrections. */
export function toCorrected(
  { event, turn, turns, exchange }: Signal,
  { hint, reward }: Verdict,
  shares: ReadonlyMap<string, number>,
): CorrectedExchange {
  const tool = hint === undefined ? undefined : findTool(turn.payload.tools, hint.toolName);
  const parameter =
    tool === undefined || hint === undefined
      ? undefined
      : (aspectParameter(hint.hint.parameter) ?? findParameter(tool, hint.hint.parameter));
  invariant(hint !== undefined && tool !== undefined && parameter !== undefined, `a grounded hint names a tool of turn ${turn.turnId}`);
  const words = wordsBy(exchange.nextState, "user");
  const share = shares.get(event.eventId) ?? 0;
  const held = heldText(lastCall(exchange, hint.toolName), parameter.name);
  return { eventId: event.eventId, seq: event.seq, correction: { tool, parameter, hint: hint.hint }, turns, reward, held, words, share };
}
