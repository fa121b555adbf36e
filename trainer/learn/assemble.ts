/** From judged signals to what an update and a manifest want to hear. */
import { invariant } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import type { EventLineage } from "../../shared/policy.ts";
import type { LearnedCase, SuiteCase } from "../../shared/suite.ts";
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

/** What the suite learns: a case for each argument, the latest. */
export function casesOf(used: readonly Judged[]): LearnedCase[] {
  const cases = new Map(inOrder(used).map((each) => [placeOf(each.verdict), each]));
  return [...cases.values()].flatMap(toCase);
}

/** A learned correction as a case of the agent's suite: the corrected turn must give the value from now on. */
function toCase({ signal, verdict: { hint } }: Judged): LearnedCase[] {
  const turn = hint === undefined ? undefined : signal.turns.findLast(({ payload }) => calls(payload.answer, hint.toolName));
  if (hint === undefined || turn === undefined) return [];
  const { messages, tools } = turn.payload;
  const { parameter, value } = hint.hint;
  const { eventId, user } = signal.event;
  return [{ name: hint.text, messages, tools, expect: { tool: hint.toolName, arguments: { [parameter]: value } }, user, eventId }];
}

/** Corrections of one place are about one argument: the latest counts. */
export function placeOf({ hint }: Verdict): string {
  return JSON.stringify([hint?.toolName, hint?.hint.parameter]);
}

export function placeOfCase({ expect }: Pick<SuiteCase, "expect">): string {
  return "tool" in expect ? JSON.stringify([expect.tool, Object.keys(expect.arguments)[0]]) : "";
}

function calls(answer: ChatMessage, tool: string): boolean {
  return readableCalls(answer).some(({ name }) => name === tool);
}
