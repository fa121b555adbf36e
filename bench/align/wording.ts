/** Rules for how a reply to a tool's result is worded. Each can be checked on the text alone, and says how a reply that obeys it reads. */
import { z } from "zod";
import { assertNever } from "../../shared/assert.ts";
import { numberWord } from "../../shared/speech/spoken.ts";
import type { Result } from "./scenes.ts";

export const WordingRule = z.discriminatedUnion("name", [
  /** At most so many words. */
  z.object({ name: z.literal("brief"), words: z.number().int().positive() }),
  /** Nothing is asked. */
  z.object({ name: z.literal("statement") }),
  /** The user is called by this name. */
  z.object({ name: z.literal("addressed"), as: z.string() }),
  /** How many were found is told. */
  z.object({ name: z.literal("counted") }),
]);
export type WordingRule = z.infer<typeof WordingRule>;

export function breaksRule(rule: WordingRule, { text, result }: { text: string; result: Result }): boolean {
  switch (rule.name) {
    case "brief":
      return text.trim().split(/\s+/).length > rule.words;
    case "statement":
      return text.includes("?");
    case "addressed":
      return !text.includes(rule.as);
    case "counted":
      return !tellsCount(text, result);
    default:
      return assertNever(rule);
  }
}

/** The count as a number of its own, in digits or as a word; a "2" in "2:30", "2 stars" of something else, or "$2" does not tell it. */
function tellsCount(text: string, { count }: Result): boolean {
  const said = [String(count), numberWord(String(count))].filter((form) => form !== undefined);
  return said.some((form) => new RegExp(`(?<![\\d$:.,-])\\b${form}\\b(?![:.,-]?\\d)(?! ?(?:stars?|am|pm|dollars)\\b)`, "i").test(text));
}

/** A reply that obeys the rule and tells what was found. */
export function obeying(rule: WordingRule, result: Result): string {
  const thing = mainValue(result);
  switch (rule.name) {
    case "brief":
      return `How about ${thing}?`;
    case "statement":
      return `I found ${thing}.`;
    case "addressed":
      return `${rule.as}, I found ${thing}.`;
    case "counted":
      return `I found ${result.count}. One is ${thing}.`;
    default:
      return assertNever(rule);
  }
}

/** The shortest telling name of the first result. */
function mainValue({ results: [first = {}] }: Result): string {
  const texts = Object.values(first)
    .map(String)
    .filter((text) => text.length > 2 && !/^(true|false)$/i.test(text));
  const names = texts.filter((text) => /^\p{Lu}/u.test(text));
  const [shortest = ""] = (names.length > 0 ? names : texts).toSorted((a, b) => a.length - b.length);
  return shortest;
}
