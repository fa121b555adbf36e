/** The events of a session. Each id is made of what the event is about, so a second delivery is recognised. */
import type { ChatMessage } from "../../shared/chat.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { type EventPayload, finishedIdOf, type NewEvent, type Rollout, type TurnFinished } from "../../shared/events.ts";
import { completionIdOf } from "./identity.ts";
import type { FeedbackRequest, SessionIdentity } from "./port.ts";
import type { OpenedTurn } from "./store.ts";

/** An outbox's row holds 2 MB (https://developers.cloudflare.com/durable-objects/platform/limits/); long prompts of engines have more in tokens alone. */
const MOST_ROW_BYTES = 1_950_000;

type Source = { readonly session: SessionIdentity; readonly turnId: string; readonly now: number };

export function turnFinished(source: Source, payload: Omit<TurnFinished, "kind" | "completionId">): NewEvent {
  const completionId = completionIdOf(source.turnId);
  const whole = toEvent(source, finishedIdOf(source.turnId), { kind: "turn:finished", completionId, ...payload });
  const bytes = new TextEncoder().encode(JSON.stringify(whole)).length;
  if (bytes <= MOST_ROW_BYTES) return whole;
  const rollout = untold(payload.rollout, `at most ${MOST_ROW_BYTES} bytes of a turn with its tokens expected, got ${bytes}`);
  return toEvent(source, whole.eventId, { kind: "turn:finished", completionId, ...payload, rollout });
}

/** Why a turn was aborted that nobody wanted any more. */
export const CLIENT_LEFT = "the client went away";

export function turnAborted(
  source: Source,
  { turnIndex, policyLine, policyVersion, reason }: Pick<OpenedTurn, "turnIndex" | "policyLine" | "policyVersion"> & { reason: string },
): NewEvent {
  return toEvent(source, `${source.turnId}/aborted`, {
    kind: "turn:aborted",
    completionId: completionIdOf(source.turnId),
    turnIndex,
    ...elsewhere(source, policyLine),
    policyVersion,
    reason,
  });
}

/** Which line's version answered, where it is not the session's own. */
export function elsewhere({ session }: Pick<Source, "session">, policyLine: string): { policyLine?: string } {
  return policyLine === session.line ? {} : { policyLine };
}

/** A turn has one next state: what came first. */
export function nextStateArrived(source: Source, messages: readonly ChatMessage[]): NewEvent {
  return toEvent(source, `${source.turnId}/next`, {
    kind: "nextState:arrived",
    completionId: completionIdOf(source.turnId),
    messages: [...messages],
  });
}

type Given = Pick<FeedbackRequest, "score" | "correction" | "answer" | "comment"> & { readonly by?: string };

/** What feedback says and who gave it, with its digest. */
export async function readFeedback(request: FeedbackRequest): Promise<{ given: Given; digest: string }> {
  const { score, correction, answer, comment, by } = request;
  const given = { score, correction, answer, comment, ...("actor" in by ? { by: by.actor } : {}) };
  return { given, digest: (await sha256(canonicalJson(given))).slice(0, 16) };
}

/** The same feedback given twice running is one event; given again after another, it is a change of mind, told by how many there were. */
export function feedbackGiven(source: Source, given: Given, { digest, changes }: { digest: string; changes: number }): NewEvent {
  const eventId = `${source.turnId}/feedback/${digest}${changes === 0 ? "" : `/${changes}`}`;
  return toEvent(source, eventId, { kind: "feedback:given", completionId: completionIdOf(source.turnId), ...given });
}

/** A session that is taken up again can close again; its last turn tells the two apart. */
export function sessionClosed(source: Source, reason: "idle" | "done"): NewEvent {
  return toEvent(source, `${source.turnId}/closed`, { kind: "session:closed", reason });
}

function toEvent({ session, turnId, now }: Source, eventId: string, payload: EventPayload): NewEvent {
  const { agent, line, sessionId, user, keyId } = session;
  return { eventId, agent, line, sessionId, turnId, user, keyId, createdAt: new Date(now).toISOString(), payload };
}

/** The rollout without its tokens, and why. */
function untold({ promptTokens, responseTokens, sampling, unusable }: Rollout, reason: string): Rollout {
  const counts = { promptTokens: promptTokens.length, responseTokens: responseTokens.length };
  return { promptTokens: [], responseTokens: [], rolloutLogProbs: [], sampling, unusable: unusable ?? { reason, ...counts } };
}
