/** Whether words a person wrote mention a parameter's value, in some form. Text is matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import { heldElsewhere } from "./calls.ts";
import { humanise, type Parameter } from "./parameters.ts";
import { isPartOfDate, knownForms, numberWord, writtenForm } from "./spoken.ts";
import { containsPhrase, type Same, sameStem, wordsOf } from "./words.ts";

export type MentionedValue = { readonly parameter: Pick<Parameter, "name" | "words" | "description" | "kind">; readonly value: string };

// Words that say nothing about which parameter is meant.
const COMMON = new Set(
  "a an and any are be by do does for from has have if in is it not of on only or should some that the their there to user was what where whether which with value number name type true false".split(
    " ",
  ),
);

/** A truth value is mentioned by its parameter's topic, a number by itself, and any other value by its words in a row, in any form. */
export function mentions(text: string, { parameter, value }: MentionedValue): boolean {
  const words = wordsOf(text);
  if (writtenForm(value) === "number")
    return words.some((word, at) => (word === value || word === numberWord(value)) && !isPartOfDate(words, at));
  if (parameter.kind === "boolean" || /^(true|false)$/i.test(value))
    return topicWords(parameter).some((topic) => words.some((word) => sameStem(word, topic)));
  return knownForms(value).some((form) => containsPhrase(words, wordsOf(form)));
}

/** Whether the user said the value for this argument of the call: since the call before it, and for no other argument. */
export function wasSaid(
  messages: readonly ChatMessage[],
  { parameter, value, args }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  const words = withoutPronoun(wordsBy(requestOf(messages), "user"), value);
  // A truth or a number is in the words of many requests; it is this argument's only where they name it.
  const telling = parameter.kind !== "boolean" && writtenForm(value) !== "number";
  return (
    mentions(words, { parameter, value }) &&
    (telling || namesTopic(words, parameter, { whole: parameter.kind === "boolean" })) &&
    !heldElsewhere(args, { parameter: parameter.name, value })
  );
}

/** The messages of the request at hand, up to the user's last: since the last call that was made before it. */
export function requestOf(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const asked = messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1);
  return asked.slice(asked.findLastIndex((message) => message.role === "assistant" && (message.tool_calls ?? []).length > 0) + 1);
}

/** "one" is a pronoun more often than a number, but where it is part of a value ("One Day"). */
export function withoutPronoun(words: string, value: string): string {
  return wordsOf(value).length > 1 ? words : words.replace(/\bone\b/gi, "");
}

/** Whether the assistant or a tool has named the value, and for no other argument of the call: the user may have agreed to it. */
export function wasOffered(
  messages: readonly ChatMessage[],
  { parameter, value, args }: { parameter: MentionedValue["parameter"]; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  // Results are full of numbers that nobody offered.
  const results = writtenForm(value) === "number" ? "" : wordsBy(messages, "tool");
  const offers = `${wordsBy(messages, "assistant")}\n${results}`;
  return mentions(offers, { parameter, value }) && !heldElsewhere(args, { parameter: parameter.name, value });
}

/** Whether the word tells, in some form, that this parameter is meant and no other of the tool. */
export function isOwnWord(word: string | undefined, { ownWords }: Pick<Parameter, "ownWords">): boolean {
  return word !== undefined && telling(ownWords).some((topic) => sameStem(word, topic));
}

export function wordsBy(messages: readonly ChatMessage[], role: "user" | "assistant" | "tool"): string {
  return messages.flatMap((message) => (message.role === role ? [message.content ?? ""] : [])).join("\n");
}

/** Whether the text names the parameter itself: a telling word of its name stands there, or every one. */
export function namesTopic(text: string, { words }: Pick<Parameter, "words">, { whole = false }: { whole?: boolean } = {}): boolean {
  const said = topicsIn(text);
  const named = telling(wordsOf(words)).map((topic) => said.some((word) => sameStem(word, topic)));
  return whole ? named.length > 0 && named.every(Boolean) : named.some(Boolean);
}

/**
 * The parameters that the text names, but for those of which it names only a part of what it names of another: "remind me 30 minutes before" is
 * about `reminder_minutes`, not `duration_minutes`. Where it names none to the letter, those whose name is another form of a word of it: "assign it to Dana".
 */
export function parametersNamed<Named extends Pick<Parameter, "words">>(text: string, parameters: readonly Named[]): Named[] {
  const said = topicsIn(text);
  const isSaid = (topic: string): boolean => said.some((word) => sameStem(word, topic) || isDerived(word, topic));
  const named = parameters
    .map((parameter) => ({ parameter, topics: telling(wordsOf(parameter.words)).filter(isSaid) }))
    .filter(({ topics }) => topics.length > 0);
  const isPart = (part: readonly string[], whole: readonly string[]): boolean =>
    part.length < whole.length && part.every((topic) => whole.some((other) => sameStem(topic, other)));
  const whole = named.filter(({ topics }) => !named.some((other) => isPart(topics, other.topics))).map(({ parameter }) => parameter);
  const literal = whole.filter((parameter) => namesTopic(text, parameter));
  return literal.length > 0 ? literal : whole;
}

/** The words, and those that a hyphen joins as one: "drop-off time" is what `dropoff_time` is called. */
function topicsIn(text: string): string[] {
  const joined = text.match(/\p{L}{1,30}(?:-\p{L}{1,30}){1,3}/gu) ?? [];
  return [...wordsOf(text), ...joined.map((word) => word.replaceAll("-", "").toLowerCase())];
}

/** Whether one is the other with an ending that makes a noun or another form of a verb: `reminder` and `remind`. */
function isDerived(left: string, right: string): boolean {
  const [long, short] = left.length >= right.length ? [left, right] : [right, left];
  return short.length >= 5 && long.startsWith(short) && /^(?:e?rs?|ees?|ing|e?d|ure|al|y|ment)$/.test(long.slice(short.length));
}

/**
 * The tools that the text names: by a name as it is, or as the words that it is made of, of which one alone says too little. Only where no
 * name stands there to the letter another ending is let pass ("find restaurants").
 */
export function toolsNamed(text: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const said = wordsOf(text);
  const telling = tools.filter((tool) => wordsOf(humanise(tool.function.name)).length > 1);
  const named = (same: Same): ToolDefinition[] =>
    telling.filter(({ function: { name } }) => [humanise(name), name].some((form) => containsPhrase(said, wordsOf(form), same)));
  const exact = named((left, right) => left === right);
  return exact.length > 0 ? exact : named(sameStem);
}

const CHOOSING = new Set(["use", "using", "run", "call", "try", "take", "with", "through", "via", "by"]);

/** Whether the text asks for a tool by its name: as it is written, or as words after one that chooses ("use find movies"); what a tool does people say without it. */
export function choosesTool(text: string, name: string): boolean {
  const [said, words] = [wordsOf(text), wordsOf(humanise(name))];
  if (words.length < 2) return false;
  const written = wordsOf(name);
  const exact: Same = (left, right) => left === right;
  if (written.length < words.length && containsPhrase(said, written, exact)) return true;
  return said.some((word, at) => CHOOSING.has(word) && containsPhrase(said.slice(at + 1, at + 1 + words.length), words, exact));
}

/** Of the name; the description also tells what the tool is about, so it counts only where the name says nothing. */
export function topicWords({ words, description }: MentionedValue["parameter"]): string[] {
  const named = telling(wordsOf(words));
  return named.length > 0 ? named : telling(wordsOf(description));
}

/** Those of the words that tell what is meant. */
export function telling(words: readonly string[]): string[] {
  return words.filter((word) => word.length > 2 && !COMMON.has(word));
}
