/** Talks to an edge as a client that keeps its own history, and reads what the log made of it. */
import { expect } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { LoggedEvent, type TurnFinished } from "../../../shared/events.ts";
import { call } from "../../helpers/call.ts";
import { bearer, type TestEdge } from "../../helpers/edge.ts";

export type Message = { role: string; content: string | null; tool_calls?: { id: string }[]; [member: string]: unknown };
export type Asked = { extra?: object; headers?: Record<string, string>; signal?: AbortSignal };
export type Reply = {
  status: number;
  id: string;
  sessionId: string;
  message: Message;
  usage: { cached: number; prompt: number };
  error: ApiError | undefined;
};
export type ApiError = { message: string; type: string; param: string | null; code: string | null };

const LOG_MS = 20_000;

export const says = (content: string): Message => ({ role: "user", content });

/** One agent of an edge; `ask` sends a conversation, short and repeatable unless `extra` says otherwise. */
export function talkTo(edge: TestEdge, agent: string) {
  const post = (messages: Message[], { extra = {}, headers = {}, signal }: Asked = {}): Promise<Response> => {
    const body = JSON.stringify({ model: agent, messages, max_tokens: 6, seed: 1, ...extra });
    return fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(edge.keys.client, headers),
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  };
  const ask = async (messages: Message[], asked: Asked = {}): Promise<Reply> => toReply(await post(messages, asked));
  const events = async (): Promise<LoggedEvent[]> => {
    const { body } = await call(edge, "admin", `GET /api/agents/${agent}/events?cursor=0&limit=100`);
    return LoggedEvent.array().parse(body.events);
  };
  /** The log once it holds `count` events of a kind. */
  const logged = async (kind: LoggedEvent["payload"]["kind"], count: number): Promise<LoggedEvent[]> => {
    await expect.poll(async () => (await events()).filter(({ payload }) => payload.kind === kind).length, { timeout: LOG_MS }).toBe(count);
    return events();
  };
  /** Waits until the agent's counters say this. */
  const counted = async (expected: Record<string, number>): Promise<void> => {
    const counters = async (): Promise<unknown> => {
      const { body } = await call(edge, "admin", "GET /api/stats");
      return body.agents.find((each: { agent: string }) => each.agent === agent) ?? {};
    };
    await expect.poll(counters, { timeout: LOG_MS }).toMatchObject(expected);
  };
  return { post, ask, events, logged, counted };
}

export const turnsOf = (events: LoggedEvent[]): TurnFinished[] =>
  events.flatMap(({ payload }) => (payload.kind === "turn:finished" ? [payload] : []));

/** Next states as pairs of the turn's completion id and what followed it. */
export const nextStatesOf = (events: LoggedEvent[]): [completionId: string, messages: ChatMessage[]][] =>
  events.flatMap(({ payload }) =>
    payload.kind === "nextState:arrived" ? [[payload.completionId, payload.messages] satisfies [string, ChatMessage[]]] : [],
  );

/** Of a call in a stream: its name, or some of its arguments. */
type CallPiece = { readonly function: { readonly name?: string; readonly arguments?: string } };
type Streamed = { text: string; calls: CallPiece[]; id: string; done: boolean };

/** What a streamed answer says, its id, and whether it came to its end. */
export async function readStream(response: Response): Promise<Streamed> {
  // Comments say that a slow answer is still made.
  const lines = (await response.text()).split("\n\n").filter((line) => line !== "" && !line.startsWith(":"));
  const chunks = lines.filter((line) => line !== "data: [DONE]").map((line) => JSON.parse(line.slice("data: ".length)));
  const text = chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? "").join("");
  const calls = chunks.flatMap((chunk): CallPiece[] => chunk.choices?.[0]?.delta?.tool_calls ?? []);
  return { text, calls, id: chunks[0]?.id ?? "", done: lines.includes("data: [DONE]") };
}

/** An answer or an error; the members of the one that it is not are empty. */
type Body = {
  id?: string;
  choices?: [{ message: Message }];
  usage?: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
  error?: ApiError;
};

async function toReply(response: Response): Promise<Reply> {
  const { id = "", choices, usage, error } = (await response.json()) as Body;
  const message = choices?.[0].message ?? { role: "none", content: null };
  const counts = { cached: usage?.prompt_tokens_details.cached_tokens ?? 0, prompt: usage?.prompt_tokens ?? 0 };
  return { status: response.status, id, sessionId: response.headers.get("x-session-id") ?? "", message, usage: counts, error };
}
