/**
 * Defaults that the line has learned before, and a turn whose conversation had the tool of each: what an update rehearses, so that learning one
 * does not turn another over.
 */
import { invariant } from "../../../shared/assert.ts";
import { isAspect } from "../../../shared/aspects.ts";
import type { HeldDefault, LearnedDefault } from "../../../shared/learned-defaults.ts";
import type { Rehearsed } from "../../../shared/policy.ts";
import { findTool } from "../../../shared/speech/calls.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import type { LoggedTurn } from "../../data/exchange.ts";
import { Random, seedAt } from "../../random.ts";
import type { Rehearsal } from "../lesson/rehearsal.ts";

export type KnownDefault = HeldDefault & Pick<LearnedDefault, "held">;

const MOST = 16; // of an update; the oldest are drawn as often as the newest
const DRAWN = 5_003; // apart from every seed that an update draws with

/** @param turns in which the last with a tool counts, the update's own last of all, so that as few others' as can be are needed */
export function rehearsedFor(defaults: readonly KnownDefault[], turns: readonly LoggedTurn[], { seed }: { seed: number }): Rehearsed[] {
  const argued = defaults.filter(({ parameter, held }) => held !== false && !isAspect(parameter));
  const found = argued.flatMap(({ tool, parameter }): Rehearsed[] => {
    const turn = turns.findLast(({ payload }) => parameterOf(payload.tools, { tool, parameter }) !== undefined);
    return turn === undefined ? [] : [{ turnId: turn.turnId, tool, parameter }];
  });
  return new Random(seedAt(seed, DRAWN)).shuffled(found).slice(0, MOST);
}

/** @param turns that hold all of those that are named */
export function toRehearsals(rehearsed: readonly Rehearsed[], turns: readonly LoggedTurn[]): Rehearsal[] {
  const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
  return rehearsed.map(({ turnId, tool: name, parameter: argument }) => {
    const { messages = [], tools = [] } = byId.get(turnId)?.payload ?? {};
    const [tool, parameter] = [findTool(tools, name), parameterOf(tools, { tool: name, parameter: argument })];
    invariant(tool !== undefined && parameter !== undefined, `turn ${turnId} has a tool ${name} with ${argument}`);
    return { tool, parameter, tools, system: messages.filter(({ role }) => role === "system") };
  });
}

function parameterOf(tools: Parameters<typeof findTool>[0], { tool: name, parameter }: Pick<Rehearsed, "tool" | "parameter">) {
  const tool = findTool(tools, name);
  return tool === undefined ? undefined : findParameter(tool, parameter);
}
