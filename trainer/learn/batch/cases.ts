/** What the suite asks of every later version: what corrections and supplied answers of a batch expect. */
import { ASK_FIRST, isAspect, topicsOf } from "../../../shared/aspects.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import { readableCalls } from "../../../shared/speech/calls.ts";
import { type Expectation, type LearnedCase, placeOf } from "../../../shared/suite.ts";
import { isReplyAspect } from "../../../shared/wording.ts";
import type { Signal } from "../../data/exchange.ts";
import type { Verdict } from "../../judge/judge.ts";
import { askedWords } from "../update/report.ts";
import { inOrder, type Judged } from "./batch.ts";

const MOST_NAME = 120; // characters, for people

/** What the suite learns: a case for each argument, the latest; where the exchange called the tool, the call must give the value from now on. */
export function casesOf(used: readonly Judged[]): LearnedCase[] {
  const cases = new Map<string, LearnedCase>();
  for (const { signal, verdict } of inOrder(used)) {
    const expectation = expectationOf(signal, verdict);
    const turn =
      verdict.hint === undefined || isOfReply(verdict.hint)
        ? signal.turn
        : signal.turns.findLast(({ payload }) => calls(payload.answer, toolOf(verdict)));
    if (expectation === undefined || turn === undefined) continue;
    const { messages, tools } = turn.payload;
    const { eventId, user } = signal.event;
    const name = verdict.hint?.text ?? `as supplied for "${askedWords(messages)}"`.slice(0, MOST_NAME);
    cases.set(verdict.hint === undefined ? eventId : keyOf(expectation), { name, messages, tools, expect: expectation, user, eventId });
  }
  return [...cases.values()];
}

/** What corrections expect, as the suite has it. */
export function expectationsOf(used: readonly Judged[]): Expectation[] {
  return used.filter(({ verdict }) => verdict.hint !== undefined).flatMap(({ signal, verdict }) => expectationOf(signal, verdict) ?? []);
}

/** Whether the answer in words should have been another: a call where it asked about it, or the reply in other words. */
function isOfReply({ hint }: NonNullable<Verdict["hint"]>): boolean {
  return isReplyAspect(hint.parameter) || (hint.parameter === "@ask" && hint.value !== ASK_FIRST);
}

/** What the policy must do from now on: the argument that was corrected, or what the supplied answer does; several calls are no case. */
function expectationOf({ feedback }: Signal, { hint }: Verdict): Expectation | undefined {
  if (hint !== undefined && isAspect(hint.hint.parameter)) return expectationOfAspect(hint);
  if (hint !== undefined) return { tool: hint.toolName, arguments: { [hint.hint.parameter]: hint.hint.value } };
  if (feedback?.answer === undefined) return undefined;
  const [call, ...others] = readableCalls(feedback.answer);
  if (call !== undefined) return others.length > 0 ? undefined : { tool: call.name, arguments: { ...call.arguments } };
  return { reply: { contains: [feedback.answer.content ?? ""] } };
}

function expectationOfAspect({ toolName: tool, hint }: NonNullable<Verdict["hint"]>): Expectation {
  const { parameter, value } = hint;
  const about = { tool, parameter, value };
  if (parameter === "@tool") return { tool: value, arguments: {}, about };
  if (isReplyAspect(parameter)) return { reply: { contains: parameter === "@name" ? [value] : [] }, about };
  return value === ASK_FIRST ? { reply: { contains: [] }, about } : { tool, arguments: {}, about };
}

/** Of one batch the latest case of a place, or of an aspect's first topic, counts. */
function keyOf(expectation: Expectation): string {
  return expectation.about === undefined ? placeOf(expectation) : (topicsOf(expectation.about)[0] ?? "");
}

function toolOf({ hint }: Verdict): string {
  return hint?.toolName ?? "";
}

function calls(answer: ChatMessage, tool: string): boolean {
  return readableCalls(answer).some(({ name }) => name === tool);
}
