/** Which turns an update replays: what was learned of, and others that were not corrected. */
import { readableCalls } from "../../../shared/speech/calls.ts";
import { type LoggedTurn, untrainable } from "../../data/exchange.ts";
import { statedPrompt } from "../../data/turn-text.ts";
import { lastOf } from "../../last-of.ts";
import type { ReplayTurn } from "../../teacher/replay.ts";
import type { Judged } from "./batch.ts";

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
