/** Whether words a person wrote mention a parameter's value, in some form. Text is matched, never interpreted. */
import type { Parameter } from "./parameters.ts";
import { writtenForms } from "./spoken.ts";

export type MentionedValue = { readonly parameter: Pick<Parameter, "name" | "words" | "description" | "kind">; readonly value: string };

// Words that say nothing about which parameter is meant.
const COMMON = new Set(
  "a an and any are be by do does for from has have if in is it not of on or should some that the their there to user was what where whether which with value number name type true false".split(
    " ",
  ),
);

/** A truth value is mentioned by its parameter's topic; any other value by itself, as digits, in words, or by most of its own words. */
export function mentions(text: string, { parameter, value }: MentionedValue): boolean {
  const words = wordsOf(text);
  if (parameter.kind === "boolean" || /^(true|false)$/i.test(value))
    return topicWords(parameter).some((topic) => words.some((word) => sameStem(word, topic)));
  return writtenForms(value).some((form) => containsPhrase(words, wordsOf(form)));
}

/** Whether the text names the parameter itself: a telling word of its name stands there. */
export function namesTopic(text: string, { words }: Pick<Parameter, "words">): boolean {
  const said = wordsOf(text);
  return telling(wordsOf(words)).some((topic) => said.some((word) => sameStem(word, topic)));
}

/** Of the name; the description also tells what the tool is about, so it counts only where the name says nothing. */
function topicWords({ words, description }: MentionedValue["parameter"]): string[] {
  const named = telling(wordsOf(words));
  return named.length > 0 ? named : telling(wordsOf(description));
}

function telling(words: readonly string[]): string[] {
  return words.filter((word) => word.length > 2 && !COMMON.has(word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function containsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return words.some((_, start) =>
    phrase.every((word, offset) => words[start + offset] !== undefined && sameStem(words[start + offset] ?? "", word)),
  );
}

/** Equal, or one is the other with a plural's or a date's ending (`5th` for `5`). */
function sameStem(left: string, right: string): boolean {
  const [long, short] = left.length >= right.length ? [left, right] : [right, left];
  return long === short || (/^(s|es|st|nd|rd|th)$/.test(long.slice(short.length)) && long.startsWith(short));
}
