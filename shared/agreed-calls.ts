/**
 * What a user has agreed to who was asked about a call: the call as it was spelled out, or with what the reply changes in it in so many words
 * ("yes, but insured please"). Words are matched, never interpreted: what says more, or something else, is left to the policy.
 */
import { asks, type Asked, type Made, shareTold, spellOut, toldBy } from "./asking.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { changesIn } from "./correction/asked-change.ts";
import { argumentText, readCalls, sameCall } from "./speech/calls.ts";
import { mentions, wordsBy } from "./speech/mention.ts";
import { humanise, readParameters, typedValue, valueIn } from "./speech/parameters.ts";

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

/** Whether the user has just agreed to such a question about calls of the tool, or to one with a change in it, and nothing came of it yet. */
export function hasAgreedTo(messages: readonly ChatMessage[], tool: ToolDefinition): boolean {
  const asked = lastAsked(messages, tool.function.name);
  return asked !== undefined && (isPlainYes(asked.reply) || changedCall(messages, tool) !== undefined);
}

/** The call that the user has just agreed to, with what the reply changes in it, where the question can be read in one way only. */
export function agreedCall(messages: readonly ChatMessage[], tool: ToolDefinition): Made | undefined {
  const asked = lastAsked(messages, tool.function.name);
  if (asked === undefined) return undefined;
  return isPlainYes(asked.reply) ? readCall(asked.told, tool) : changedCall(messages, tool);
}

/** What a question about calls of the tool told, and the reply that has just come; undefined where the talk does not end so. */
function lastAsked(messages: readonly ChatMessage[], tool: string): { told: string; reply: string } | undefined {
  const [question, reply] = messages.slice(-2);
  if (question?.role !== "assistant" || reply?.role !== "user" || readCalls(question).length > 0) return undefined;
  const told = toldBy(question.content ?? "");
  const words = humanise(tool);
  return told !== undefined && (told === words || told.startsWith(`${words} (`)) ? { told, reply: reply.content } : undefined;
}

/** The one call that was spelled out; undefined where it can be read in more than one way. */
function readCall(told: string, tool: ToolDefinition): Made | undefined {
  const { name } = tool.function;
  if (told.includes(") and ")) return undefined;
  const parameters = new Map(readParameters(tool).map((parameter) => [humanise(parameter.name), parameter]));
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

const ASSENTS = new RegExp(`^\\P{L}*(?:${YES.join("|")})\\b`, "iu");
const OBJECTS = /^\P{L}*(?:no|nope|not quite|almost|actually)\b/iu;

/** The call that was asked about with what the reply changes in it; undefined where it is not plain that the reply does that and nothing else. */
function changedCall(messages: readonly ChatMessage[], tool: ToolDefinition): Made | undefined {
  const { told, reply } = lastAsked(messages, tool.function.name) ?? { told: "", reply: "" };
  const call = readCall(told, tool);
  const isAssent = ASSENTS.test(reply);
  const wish = reply.replace(isAssent ? ASSENTS : OBJECTS, "");
  if (call === undefined || isPlainYes(reply) || wish.includes("?") || REFUSES.test(wish)) return undefined;
  const changes = changesIn(wish, { before: messages.slice(0, -2), tool, call, isAssent });
  const values = changes.map(({ parameter, value }) => [parameter, valueIn(tool, { parameter, value })] as const);
  if (values.length === 0 || values.some(([, value]) => value === undefined)) return undefined;
  return { ...call, arguments: { ...call.arguments, ...Object.fromEntries(values) } };
}

/**
 * Whether the user's last words answer a question about this very call. Of a question that spells calls out it has to be one of them, and
 * not refused, or have what the user plainly changes: who agreed to a message to Ann was not asked about the same message to Bob, and who has changed
 * something that may be meant in two ways is asked anew. Of a policy's own question, that has to tell more of the call than not, and the reply agrees: who
 * answers "At what time?", or wants something else instead, was not asked whether the call is right.
 */
export function wasAskedAbout(messages: readonly ChatMessage[], asked: Asked): boolean {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const before = messages[last - 1];
  if (before?.role !== "assistant" || readCalls(before).length > 0) return false;
  const [question, reply] = [before.content ?? "", wordsBy(messages.slice(last, last + 1), "user")];
  const told = toldBy(question);
  if (told === undefined) return agrees(reply) && asks(question) && shareTold(question, asked) > 0.5;
  const changed = changedCall(messages, asked.tool);
  if (changed !== undefined) return sameCall(asked.call, changed);
  if (isSpelledOut(told, asked.call)) return !REFUSES.test(reply) && !CHANGES.test(reply);
  return readCall(told, asked.tool) === undefined && isChanged({ told, reply }, asked);
}

// Who changes something has not agreed to what was spelled out, whatever the policy makes of it.
const CHANGES = /\b(?:but|instead|rather|except)\b/i;

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
