/** What an event of a turn says about the version that answered it, for the trial of a canary. Pure. */
import type { NewEvent } from "../../shared/events.ts";
import type { TurnFact } from "../agent/port.ts";
import { CLIENT_LEFT } from "./events.ts";

/** Side turns and turns that their client gave up say nothing; undefined for them and for every other kind of event. */
export function turnFactOf({ turnId, line, sessionId, user, keyId, createdAt, payload }: NewEvent): TurnFact | undefined {
  const answeredBy = "policyLine" in payload ? (payload.policyLine ?? line) : line;
  const about = { turnId, line, answeredBy, sessionId, user, keyId: keyId ?? null, createdAt };
  if (payload.kind === "turn:finished" && payload.turnKind === "main") {
    const { policyVersion: version, turnIndex, finishReason, rollout } = payload;
    const tokens = rollout.unusable?.responseTokens ?? rollout.responseTokens.length;
    return { ...about, version, turnIndex, failed: false, invalid: finishReason === "length", tokens };
  }
  if (payload.kind === "turn:aborted" && payload.reason !== CLIENT_LEFT)
    return { ...about, version: payload.policyVersion, turnIndex: payload.turnIndex ?? 0, failed: true, invalid: false, tokens: 0 };
  return undefined;
}
