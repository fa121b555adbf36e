/** An event log in memory, with events of the shape that the edge logs. */
import { invariant } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import type { LoggedEvent, Rollout, TurnFinished } from "../../shared/events.ts";
import type { Exchange } from "../../shared/jobs.ts";
import { assembleSignal, type Signal } from "../../trainer/data/exchange.ts";
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

/** An exchange as the log has it: its last answer, and what the user says to that. */
export function signalOf({ answered, nextState, tools }: Exchange): Signal {
  const answer = answered.at(-1);
  invariant(answer !== undefined, "an exchange ends in an answer");
  return signalIn({ messages: answered.slice(0, -1), tools }, answer, nextState);
}

/** The same in its conversation, with every tool that was at hand. */
export function signalIn(prompted: Prompted, answer: ChatMessage, nextState: readonly ChatMessage[]): Signal {
  const log = new Logbook();
  const sampling = { seed: 0, temperature: 0, topP: 1, masked: true };
  const rollout = { promptTokens: [0], responseTokens: [0], rolloutLogProbs: [0], sampling };
  const assembled = assembleSignal(log.next(log.turn(prompted, answer, rollout), nextState), log.cache);
  invariant(assembled?.status === "signal", "an exchange is a signal");
  return assembled.signal;
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
