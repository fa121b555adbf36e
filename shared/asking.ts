/** Whether an answer asks the user about a call before it makes it: "Please confirm: a table for two at Aria?" Words are matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { argumentText, type Call, readCalls } from "./speech/calls.ts";
import { wasNamed } from "./speech/given.ts";
import { mentions, namesTopic, wordsBy } from "./speech/mention.ts";
import { humanise, readParameters, typedValue } from "./speech/parameters.ts";
import { mayMeanDay } from "./speech/spoken.ts";

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

/** The policy's own question, and a yes to it: what a call is made after that nobody is to be asked about. */
export function agreementTo(question: string): ChatMessage[] {
  return [
    { role: "assistant", content: question },
    { role: "user", content: "Yes, that is right." },
  ];
}

// Agreement alone: who says yes to something else, or yes and more, is left to the policy.
const YES = "yes yeah yep yup sure ok okay alright correct exactly absolutely indeed fine right confirm confirmed agreed proceed".split(
  " ",
);
const ASSENT = new Set([...YES, "do", "go"]);
const BESIDE = new Set(
  "please thanks thank you it is it's that that's this looks sounds good great perfect ahead for so i course of everything asking checking confirming".split(
    " ",
  ),
);
const AGREEMENT = 100; // characters
const REFUSES = /^\P{L}*(?:no|nope|nah|wait|hold on)\b|\b(?:don't|dont|do not|stop|cancel|never ?mind|forget it)\b/iu;

/** Whether the words agree and say nothing else. */
function isPlainYes(text: string): boolean {
  if (text.length > AGREEMENT || text.includes("?") || /yeah\P{L}+right/iu.test(text)) return false;
  const words =
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}']+/gu) ?? [];
  return words.some((word) => ASSENT.has(word)) && words.every((word) => ASSENT.has(word) || BESIDE.has(word));
}

/** What the question told that the user has just agreed to, nothing having come of it yet; undefined where there is none, or it is about other tools. */
function agreedTo(messages: readonly ChatMessage[], tool: string): string | undefined {
  const [question, reply] = messages.slice(-2);
  if (question?.role !== "assistant" || reply?.role !== "user" || readCalls(question).length > 0) return undefined;
  const [, told = ""] = QUESTION.exec(question.content ?? "") ?? [];
  const words = humanise(tool);
  return isPlainYes(reply.content) && (told === words || told.startsWith(`${words} (`)) ? told : undefined;
}

/** Whether the user has just agreed to such a question about calls of the tool, and nothing came of it yet. */
export function hasAgreedTo(messages: readonly ChatMessage[], tool: string): boolean {
  return agreedTo(messages, tool) !== undefined;
}

/** The call that the user has just agreed to, where the question can be read in one way only. */
export function agreedCall(messages: readonly ChatMessage[], tool: ToolDefinition): Made | undefined {
  const { name } = tool.function;
  const told = agreedTo(messages, name);
  const parameters = new Map(readParameters(tool).map((parameter) => [humanise(parameter.name), parameter]));
  if (told === undefined || told.includes(") and ")) return undefined;
  // Labels and values stand between commas, and values may hold commas: "day: Friday, the first, seats: 2".
  const parts = told.slice(humanise(name).length + 2, -1).split(/(?:^|, )(\p{L}[^:,]*): /u);
  const args: Record<string, unknown> = {};
  for (let index = 1; index < parts.length; index += 2) {
    const parameter = parameters.get(parts[index] ?? "");
    const value = parameter === undefined ? undefined : typedValue(parameter, parts[index + 1] ?? "");
    if (parameter === undefined || value === undefined || parameter.name in args) return undefined;
    args[parameter.name] = value;
  }
  const call = { name, arguments: args };
  return spellOut(call) === told ? call : undefined;
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
function shareTold(text: string, { tool, call }: Asked): number {
  const values = readParameters(tool).flatMap((parameter) => {
    const value = call.arguments[parameter.name];
    return value === undefined || parameter.kind === "boolean" ? [] : [{ parameter, value: argumentText(value) }];
  });
  if (values.length === 0) return namesTopic(text, { words: humanise(tool.function.name) }) ? 1 : 0;
  return values.filter((value) => mentions(text, value)).length / values.length;
}

/**
 * Whether the user's last words answer a question about this very call. Of a question that spells calls out it has to be one of them, and
 * not refused, or have what the user changes: who agreed to a message to Ann was not asked about the same message to Bob. Of a policy's own
 * question, that has to tell more of the call than not, and the reply agrees: who answers "At what time?", or wants something else instead,
 * was not asked whether the call is right.
 */
export function wasAskedAbout(messages: readonly ChatMessage[], asked: Asked): boolean {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const before = messages[last - 1];
  if (before?.role !== "assistant" || readCalls(before).length > 0) return false;
  const [question, reply] = [before.content ?? "", wordsBy(messages.slice(last, last + 1), "user")];
  const [, told] = QUESTION.exec(question) ?? [];
  if (told !== undefined) return isSpelledOut(told, asked.call) ? !REFUSES.test(reply) : isChanged({ told, reply }, asked);
  return agrees(reply) && asks(question) && shareTold(question, asked) > 0.5;
}

const AGREES = new RegExp(
  `\\b(?:${YES.join("|")}|perfect|great|good|(?:go|carry) (?:ahead|on)|do (?:it|that|so|them)|please do|(?:book|send|buy|pay|make|reserve|schedule|set|order|add|cancel|delete|take) (?:it|that|them|this|one))\\b`,
  "i",
);
const OTHERWISE = /\b(?:not|never|wrong|actually|instead|rather|but)\b|n['’]t\b/i;

/** Whether somebody's words to a policy's own question take it as it is. */
function agrees(reply: string): boolean {
  return AGREES.test(reply) && !REFUSES.test(reply) && !OTHERWISE.test(reply);
}

function isSpelledOut(told: string, call: Made): boolean {
  return ` and ${told} and `.includes(` and ${spellOut(call)} and `);
}

/** Whether the call is of a tool that was asked about, and all that it has otherwise stands in the reply. */
function isChanged({ told, reply }: { told: string; reply: string }, { tool, call }: Asked): boolean {
  if (!` and ${told}`.includes(` and ${humanise(call.name)} (`)) return false;
  const parameters = readParameters(tool);
  const isTold = (name: string, value: string): boolean =>
    told.includes(`(${humanise(name)}: ${value}`) || told.includes(`, ${humanise(name)}: ${value}`);
  return Object.entries(call.arguments).every(([name, given]) => {
    const [parameter, value] = [parameters.find((each) => each.name === name), argumentText(given)];
    const whole = [",", ")"].some((end) => isTold(name, `${value}${end}`));
    return whole || (parameter !== undefined && mentions(reply, { parameter, value }));
  });
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
