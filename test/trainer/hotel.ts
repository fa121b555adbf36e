/** A small agent for trainer tests: two tools, one conversation about a hotel, written for these tests. */
import { openingTurn } from "../../bench/sim/logbook.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { LoggedEvent, TurnFinished } from "../../shared/events.ts";
import { assembleSignal, type LoggedTurn, type Signal } from "../../trainer/data/exchange.ts";
import { EventCache } from "../../trainer/feed/cache.ts";

export const SEARCH: ToolDefinition = {
  type: "function",
  function: {
    name: "SearchHotel",
    description: "Find a hotel in a city",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "City of the hotel" },
        number_of_rooms: { type: "string", description: "Rooms wanted", enum: ["1", "2", "3"] },
        has_wifi: { type: "string", description: "Whether the hotel has wifi", enum: ["True", "False"] },
      },
      required: ["city"],
    },
  },
};

export const WEATHER: ToolDefinition = {
  type: "function",
  function: {
    name: "GetWeather",
    description: "Get the weather",
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  },
};

export const TOOLS = [SEARCH, WEATHER] as const;

export function user(content: string): ChatMessage {
  return { role: "user", content };
}

export function call(name: string, args: Record<string, unknown> | string, id = "call_1"): ChatMessage {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name, arguments: text } }] };
}

export function result(content: string, id = "call_1"): ChatMessage {
  return { role: "tool", content, tool_call_id: id };
}

let seq = 0;

export function turn(messages: readonly ChatMessage[], answer: ChatMessage, changes: Partial<TurnFinished> = {}): LoggedTurn {
  seq += 1;
  const sampling = { seed: 1, temperature: 0, topP: 1, masked: false };
  const rollout = { promptTokens: [1, 2], responseTokens: [3], rolloutLogProbs: [-0.1], sampling };
  const payload = { ...openingTurn(`c${seq}`, { messages, tools: TOOLS, answer, rollout }), ...changes };
  return { ...header(), turnId: `t${seq}`, eventId: `t${seq}/finished`, seq, payload };
}

export function nextState(of: LoggedTurn, messages: readonly ChatMessage[]): LoggedEvent {
  seq += 1;
  const payload = { kind: "nextState:arrived", completionId: of.payload.completionId, messages: [...messages] } as const;
  return { ...header(), turnId: of.turnId, eventId: `${of.turnId}/next`, seq, payload: { ...payload, messages: [...messages] } };
}

function header(): Omit<LoggedEvent, "seq" | "payload" | "eventId" | "turnId"> {
  return { agent: "assistant", line: "shared", sessionId: "s1", user: "u1", createdAt: "2026-01-01T00:00:00.000Z" };
}

export const ASK = user("A hotel in Porto, please.");

/** A search in Porto for one room, and what the user was told. */
export const FOUND: readonly ChatMessage[] = [
  call("SearchHotel", { city: "Porto", number_of_rooms: "1" }),
  result('[{"hotel_name": "Vila Gale"}]'),
  { role: "assistant", content: "I found Vila Gale." },
];

/** What a user says after a search in Porto for one room, or after what came between. */
export function saidAfter(
  said: string,
  between: readonly ChatMessage[] = FOUND,
): { messages: ChatMessage[]; tools: readonly ToolDefinition[] } {
  return { messages: [ASK, ...between, user(said)], tools: TOOLS };
}

/** What a trainer makes of a turn and of what followed it. */
export function signalOf(
  answer: Parameters<typeof turn>[1],
  next: Parameters<typeof nextState>[1],
  asked: ChatMessage | readonly ChatMessage[] = ASK,
  changes: Parameters<typeof turn>[2] = {},
): Signal {
  const cache = new EventCache(10);
  const made = turn([asked].flat(), answer, changes);
  cache.add(made);
  const assembled = assembleSignal(nextState(made, next), cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return assembled.signal;
}
