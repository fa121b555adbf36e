/** Whether an answer asks the user about a call before it makes it: "Please confirm: a table for two at Aria?" Words are matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { argumentText, type Call, readCalls } from "./speech/calls.ts";
import { mentions, namesTopic, wasNamed } from "./speech/mention.ts";
import { humanise, readParameters } from "./speech/parameters.ts";

type Asked = { readonly tool: ToolDefinition; readonly call: Pick<Call, "arguments"> };

const ASKS = /\?|\b(?:confirm\w*|verify|review|ensure|make sure|(?:double[- ])?check|correct)\b/i;

/** Whether the text asks for anything. */
export function asks(text: string): boolean {
  return ASKS.test(text);
}

/** Whether the text asks, and repeats something of what the call has; of a call with nothing to repeat, what it does. */
export function asksAbout(text: string, { tool, call }: Asked): boolean {
  if (!asks(text)) return false;
  const told = readParameters(tool).flatMap((parameter) => {
    const value = call.arguments[parameter.name];
    return value === undefined || parameter.kind === "boolean" ? [] : [{ parameter, value: argumentText(value) }];
  });
  return told.length === 0 ? namesTopic(text, { words: humanise(tool.function.name) }) : told.some((each) => mentions(text, each));
}

/** Whether the user's last words answer such a question. */
export function wasAskedAbout(messages: readonly ChatMessage[], asked: Asked): boolean {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const before = messages[last - 1];
  return before?.role === "assistant" && readCalls(before).length === 0 && asksAbout(before.content ?? "", asked);
}

/** Whether somebody has named every value that the call has, or its schema has it for who says nothing: a call that is to be made unasked makes nothing up. */
export function isAllSaid(messages: readonly ChatMessage[], { tool, call: { arguments: args } }: Asked): boolean {
  const parameters = readParameters(tool);
  return Object.entries(args).every(([name, given]) => {
    const parameter = parameters.find((each) => each.name === name);
    const value = argumentText(given);
    if (parameter === undefined) return false;
    return value === parameter.fallback || parameter.kind === "boolean" || wasNamed(messages, { parameter, value, args });
  });
}
