/** An event log in memory, with events of the shape that the edge logs. */
import type { ChatMessage } from "../../shared/chat.ts";
import type { LoggedEvent, Rollout, TurnFinished } from "../../shared/events.ts";
import { EventCache } from "../../trainer/feed/cache.ts";
import type { Prompted } from "./learning.ts";

const CACHE_TURNS = 200;

/** The payload of a conversation's first turn, answered by version 0. */
export function openingTurn(
  completionId: string,
  { messages, tools, answer, rollout }: Prompted & Pick<TurnFinished, "answer" | "rollout">,
): TurnFinished {
  return {
    kind: "turn:finished",
    completionId,
    turnIndex: 0,
    turnKind: "main",
    origin: "opening",
    policyVersion: 0,
    policyDigest: "0".repeat(64),
    messages: [...messages],
    tools: [...tools],
    answer,
    finishReason: "stop",
    rollout,
  };
}

export class Logbook {
  readonly cache = new EventCache(CACHE_TURNS);
  #seq = 0;

  get length(): number {
    return this.#seq;
  }

  /** A finished turn; returns its completion id. */
  turn(prompted: Prompted, answer: ChatMessage, rollout: Rollout): string {
    const completionId = `c${this.#seq}`;
    this.#add(completionId, "finished", openingTurn(completionId, { ...prompted, answer, rollout }));
    return completionId;
  }

  /** What followed a turn. */
  next(completionId: string, messages: readonly ChatMessage[]): LoggedEvent {
    return this.#add(completionId, "next", { kind: "nextState:arrived", completionId, messages: [...messages] });
  }

  #add(turnId: string, suffix: string, payload: LoggedEvent["payload"]): LoggedEvent {
    this.#seq += 1;
    const ids = { eventId: `${turnId}/${suffix}`, sessionId: "s1", turnId, user: "u1" };
    const event: LoggedEvent = { ...ids, agent: "bench", line: "shared", createdAt: new Date().toISOString(), seq: this.#seq, payload };
    this.cache.add(event);
    return event;
  }
}
