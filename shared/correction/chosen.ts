/**
 * Which argument of the last call somebody's words correct, where they can be read in one way only. Candidates that the words merely allow give way: a number to
 * arguments that hold no numbers, and a value that several arguments could have to the one whose own value the words put beside it ("4200, not 2500").
 */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Hint } from "../jobs.ts";
import { argumentText, type Call, parseObject } from "../speech/calls.ts";
import { mentions } from "../speech/mention.ts";
import { findParameter, type Parameter } from "../speech/parameters.ts";
import { writtenForm } from "../speech/spoken.ts";
import { groundedCandidates } from "./candidates.ts";

/** The call that words may correct: what was said up to it, and what followed it. */
export type Called = {
  readonly before: readonly ChatMessage[];
  readonly answered: readonly ChatMessage[];
  readonly tool: ToolDefinition;
  readonly call: Call | undefined;
};

/** Every correction of the call that its schema allows and the words support. */
export function correctionsAllowed(words: string, { before, answered, tool }: Omit<Called, "call">): Hint[] {
  const exchange = { nextState: [{ role: "user" as const, content: words }], tools: [tool], answered };
  return groundedCandidates({ exchange, turn: { payload: { messages: before } } }).map(({ hint }) => hint);
}

/** The only correction that the words allow; undefined where there is none, or there are two. */
export function chosenCorrection(words: string, called: Called): Hint | undefined {
  const fitting = correctionsAllowed(words, called).filter((hint) => mayHold(hint, called));
  const beside = fitting.filter((hint) => standsBeside(words, hint, called));
  const [only, ...more] = fitting.length > 1 ? beside : fitting;
  return more.length > 0 ? undefined : only;
}

/** A number is no name: none of an argument of text, unless that has one, or is one by its name and has nothing yet. */
function mayHold({ parameter: name, value }: Hint, called: Called): boolean {
  const parameter = findParameter(called.tool, name);
  if (parameter === undefined || writtenForm(value) !== "number") return parameter !== undefined;
  if (/integer|number/.test(parameter.type) || parameter.allowed.length > 0) return true;
  const used = usedFor(parameter, called);
  return used === undefined ? parameter.kind === "number" : writtenForm(used) === "number";
}

/** Whether the words have what the argument has now, too. */
function standsBeside(words: string, { parameter: name }: Hint, called: Called): boolean {
  const parameter = findParameter(called.tool, name);
  const used = parameter === undefined ? undefined : usedFor(parameter, called);
  return parameter !== undefined && used !== undefined && mentions(words, { parameter, value: used });
}

/** What the call has there; where it says nothing, what its result tells by the same name, else the schema's default. */
function usedFor({ name, fallback }: Parameter, { call, answered }: Called): string | undefined {
  const told = answered.flatMap((message) => (message.role === "tool" ? [parseObject(message.content)] : []));
  const used = [call?.arguments, ...told.toReversed()].find((values) => values?.[name] !== undefined)?.[name];
  return used === undefined ? fallback : argumentText(used);
}
