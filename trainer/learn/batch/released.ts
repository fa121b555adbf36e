/** Defaults that hold no longer, since a call was shown that has another value. Pure. */
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import { argumentText, type Call, findTool } from "../../../shared/speech/calls.ts";
import { wasNamed } from "../../../shared/speech/given.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import type { LearnedCase } from "../../../shared/suite.ts";
import type { AnswerRow } from "../lesson/answer-rows.ts";
import { changedArguments } from "../lesson/counter-cases.ts";

/** By supplied answers: those of the arguments that they have otherwise than the calls in whose place they are. */
export function releasedBy(rows: readonly AnswerRow[]): LearnedDefault[] {
  return changedArguments(rows).flatMap(({ correction: { parameter }, row: { supplied, tools }, call }) =>
    releasedIn(call, { messages: supplied.turn.payload.messages, tools, among: [parameter.name] }).map((each) => ({
      ...each,
      eventId: supplied.eventId,
    })),
  );
}

/** By the cases of an adapter that was trained elsewhere: it has learned them, and what its parent had learned before must not stand against that. */
export function releasedByCases(cases: readonly Pick<LearnedCase, "messages" | "tools" | "expect">[]): LearnedDefault[] {
  return cases.flatMap(({ messages, tools, expect }) => {
    if (expect.about !== undefined) return [{ ...expect.about, corrected: null, held: false as const }];
    if (!("tool" in expect)) return [];
    const { tool: name, arguments: args } = expect;
    return releasedIn({ name, arguments: args }, { messages, tools, among: Object.keys(args) });
  });
}

/** Some of a call's arguments, but for those that were named: of what the user said a call tells how it is read, and nothing against a default. */
function releasedIn(
  { name: tool, arguments: args }: Pick<Call, "name" | "arguments">,
  { messages, tools, among }: { messages: readonly ChatMessage[]; tools: readonly ToolDefinition[]; among: readonly string[] },
): LearnedDefault[] {
  const owner = findTool(tools, tool);
  return among.flatMap((parameter) => {
    const value = argumentText(args[parameter]);
    const declared = owner === undefined ? undefined : findParameter(owner, parameter);
    if (declared === undefined || wasNamed(messages, { parameter: declared, value, args })) return [];
    return [{ tool, parameter, value, corrected: null, held: false as const }];
  });
}
