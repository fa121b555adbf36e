/** From judged signals to what an update and a manifest want to hear. */
import { invariant } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import type { EventLineage } from "../../shared/policy.ts";
import { placeOf, type LearnedCase } from "../../shared/suite.ts";
import { findTool, readableCalls } from "../data/calls.ts";
import { untrainable, type LoggedTurn, type Signal } from "../data/exchange.ts";
import { findParameter } from "../data/parameters.ts";
import type { Verdict } from "../judge/judge.ts";
import type { ReplayTurn } from "../teacher/replay.ts";
import type { Judged } from "./batch.ts";
import type { CorrectedExchange } from "./learner.ts";

/** Only verdicts with a grounded hint become corrections. */
export function toCorrected(
  { event, turn, turns }: Signal,
  { hint, reward }: Verdict,
  shares: ReadonlyMap<string, number>,
): CorrectedExchange {
  const tool = hint === undefined ? undefined : findTool(turn.payload.tools, hint.toolName);
  const parameter = tool === undefined || hint === undefined ? undefined : findParameter(tool, hint.hint.parameter);
  invariant(hint !== undefined && tool !== undefined && parameter !== undefined, `a grounded hint names a tool of turn ${turn.turnId}`);
  return { eventId: event.eventId, correction: { tool, parameter, hint: hint.hint }, turns, reward, share: shares.get(event.eventId) ?? 1 };
}

export function toLineage(
  { event }: Signal,
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
  };
}

/** Trainable turns as contexts to replay, in log order. */
export function toReplay(turns: readonly LoggedTurn[]): ReplayTurn[] {
  return turns
    .filter(({ payload }) => untrainable(payload) === undefined)
    .map(({ turnId, payload: { messages, tools, answer } }) => ({ turnId, messages, tools, called: readableCalls(answer) }));
}

/** Of the turns, those that an update looks at: the corrected exchanges' own, and as many of the last others as it may replay. */
export function replayFor(corrected: readonly Judged[], turns: readonly LoggedTurn[], replayed: number): ReplayTurn[] {
  const own = new Set(corrected.flatMap(({ signal }) => signal.turns.map(({ turnId }) => turnId)));
  const replay = toReplay(turns);
  const others = new Set(replay.filter(({ turnId }) => !own.has(turnId)).slice(-replayed));
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
    const expectation = expectationOf(verdict);
    const turn = expectation === undefined ? undefined : signal.turns.findLast(({ payload }) => calls(payload.answer, expectation.tool));
    if (verdict.hint === undefined || expectation === undefined || turn === undefined) continue;
    const { messages, tools } = turn.payload;
    const { eventId, user } = signal.event;
    cases.set(placeOf(expectation), { name: verdict.hint.text, messages, tools, expect: expectation, user, eventId });
  }
  return [...cases.values()];
}

/** The arguments that corrections are about, as the suite names them. */
export function placesOf(used: readonly Judged[]): Set<string> {
  return new Set(used.flatMap(({ verdict }) => expectationOf(verdict) ?? []).map(placeOf));
}

function expectationOf({ hint }: Verdict): { tool: string; arguments: Record<string, unknown> } | undefined {
  return hint === undefined ? undefined : { tool: hint.toolName, arguments: { [hint.hint.parameter]: hint.hint.value } };
}

function calls(answer: ChatMessage, tool: string): boolean {
  return readableCalls(answer).some(({ name }) => name === tool);
}
