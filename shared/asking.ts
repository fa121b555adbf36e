/** Whether an answer asks the user about a call before it makes it: "Please confirm: a table for two at Aria?" Words are matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { argumentText, type Call } from "./speech/calls.ts";
import { wasNamed } from "./speech/given.ts";
import { mentions, namesTopic, wordsBy } from "./speech/mention.ts";
import { humanise, readParameters } from "./speech/parameters.ts";
import { mayMeanDay } from "./speech/spoken.ts";

export type Made = Pick<Call, "name" | "arguments">;
export type Asked = { readonly tool: ToolDefinition; readonly call: Made };

const QUESTION = /^Please confirm: (.*)\. Is that right\?$/s;
const ASKS = /\?|\b(?:confirm\w*|verify|review|ensure|make sure|(?:double[- ])?check|correct)\b/i;

/** The question about calls before they are made, with all that they have: "Please confirm: reserve table (restaurant: Aria). Is that right?" */
export function questionAbout(calls: readonly Made[]): string {
  return `Please confirm: ${calls.map(spellOut).join(" and ")}. Is that right?`;
}

/** A call as the question has it. */
export function spellOut({ name, arguments: args }: Made): string {
  const values = Object.entries(args).map(([parameter, value]) => `${humanise(parameter)}: ${argumentText(value)}`);
  return values.length === 0 ? humanise(name) : `${humanise(name)} (${values.join(", ")})`;
}

/** The calls as such a question spells them out; undefined where the text is none. */
export function toldBy(question: string): string | undefined {
  return QUESTION.exec(question)?.[1];
}

/** The policy's own question, and a yes to it: what a call is made after that nobody is to be asked about. */
export function agreementTo(question: string): ChatMessage[] {
  return [
    { role: "assistant", content: question },
    { role: "user", content: "Yes, that is right." },
  ];
}

/** Whether the text asks for anything. */
export function asks(text: string): boolean {
  return ASKS.test(text);
}

const TO_CONFIRM = /\b(?:please|kindly|to) (?:confirm|verify|check|review|ensure)\b/i;

/** Whether the text waits for a yes, a no or more; "It is confirmed." does not. */
export function awaitsAnswer(text: string): boolean {
  return text.includes("?") || TO_CONFIRM.test(text);
}

const MORE = /^[^?]*\b(?:anything|something|what|how) else\b(?![^?]*\b(?:or|before|until)\b)[^?]*\?[^?]*$/i;

/** Whether all that the text asks is whether there is more to do ("Booked. Anything else?"): who says "ok, bye" to that has agreed to nothing. */
export function asksForMore(text: string): boolean {
  return MORE.test(text) && !TO_CONFIRM.test(text);
}

const CONFIRMS = /\bconfirm\w*\b|\b(?:correct|right)\?/i;

/** Whether the text asks whether all is right, whatever it repeats. */
export function confirms(text: string): boolean {
  return CONFIRMS.test(text);
}

/** Whether the text asks, and repeats something of what the call has; of a call with nothing to repeat, what it does. */
export function asksAbout(text: string, asked: Asked): boolean {
  return asks(text) && shareTold(text, asked) > 0;
}

/** How much of what a call has the text repeats, from 0 to 1. */
export function shareTold(text: string, { tool, call }: Asked): number {
  const values = readParameters(tool).flatMap((parameter) => {
    const value = call.arguments[parameter.name];
    return value === undefined || parameter.kind === "boolean" ? [] : [{ parameter, value: argumentText(value) }];
  });
  if (values.length === 0) return namesTopic(text, { words: humanise(tool.function.name) }) ? 1 : 0;
  return values.filter((value) => mentions(text, value)).length / values.length;
}

/**
 * Whether somebody has named every value that the call has, or its schema has it for who says nothing: a call that is to be made unasked makes nothing up.
 * Of one day it is enough that it may be meant ("on Friday").
 */
export function isAllSaid(messages: readonly ChatMessage[], { tool, call: { arguments: args } }: Asked): boolean {
  const parameters = readParameters(tool);
  const open = Object.entries(args).flatMap(([name, given]) => {
    const parameter = parameters.find((each) => each.name === name);
    const value = argumentText(given);
    const isKnown = parameter !== undefined && (value === parameter.fallback || parameter.kind === "boolean");
    return isKnown || (parameter !== undefined && wasNamed(messages, { parameter, value, args })) ? [] : [{ parameter, value }];
  });
  const [only, ...more] = open;
  if (only === undefined) return true;
  const spoken = `${wordsBy(messages, "user")}\n${wordsBy(messages, "assistant")}`;
  const [today] = messages.flatMap(({ role, content }) => (role === "system" ? (content.match(/\b\d{4}-\d\d-\d\d\b/) ?? []) : []));
  return more.length === 0 && only.parameter !== undefined && mayMeanDay(spoken, only.value, today);
}
