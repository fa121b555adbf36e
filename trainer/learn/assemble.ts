/** From judged signals to what an update and a manifest want to hear. */
import { invariant } from "../../shared/assert.ts";
import type { EventLineage } from "../../shared/policy.ts";
import { findTool, readableCalls } from "../data/calls.ts";
import { untrainable, type LoggedTurn, type Signal } from "../data/exchange.ts";
import { findParameter } from "../data/parameters.ts";
import type { Verdict } from "../judge/judge.ts";
import type { ReplayTurn } from "../teacher/replay.ts";
import type { CorrectedExchange } from "./learner.ts";

/** Only verdicts with a grounded hint become corrections. */
export function toCorrected({ event, turn, turns }: Signal, { hint, reward }: Verdict): CorrectedExchange {
  const tool = hint === undefined ? undefined : findTool(turn.payload.tools, hint.toolName);
  const parameter = tool === undefined || hint === undefined ? undefined : findParameter(tool, hint.hint.parameter);
  invariant(hint !== undefined && tool !== undefined && parameter !== undefined, `a grounded hint names a tool of turn ${turn.turnId}`);
  return { eventId: event.eventId, correction: { tool, parameter, hint: hint.hint }, turns, reward };
}

export function toLineage({ event }: Signal, { reward, votes, judge, hint }: Verdict, liftNats: number | undefined): EventLineage {
  const { eventId, seq, turnId, user } = event;
  return {
    eventId,
    seq,
    turnId,
    user,
    reward,
    votes: [...votes],
    judge,
    ...(hint === undefined ? {} : { hint: hint.text }),
    ...(liftNats === undefined ? {} : { liftNats }),
  };
}

/** Trainable turns as contexts to replay, in log order. */
export function toReplay(turns: readonly LoggedTurn[]): ReplayTurn[] {
  return turns
    .filter(({ payload }) => untrainable(payload) === undefined)
    .map(({ turnId, payload: { messages, tools, answer } }) => ({ turnId, messages, tools, called: readableCalls(answer) }));
}
