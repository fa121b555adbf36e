/**
 * Exchanges assembled from the event log: a user's message, every call, result and reply that answers it, and what
 * the user said next. A next state that holds only tool results belongs to the call turn and is judged by itself.
 */
import type { ChatMessage } from "../../shared/chat.ts";
import type { FeedbackGiven, LoggedEvent, TurnFinished } from "../../shared/events.ts";
import type { Exchange } from "../../shared/jobs.ts";
import { findTool, readCalls } from "../../shared/speech/calls.ts";
import type { Refusal, RefusalCode } from "./refusal.ts";

export type LoggedTurn = LoggedEvent & { readonly payload: TurnFinished };

/** A next state with the turn that it follows. */
export type Signal = {
  readonly event: LoggedEvent;
  readonly turn: LoggedTurn;
  /** Turns of the exchange in order; `turn` is the last of them. */
  readonly turns: readonly LoggedTurn[];
  readonly exchange: Exchange;
  /** What the next state is made of; `toolResults` comes before any user message. */
  readonly toolResults: readonly ChatMessage[];
  readonly userMessages: readonly ChatMessage[];
  readonly feedback?: FeedbackGiven;
};

export type Assembled = { readonly status: "signal"; readonly signal: Signal } | { readonly status: "refused"; readonly refusal: Refusal };

/** Looks turns up by completion id and by session; see feed/cache.ts. */
export interface TurnLookup {
  byCompletion(completionId: string): LoggedTurn | undefined;
  ofSession(sessionId: string): readonly LoggedTurn[];
}

/** Pairs one next state or feedback event with its turn; other kinds carry no signal and give undefined. */
export function assembleSignal(event: LoggedEvent, lookup: TurnLookup): Assembled | undefined {
  const { payload } = event;
  if (payload.kind !== "nextState:arrived" && payload.kind !== "feedback:given") return undefined;
  const turn = lookup.byCompletion(payload.completionId);
  if (turn === undefined) return refuse(event, "turn/unknown", `no finished turn ${payload.completionId} in the log`);
  const reason = untrainable(turn.payload);
  if (reason !== undefined) return refuse(event, reason.code, reason.detail);
  const next = payload.kind === "nextState:arrived" ? payload.messages : correctionMessages(payload);
  const feedback = payload.kind === "feedback:given" ? { feedback: payload } : {};
  return { status: "signal", signal: { ...buildSignal(event, turn, { next, lookup }), ...feedback } };
}

/** Whether the turn's tokens are those of the base that the head names. */
export function isOfBase({ payload }: Pick<LoggedTurn, "payload">, { baseDigest }: { baseDigest: string }): boolean {
  return payload.baseDigest === undefined || payload.baseDigest === baseDigest;
}

/** Whether an earlier turn's tokens are those of a later one's base: an agent may move to another base while a conversation lasts. */
export function isOfBaseOf(earlier: Pick<LoggedTurn, "payload">, { payload: { baseDigest } }: Pick<LoggedTurn, "payload">): boolean {
  return baseDigest === undefined || isOfBase(earlier, { baseDigest });
}

/** The same signal for a line that may have moved to another base since its turn. */
export function onBase(assembled: Assembled, head: { baseDigest: string }): Assembled {
  if (assembled.status === "refused" || isOfBase(assembled.signal.turn, head)) return assembled;
  const { event, turn } = assembled.signal;
  return refuse(event, "turn/otherBase", `its turn is of base ${turn.payload.baseDigest}, and the line's is ${head.baseDigest} by now`);
}

/** Why nothing is learned from a turn, or undefined where something may be. */
export function untrainable(turn: TurnFinished): { code: RefusalCode; detail: string } | undefined {
  const { responseTokens, rolloutLogProbs, promptTokens, unusable } = turn.rollout;
  if (turn.turnKind === "side") return { code: "turn/side", detail: "a side turn is served and never trained" };
  if (turn.learning === false) return { code: "learning/disabled", detail: "learning was switched off when it was served" };
  if (turn.origin === "ambiguous") return { code: "turn/ambiguous", detail: "two sessions matched the request" };
  if (turn.messages.length === 0 || (promptTokens.length === 0 && unusable === undefined))
    return { code: "turn/notStored", detail: "store was false, so only digests were kept" };
  if (unusable === undefined && responseTokens.length !== rolloutLogProbs.length)
    return { code: "turn/lengths", detail: `${responseTokens.length} response tokens but ${rolloutLogProbs.length} rollout log-probs` };
  return undefined;
}

/**
 * Why nothing with a ratio or an advantage on its sampled tokens is learned from a turn: nobody told which they were. Undefined where they
 * are in the log. What is learned from words, such as a correction's, needs them not: see turn-text.ts.
 */
export function untold({ rollout: { responseTokens, unusable } }: TurnFinished): { code: "turn/untold"; detail: string } | undefined {
  return unusable === undefined || responseTokens.length > 0 ? undefined : { code: "turn/untold", detail: unusable.reason };
}

