/**
 * Which turn a request answers, and with what. The next state of a turn is everything after its answer: the user's
 * message, or all the tool results.
 *
 *   opening       the session's first turn
 *   continuation  extends an answer that nothing had followed
 *   regeneration  asks once more for an answer that was given
 *   branch        an earlier message was edited, or an answer is followed by something else than before
 *   ambiguous     two open sessions hold the same conversation (decided where the session is looked up)
 */
import type { ChatMessage } from "../../shared/chat.ts";
import type { TurnOrigin } from "../../shared/events.ts";

/** A finished main turn of the session. Digests are of the hash chain unless said otherwise. */
export type AnsweredTurn = {
  readonly turnId: string;
  /** Of the conversation that was answered. */
  readonly transcriptDigest: string;
  /** Of the conversation with the answer. */
  readonly answerDigest: string;
  /** Of the answer by itself. */
  readonly messageDigest: string;
  /** Of the conversation up to the next state, null where nothing has followed yet. */
  readonly nextDigest: string | null;
};

export type Incoming = {
  readonly messages: readonly ChatMessage[];
  /** Chain digest after each message. */
  readonly digests: readonly string[];
  /** Digest by itself of the last assistant message, where there is one. */
  readonly lastAnswerDigest: string | undefined;
  /** The turn that the client says it follows, by the id of its answer; undefined where it does not say. */
  readonly follows: string | undefined;
};

export type Pairing = {
  readonly origin: Exclude<TurnOrigin, "ambiguous">;
  /** The turn whose next state has arrived with this request, and that state. */
  readonly nextState: { readonly turnId: string; readonly messages: readonly ChatMessage[] } | undefined;
};

/** Pairs a request with the session's turns, oldest first. */
export function pair({ messages, digests, lastAnswerDigest, follows }: Incoming, turns: readonly AnsweredTurn[]): Pairing {
  const newest = turns.at(-1);
  if (newest === undefined) return { origin: "opening", nextState: undefined };
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const tail = messages.slice(last + 1);
  const transcript = digests.at(-1);
  const named = turns.find(({ turnId }) => turnId === follows);
  const answered = named ?? turns.findLast(({ answerDigest }) => answerDigest === digests[last]);
  const again = turns.some(({ transcriptDigest }) => transcriptDigest === transcript);
  if (answered !== undefined && answered.nextDigest === null)
    return { origin: "continuation", nextState: { turnId: answered.turnId, messages: tail } };
  if (again) return { origin: "regeneration", nextState: undefined };
  if (answered !== undefined) return { origin: answered.nextDigest === transcript ? "continuation" : "branch", nextState: undefined };
  // The history before the newest answer was edited (compaction, say), but the answer itself is what came back.
  const followed = newest.nextDigest === null && newest.messageDigest === lastAnswerDigest;
  return { origin: "branch", nextState: followed ? { turnId: newest.turnId, messages: tail } : undefined };
}
