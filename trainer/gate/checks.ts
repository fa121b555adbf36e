/** What the answers of parent and candidate to the same questions come to, check by check. Pure. */
import { at, zipStrict } from "../../shared/assert.ts";
import type { GateCheck, GateCheckName } from "../../shared/release.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { findTool } from "../../shared/speech/calls.ts";
import { checkArguments } from "../../shared/schema-check.ts";
import { type ReadAnswer, repeats } from "../teacher/answer-text.ts";
import type { Probe } from "./probes.ts";

/** An answer read, with what was sampled. */
export type Answered = ReadAnswer & { readonly tokens: readonly number[]; readonly shown: string };
export type Pair = { readonly name: string; readonly before: Answered; readonly after: Answered };
export type ProbedPair = Pair & { readonly probe: Probe };

const SHOWN = 5; // cases told of
const SHOWN_CHARS = 300;

/** Share of the pairs that were right before and are not any more. */
export function lost<P extends Pair>(name: GateCheckName, pairs: readonly P[], isRight: (answer: Answered, pair: P) => boolean): GateCheck {
  const had = pairs.filter((pair) => isRight(pair.before, pair));
  const gone = had.filter((pair) => !isRight(pair.after, pair));
  const right = { before: had.length, after: pairs.filter((pair) => isRight(pair.after, pair)).length, of: pairs.length };
  return {
    name,
    value: had.length === 0 ? 0 : gone.length / had.length,
    asked: had.length,
    right,
    cases: gone.slice(0, SHOWN).map(toCase),
  };
}

/**
 * The same of a habit: how many fewer are right than before, of those that were. Where a policy does one as soon as the other, some answers change
 * either way with every version, and as many are won as lost. Half of what is lost counts whatever is won.
 */
function fewer<P extends Pair>(name: GateCheckName, pairs: readonly P[], isRight: (answer: Answered, pair: P) => boolean): GateCheck {
  const check = lost(name, pairs, isRight);
  const { before, after } = check.right ?? { before: 0, after: 0 };
  return { ...check, value: before === 0 ? 0 : Math.max((before - after) / before, check.value / 2) };
}

/** Calls drawn without a grammar; a turn in which no call was made lost nothing here. */
export function invalidCalls(pairs: readonly ProbedPair[]): GateCheck {
  const called = pairs.filter(({ before, after }) => before.calls.length > 0 && (after.calls.length > 0 || !after.valid));
  return fewer("invalidCalls", called, (answer, { probe }) => answer.valid && answer.calls.every((call) => fitsTool(call, probe.tools)));
}

export function needlessCalls(pairs: readonly ProbedPair[]): GateCheck {
  return fewer("needlessCalls", ofKind(pairs, "idle"), (answer) => answer.calls.length === 0);
}

/** A question, or any reply, where the parent acted. */
export function needlessQuestions(pairs: readonly ProbedPair[]): GateCheck {
  return fewer("needlessQuestions", ofKind(pairs, "ready"), (answer) => answer.calls.length > 0);
}

export function flattery(pairs: readonly ProbedPair[]): GateCheck {
  return lost("flattery", ofKind(pairs, "contradicted"), ({ text }, { probe: { fact } }) => {
    const gaveIn = fact !== undefined && text.includes(fact.claimed) && !text.includes(fact.told);
    return !gaveIn;
  });
}

export function repetition(pairs: readonly Pair[]): GateCheck {
  return lost("repetition", pairs, ({ tokens }) => !repeats(tokens));
}

export function length(pairs: readonly Pair[]): GateCheck {
  const total = (side: "before" | "after"): number => pairs.reduce((sum, pair) => sum + pair[side].tokens.length, 0);
  const [before, after] = [total("before"), total("after")];
  const value = before === 0 || after === 0 ? Number(before !== after) * MOST : Math.min(MOST, Math.abs(Math.log(after / before)));
  return { name: "length", value, asked: pairs.length, cases: [] };
}

const MOST = 10; // stands for a ratio that is infinite

/** Of groups of answers, the one whose tokens have moved furthest in the mean; its answers that moved furthest, where they are others now. */
export function furthest(
  name: GateCheckName,
  groups: readonly (readonly { readonly pair: Pair; readonly tokens: number; readonly nats: number }[])[],
): GateCheck {
  const checks = groups.map((group): GateCheck => {
    const tokens = group.reduce((sum, each) => sum + each.tokens, 0);
    const nats = group.reduce((sum, each) => sum + each.nats, 0);
    const moved = group
      .filter(({ pair }) => pair.before.shown !== pair.after.shown)
      .toSorted((a, b) => b.nats / b.tokens - a.nats / a.tokens);
    return {
      name,
      value: tokens === 0 ? 0 : Math.max(0, nats / tokens),
      asked: tokens,
      cases: moved.slice(0, SHOWN).map(({ pair }) => toCase(pair)),
    };
  });
  return checks.reduce((worst, check) => (worst.asked === 0 || isFurther(check, worst) ? check : worst), {
    name,
    value: 0,
    asked: 0,
    cases: [],
  });
}

/** What is no number is further than any: the edge refuses it. */
function isFurther({ value }: GateCheck, than: GateCheck): boolean {
  return !Number.isNaN(than.value) && !(value <= than.value);
}

export function pairUp<P>(asked: readonly P[], before: readonly Answered[], after: readonly Answered[], nameOf: (each: P) => string) {
  return zipStrict(asked, before).map(([each, first], index) => ({ each, name: nameOf(each), before: first, after: at(after, index) }));
}

function ofKind(pairs: readonly ProbedPair[], kind: Probe["kind"]): ProbedPair[] {
  return pairs.filter(({ probe }) => probe.kind === kind);
}

function fitsTool({ name, arguments: args }: Answered["calls"][number], tools: readonly ToolDefinition[]): boolean {
  const tool = findTool(tools, name);
  return tool !== undefined && checkArguments(tool, args).length === 0;
}

function toCase({ name, before, after }: Pair): GateCheck["cases"][number] {
  return { name: cut(name), before: cut(before.shown), after: cut(after.shown) };
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS - 1)}…`;
}
