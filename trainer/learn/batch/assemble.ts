/** From judged signals to what an update and a manifest want to hear. */
import { invariant } from "../../../shared/assert.ts";
import { ASK_FIRST, aspectParameter, isAspect, topicsOf } from "../../../shared/aspects.ts";
import { isReplyAspect } from "../../../shared/wording.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import type { EventLineage } from "../../../shared/policy.ts";
import { placeOf, type Expectation, type LearnedCase } from "../../../shared/suite.ts";
import { findTool, readableCalls } from "../../../shared/speech/calls.ts";
import { untold, untrainable, type LoggedTurn, type Signal } from "../../data/exchange.ts";
import { statedPrompt } from "../../data/turn-text.ts";
import { wordsBy } from "../../../shared/speech/mention.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import { heldText, lastCall } from "../../../shared/correction/ground.ts";
import type { Verdict } from "../../judge/judge.ts";
import { lastOf } from "../../last-of.ts";
import type { ReplayTurn } from "../../teacher/replay.ts";
import type { Judged } from "./batch.ts";
import type { CorrectedExchange } from "../update/learner.ts";
import { askedWords } from "../update/report.ts";

const MOST_NAME = 120; // characters, for people

/** Only verdicts with a grounded hint become corrections. */
export function toCorrected(
  { event, turn, turns, exchange }: Signal,
  { hint, reward }: Verdict,
  shares: ReadonlyMap<string, number>,
): CorrectedExchange {
  const tool = hint === undefined ? undefined : findTool(turn.payload.tools, hint.toolName);
  const parameter =
    tool === undefined || hint === undefined
      ? undefined
      : (aspectParameter(hint.hint.parameter) ?? findParameter(tool, hint.hint.parameter));
  invariant(hint !== undefined && tool !== undefined && parameter !== undefined, `a grounded hint names a tool of turn ${turn.turnId}`);
  const words = wordsBy(exchange.nextState, "user");
  const share = shares.get(event.eventId) ?? 0;
  const held = heldText(lastCall(exchange, hint.toolName), parameter.name);
  return { eventId: event.eventId, seq: event.seq, correction: { tool, parameter, hint: hint.hint }, turns, reward, held, words, share };
}

export function toLineage(
  { event, turns }: Signal,
  { reward, votes, judge, hint }: Verdict,
  { liftNats, share }: { liftNats: number | undefined; share: number | undefined },
): EventLineage {
  const { eventId, seq, turnId, user } = event;
  return {
    eventId,
    seq,
    turnId,
    user,
    reward,
    votes: [...votes],
    judge,
    ...(hint === undefined ? {} : { hint: hint.text }),
    ...(liftNats === undefined ? {} : { liftNats }),
    ...(share === undefined ? {} : { share }),
    ...(turns.some(({ payload }) => untold(payload) !== undefined) ? { reencoded: true as const } : {}),
  };
}

/** Trainable turns as contexts to replay, in log order. */
export function toReplay(turns: readonly LoggedTurn[]): ReplayTurn[] {
  return turns
    .filter(({ payload }) => untrainable(payload) === undefined)
    .map(({ turnId, payload }) => {
      const { messages, tools, answer } = payload;
      const stated = statedPrompt(payload);
      return { turnId, messages, tools, called: readableCalls(answer), ...(stated !== undefined && { stated }) };
    });
}

/**
 * What an update looks at: the learned exchanges' own turns, wherever they are from, and as many of the line's last others as it may replay,
 * those `approved` of before the rest.
 */
export function replayFor(
  learnable: readonly Judged[],
  turns: readonly LoggedTurn[],
  {
    replayed,
    approved = new Set(),
    isUsable = () => true,
  }: { replayed: number; approved?: ReadonlySet<string>; isUsable?: (turn: LoggedTurn) => boolean },
): ReplayTurn[] {
  const own = new Map(learnable.flatMap(({ signal }) => signal.turns.map((turn) => [turn.turnId, turn])));
  const all = [...own.values(), ...turns.filter(({ turnId }) => !own.has(turnId))];
  const replay = toReplay(all.filter(isUsable).toSorted((a, b) => a.seq - b.seq));
  const free = replay.filter(({ turnId }) => !own.has(turnId));
  const [rest, liked] = [free.filter(({ turnId }) => !approved.has(turnId)), free.filter(({ turnId }) => approved.has(turnId))];
  const others = new Set(lastOf([...rest, ...liked], replayed));
  return replay.filter((turn) => own.has(turn.turnId) || others.has(turn));
}

/** By place in the log: the later of two counts. */
export function inOrder(judged: readonly Judged[]): Judged[] {
  return judged.toSorted((a, b) => a.signal.event.seq - b.signal.event.seq);
}

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
