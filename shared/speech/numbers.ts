/** Numbers that people say, and what they count with them. */
import type { ChatMessage } from "../chat.ts";
import { isOwnWord, telling, wordsBy } from "./mention.ts";
import type { Parameter } from "./parameters.ts";
import { isNumberWord, isPartOfDate, numberWord, writtenForm } from "./spoken.ts";
import { wordsOf } from "./words.ts";

const MEASURES = new Set(["rating", "level", "class", "grade", "rank", "score", "category"]); // that nobody counts things in
const DENYING = new Set(["not", "no", "than", "of", "without", "never"]); // "not 1 room", "rather than 1 room", "instead of 1 room"

/**
 * Whether the number is the last one that the user counted the parameter's things with ("1 bath", "one large bathroom", "a 1 star hotel"):
 * whatever other arguments hold, and whatever was made up for this one before, nothing else can be meant.
 */
export function wasCounted(
  messages: readonly ChatMessage[],
  { parameter, value }: { parameter: Pick<Parameter, "words" | "ownWords">; value: string },
): boolean {
  if (writtenForm(value) !== "number") return false;
  const words = wordsOf(wordsBy(messages, "user"));
  const last = words.findLastIndex((word, at) => isCount(word) && counts(words, at, parameter));
  return isNumber(words[last], value) && !DENYING.has(words[last - 1] ?? "");
}

/**
 * Whether the user has said the number only to count the things of another of the tool's parameters with ("a 3 star hotel" asks for no three rooms). Who counts people may mean
 * what each of them needs.
 */
export function isCountOfAnother(
  messages: readonly ChatMessage[],
  { parameter, value, parameters }: { parameter: Pick<Parameter, "words" | "ownWords">; value: string; parameters: readonly Parameter[] },
): boolean {
  if (writtenForm(value) !== "number") return false;
  const words = wordsOf(wordsBy(messages, "user"));
  const said = words.flatMap((word, at) => (isNumber(word, value) && !isPartOfDate(words, at) ? [at] : []));
  const isOther = (at: number): boolean => parameters.some((other) => !isOfPeople(other) && counts(words, at, other));
  return said.length > 0 && said.every((at) => !counts(words, at, parameter) && isOther(at));
}

/** Whether a word is the number, in digits or spelled out. */
export function isNumber(word: string | undefined, value: string): boolean {
  return word !== undefined && (word === value || word === numberWord(value));
}

/** Whether the number among words counts the parameter's things: rooms, or stars of a `star_rating`; of a `room_floor` no rooms are. */
function counts(words: readonly string[], at: number, parameter: Pick<Parameter, "words" | "ownWords">): boolean {
  const thing = telling(wordsOf(parameter.words)).at(-1)?.replace(/s$/, ""); // what a name ends in is what it counts: rooms, not `hotel rating`'s hotels
  const isThing = (word: string | undefined): boolean => thing !== undefined && word?.startsWith(thing) === true;
  const isMeasure = MEASURES.has(wordsOf(parameter.words).at(-1) ?? "");
  return (
    isThing(words[at + 1]) ||
    (isMeasure && isOwnWord(words[at + 1], parameter)) ||
    (isThing(words[at + 2]) && !isCount(words[at + 1] ?? ""))
  );
}

/** The numbers among words, as they are written there, but for those of dates and hours. */
export function numbersAmong(words: readonly string[]): string[] {
  return words.filter((word, at) => isCount(word) && !isPartOfDate(words, at));
}

/** Whether a word is a number, in digits or spelled out. */
export function isCount(word: string): boolean {
  return writtenForm(word) === "number" || isNumberWord(word);
}

/** What parameters that count people are called, as an expression. */
export const COUNTED_PEOPLE = "passenger|guest|people|person|travell?er|adult|rider|diner|attendee|visitor";
const PEOPLE = new RegExp(`^(?:(?:number|num|count|amount) (?:of )?)?(?:${COUNTED_PEOPLE})s?(?: count)?$|^(?:party|group) size$`, "i");

/** Whether the parameter is a number of people. */
export function isOfPeople({ words }: Pick<Parameter, "words">): boolean {
  return PEOPLE.test(words);
}
