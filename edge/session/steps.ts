/** The turns of one answer as pure functions: what a turn's end means, what the next one is asked, and what stands for an answer in the prompt. */
import type { ChatMessage } from "../../shared/chat.ts";
import type { Runners } from "../tools/runner.ts";
import type { FinishedDelta, TurnDelta, TurnRequest } from "./port.ts";
import { answerOf, callsOf, goesOn, otherCalls, type ShownAnswer } from "./shown-answer.ts";
import type { LedgerCall, OwnCall, StepLedger } from "./step-ledger.ts";
import type { SessionStore } from "./store.ts";
import { extendChain } from "./transcript.ts";

/** A finished turn of an answer. */
export type StepTurn = {
  readonly turnId: string;
  readonly answer: ChatMessage;
  readonly finished: FinishedDelta;
  readonly own: readonly OwnCall[];
};

type PlanRequest = {
  readonly runners: Runners;
  /** Whether anything of the turn is kept. */
  readonly stored: boolean;
  /** Whether the policy could answer once more. */
  readonly room: boolean;
};

/**
 * The calls of an answer that the edge runs. None is run of an answer that was cut short or that nothing can follow; and beside calls of the
 * client's none where nothing may be kept: its result would be lost before the client is back.
 */
export function planCalls(
  answer: ChatMessage,
  finishReason: FinishedDelta["finishReason"],
  { runners, stored, room }: PlanRequest,
): OwnCall[] {
  const all = callsOf(answer).flatMap(({ id, function: { name } }, position) => {
    const runner = Object.hasOwn(runners, name) ? runners[name] : undefined;
    return runner === undefined ? [] : [{ position, callId: id, label: runner.label }];
  });
  const alone = all.length === callsOf(answer).length;
  const dropped = finishReason === "length" || (alone ? !room : !stored);
  return all.map((call) => ({ ...call, dropped }));
}

/** The answer without the calls that are not run: no result would follow them. */
export function withoutDropped(answer: ChatMessage, own: readonly OwnCall[]): ChatMessage {
  if (answer.role !== "assistant" || !own.some(({ dropped }) => dropped)) return answer;
  const calls = callsOf(answer).filter((_, position) => !own.some((each) => each.dropped && each.position === position));
  return { role: "assistant", content: answer.content ?? "", ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** Why an answer ended, to whoever sees only what the client runs. */
export function shownReason({ answer, finished: { finishReason }, own }: StepTurn): FinishedDelta["finishReason"] {
  return finishReason === "tool_calls" && otherCalls(answer, own).length === 0 ? "length" : finishReason;
}

/** What the next turn is asked: the same, with the answer and its results after it. A call that was demanded has been made. */
export async function nextRequest(
  request: TurnRequest,
  { turnId, answer }: StepTurn,
  { results, head, step, usedTokens }: { results: readonly ChatMessage[]; head: string; step: number; usedTokens: number },
): Promise<TurnRequest> {
  const added = [answer, ...results];
  const digests = [...request.digests];
  for (const message of added) digests.push(await extendChain(digests.at(-1) ?? "", message));
  const { answerLimit, toolChoice } = request.sampling;
  const limit = answerLimit === undefined ? undefined : { param: answerLimit.param, tokens: restOf(request, usedTokens), rest: true };
  const last = step >= request.maxToolSteps;
  const choice = last ? "none" : toolChoice === "none" ? "none" : "auto";
  return {
    ...request,
    messages: [...request.messages, ...added],
    digests,
    sampling: { ...request.sampling, answerLimit: limit, toolChoice: choice },
    asked: null,
    follows: turnId,
    retry: { requestDigest: `${head}#${step}`, idempotencyKey: undefined, retryCount: undefined },
    retryOnly: false,
  };
}

/** How many tokens of the client's limit are left. @param request the first of the answer */
export function restOf({ sampling: { answerLimit } }: TurnRequest, usedTokens: number): number {
  return answerLimit === undefined ? Infinity : answerLimit.tokens - usedTokens;
}

/** The conversation with everything that the policy said and read where the client has seen a part of it. */
export function unfold({ messages, digests }: Pick<TurnRequest, "messages" | "digests">, ledger: StepLedger): ChatMessage[] {
  return messages.flatMap((message, index) => {
    const unseen = message.role === "assistant" ? ledger.unseen(digests[index] ?? "") : undefined;
    return unseen === undefined ? [message] : [...unseen.messages, ...unseen.results];
  });
}

/** The results of calls that the edge has run, before what the client has sent of its own. */
export function withOwnResults(next: readonly ChatMessage[], own: readonly ChatMessage[]): ChatMessage[] {
  const given = new Set(next.map((message) => (message.role === "tool" ? message.tool_call_id : undefined)));
  return [...own.filter((message) => message.role === "tool" && !given.has(message.tool_call_id)), ...next];
}

/** The last turn of an answer by the answer's id, which is its first turn's. */
export function lastTurnOf(store: SessionStore, head: string): string {
  return store.ledger.turnsOf(head).findLast((turnId) => store.isRecorded(turnId)) ?? head;
}

/** Reads a recorded turn of an answer. @returns undefined where it is not on record */
export function recordedTurn(
  store: SessionStore,
  turnId: string,
): { turn: StepTurn; calls: LedgerCall[]; deltas: TurnDelta[] } | undefined {
  const deltas = store.record(turnId)?.deltas ?? [];
  const finished = deltas.at(-1);
  if (finished?.kind !== "finished") return undefined;
  const calls = store.ledger.callsOf(turnId);
  return { turn: { turnId, answer: answerOf(deltas), finished, own: calls }, calls, deltas };
}

/** Shows a turn's deltas but for its end. */
export function show(shown: ShownAnswer, deltas: readonly TurnDelta[], labelOf: (name: string) => string | undefined): TurnDelta[] {
  return deltas.flatMap((delta) => {
    const inner = delta.kind === "content" || delta.kind === "call" || delta.kind === "arguments";
    return inner ? shown.accept(delta, labelOf) : [];
  });
}

/** Who runs what of a turn that is on record, whatever the agent has by now. */
export function recordedLabels({ answer, own }: StepTurn): (name: string) => string | undefined {
  const labels = new Map(own.map(({ position, label }) => [callsOf(answer)[position]?.function.name, label]));
  return (name) => labels.get(name);
}

/** An answer that is over as its client has seen it. @returns undefined where a part of it is still to be made */
export function recordedAnswer(store: SessionStore, shown: ShownAnswer, head: string): TurnDelta[] | undefined {
  const deltas: TurnDelta[] = [];
  for (const turnId of store.ledger.turnsOf(head)) {
    const recorded = recordedTurn(store, turnId);
    if (recorded === undefined) return undefined;
    const { turn, calls } = recorded;
    deltas.push(...show(shown, recorded.deltas, recordedLabels(turn)));
    shown.count(turn.finished);
    for (const { position, outcome, dropped } of calls) {
      if (dropped) continue;
      if (outcome === undefined) return undefined;
      deltas.push(shown.result(position, outcome));
    }
    if (!goesOn(turn.answer, turn.own)) return [...deltas, shown.finished(shownReason(turn))];
    deltas.push(shown.nextStep());
  }
  return undefined;
}