/** The same of the first such turn among several. */
export function firstUntold(turns: readonly Pick<LoggedTurn, "payload">[]): ReturnType<typeof untold> {
  return turns.map(({ payload }) => untold(payload)).find((each) => each !== undefined);
}

/**
 * Why a reward of a turn says nothing of what the policy does by itself: its prompt held more than was said. Undefined where it did not.
 */
export function prompted({ notes = [], agreedTo }: TurnFinished): { code: "turn/ratios"; detail: string } | undefined {
  const more = notes.length > 0 ? "notes" : agreedTo === undefined ? undefined : "a yes that nobody gave";
  return more === undefined ? undefined : { code: "turn/ratios", detail: `a prompt of what was said expected, got one with ${more}` };
}

function buildSignal(event: LoggedEvent, turn: LoggedTurn, { next, lookup }: { next: readonly ChatMessage[]; lookup: TurnLookup }): Signal {
  const firstUser = next.findIndex(({ role }) => role === "user");
  // Instructions that a client adds on the way are no reaction to the answer.
  const toolResults = (firstUser < 0 ? next : next.slice(0, firstUser)).filter(({ role }) => role === "tool");
  const userMessages = (firstUser < 0 ? [] : next.slice(firstUser)).filter(({ role }) => role === "user");
  const { messages, answer, tools } = turn.payload;
  const start = startOf(messages);
  const answered = [...messages.slice(start), answer, ...toolResults];
  const called = new Set(answered.flatMap((message) => readCalls(message).map(({ name }) => name)));
  const calledTools = [...called].map((name) => findTool(tools, name)).filter((tool) => tool !== undefined);
  return {
    event,
    turn,
    turns: turnsOfExchange(turn, { start, lookup }),
    exchange: { answered, nextState: userMessages, tools: calledTools },
    toolResults,
    userMessages,
  };
}

/** Where the exchange that a conversation ends with begins: at its user's last message, or where nobody has spoken yet at the first. */
function startOf(messages: readonly ChatMessage[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  );
}

/** Turns of the same session that were prompted after the exchange's user message, up to this one. */
function turnsOfExchange(turn: LoggedTurn, { start, lookup }: { start: number; lookup: TurnLookup }): LoggedTurn[] {
  const earlier = lookup
    .ofSession(turn.sessionId)
    .filter(
      ({ seq, payload }) =>
        seq < turn.seq && untrainable(payload) === undefined && isOfBaseOf({ payload }, turn) && ledTo(payload, turn.payload, start),
    );
  return [...earlier, turn];
}

/** Whether a turn's conversation went on with its answer to that of a later one, after the same message of the user's. Either may have lost its beginning (`truncation`). */
function ledTo({ messages, answer }: TurnFinished, { messages: later }: TurnFinished, start: number): boolean {
  const own = startOf(messages);
  const answered = start + messages.length - own;
  if (!wentOnWith(answer, later[answered])) return false;
  const same = (one: readonly ChatMessage[], other: readonly ChatMessage[]): boolean => JSON.stringify(one) === JSON.stringify(other);
  const [before, beforeLater] = [spokenApart(messages.slice(0, own)), spokenApart(later.slice(0, start))];
  const kept = Math.min(before.spoken.length, beforeLater.spoken.length);
  return (
    same(messages.slice(own), later.slice(start, answered)) &&
    same(before.system, beforeLater.system) &&
    same(lastOf(before.spoken, kept), lastOf(beforeLater.spoken, kept))
  );
}

function spokenApart(messages: readonly ChatMessage[]): { system: ChatMessage[]; spoken: ChatMessage[] } {
  return { system: messages.filter(({ role }) => role === "system"), spoken: messages.filter(({ role }) => role !== "system") };
}

function lastOf<Each>(list: readonly Each[], count: number): readonly Each[] {
  return list.slice(list.length - count);
}

/** Whether the conversation went on with this answer; one that was regenerated stands in no later transcript. */
function wentOnWith(answer: ChatMessage, echoed: ChatMessage | undefined): boolean {
  if (answer.role !== "assistant" || echoed?.role !== "assistant") return false;
  const calls = ({ tool_calls = [] }: typeof answer): string =>
    JSON.stringify(tool_calls.map(({ id, function: called }) => [id, called.name]));
  // As the edge pairs them: white space around an answer is not told apart.
  return (answer.content ?? "").trim() === (echoed.content ?? "").trim() && calls(answer) === calls(echoed);
}

function correctionMessages({ correction }: FeedbackGiven): ChatMessage[] {
  return correction === undefined ? [] : [{ role: "user", content: correction }];
}

function refuse(event: LoggedEvent, code: RefusalCode, detail: string): Assembled {
  return { status: "refused", refusal: { eventId: event.eventId, code, detail } };
}
