/** Whether an answer asks the user about a call before it makes it: "Please confirm: a table for two at Aria?" Words are matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { argumentText, type Call, readCalls } from "./speech/calls.ts";
import { mentions, namesTopic, wasNamed, wordsBy } from "./speech/mention.ts";
import { humanise, readParameters } from "./speech/parameters.ts";

type Made = Pick<Call, "name" | "arguments">;
type Asked = { readonly tool: ToolDefinition; readonly call: Made };

const QUESTION = /^Please confirm: (.*)\. Is that right\?$/s;
const ASKS = /\?|\b(?:confirm\w*|verify|review|ensure|make sure|(?:double[- ])?check|correct)\b/i;

/** The question about calls before they are made, with all that they have: "Please confirm: reserve table (restaurant: Aria). Is that right?" */
export function questionAbout(calls: readonly Made[]): string {
  return `Please confirm: ${calls.map(spellOut).join(" and ")}. Is that right?`;
}

function spellOut({ name, arguments: args }: Made): string {
  const values = Object.entries(args).map(([parameter, value]) => `${humanise(parameter)}: ${argumentText(value)}`);
  return values.length === 0 ? humanise(name) : `${humanise(name)} (${values.join(", ")})`;
}

// Agreement alone: who says yes to something else, or yes and more, is left to the policy.
const AGREES =
  /^\W*(?:(?:yes|yeah|yep|yup|sure|ok|okay|alright|correct|right|exactly|absolutely|indeed|fine|perfect|great|please|thanks|thank you|it is|that is|that's|this is|sounds|looks|good|go ahead|go for it|proceed|do it|do that|do so|do|book it|send it|make it so|confirm|confirmed|i confirm|i agree|all)\b\W*)+$/i;

const AGREEMENT = 100; // characters

/** Whether the user has just agreed to such a question about calls of the tool, and nothing came of it yet. */
export function hasAgreedTo(messages: readonly ChatMessage[], tool: string): boolean {
  const [question, reply] = messages.slice(-2);
  if (question?.role !== "assistant" || reply?.role !== "user" || readCalls(question).length > 0) return false;
  const [, told = ""] = QUESTION.exec(question.content ?? "") ?? [];
  const words = humanise(tool);
  return reply.content.length <= AGREEMENT && AGREES.test(reply.content) && (told === words || told.startsWith(`${words} (`));
}

/** Whether the text asks for anything. */
export function asks(text: string): boolean {
  return ASKS.test(text);
}

/** Whether the text asks, and repeats something of what the call has; of a call with nothing to repeat, what it does. */
export function asksAbout(text: string, asked: Asked): boolean {
  return asks(text) && shareTold(text, asked) > 0;
}

/** How much of what a call has the text repeats, from 0 to 1. */
function shareTold(text: string, { tool, call }: Asked): number {
  const values = readParameters(tool).flatMap((parameter) => {
    const value = call.arguments[parameter.name];
    return value === undefined || parameter.kind === "boolean" ? [] : [{ parameter, value: argumentText(value) }];
  });
  if (values.length === 0) return namesTopic(text, { words: humanise(tool.function.name) }) ? 1 : 0;
  return values.filter((value) => mentions(text, value)).length / values.length;
}

/**
 * Whether the user's last words answer a question about this very call: with what they say themselves, it has told more of the call than
 * not. Who agreed to a message to Ann was not asked about the same message to Bob.
 */
export function wasAskedAbout(messages: readonly ChatMessage[], asked: Asked): boolean {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const before = messages[last - 1];
  if (before?.role !== "assistant" || readCalls(before).length > 0) return false;
  const [question, reply] = [before.content ?? "", wordsBy(messages.slice(last, last + 1), "user")];
  return asks(question) && (question.includes(spellOut(asked.call)) || shareTold(`${question}\n${reply}`, asked) > 0.5);
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
