/**
 * What a number is said of: "3 suitcases" are no passengers, "six of us" are, and "20 minutes" are no hours. Whatever names a thing behind a number that no word of
 * a parameter's name or description does speaks against that parameter.
 */
import { escapeRegExp } from "../regexp.ts";
import { COUNTED_PEOPLE, isNumber } from "./numbers.ts";
import { telling } from "./mention.ts";
import type { Parameter } from "./parameters.ts";
import { sameStem, wordsOf } from "./words.ts";

const PEOPLE = new RegExp(`\\b(?:(?:${COUNTED_PEOPLE}|folk|friend|head|mate|member|player|seat)s?|group|party)\\b`, "i");
const US = /^(?:of us|of them|people|persons?|folks|heads|in (?:all|total)|altogether)\b/i;
const CURRENCIES = /^(?:eur|euros?|usd|dollars?|gbp|pounds?|bucks|quid|francs?|chf|yen|rupees?|pesos?)$/;
const MONEY =
  /\b(?:amounts?|price|prices|cost|costs|fee|fees|budget|sum|money|pay|payment|salary|limit|transfer\w*|donation|deposit|tip)\b/;
// Words that end in s and name no thing.
const NO_THINGS = new Set(
  "always as at has his is its less minus perhaps please pls plus s sometimes thanks this tops unless us vs was yes does hers ours yours theirs".split(
    " ",
  ),
);
const UNITS = new Set(
  "min mins hr hrs h km mi kg g lb lbs mm cm gram grams watt degree eur euro usd gbp bucks quid percent year".split(" "),
);

type Use = "own" | "other" | "nothing";

/** What the text says of a number that it counts: what the parameter counts, another thing, or nothing. */
export function countedBy(text: string, value: string, { words, description }: Pick<Parameter, "words" | "description">): Use {
  const said = wordsOf(text);
  const own = telling(wordsOf(`${words} ${description}`)).filter((word) => !NO_THINGS.has(word));
  const uses = said.flatMap((word, at) => (isNumber(word, value) ? [useAt(said, at, own)] : []));
  if (uses.includes("own")) return "own";
  if (new RegExp(`(?<![\\d.,])${escapeRegExp(value)} ?%`).test(text) && !own.some((word) => /^(?:percent|rate|share)/.test(word)))
    return "other";
  return uses.length > 0 && uses.every((use) => use === "other") ? "other" : "nothing";
}

function useAt(said: readonly string[], at: number, own: readonly string[]): Use {
  if (YEAR.test(said[at] ?? "")) return own.some((word) => sameStem(word, "year")) ? "own" : "other";
  return isTime(said, at) ? "other" : useOf(said.slice(at + 1, at + 4), own);
}

const YEAR = /^(?:19|20)\d\d$/;

function useOf(after: readonly string[], own: readonly string[]): Use {
  const isOwn = (word: string): boolean => own.some((each) => sameStem(each, word));
  const [next = "", second = ""] = after;
  if (US.test(after.join(" "))) return PEOPLE.test(own.join(" ")) ? "own" : "other";
  if (CURRENCIES.test(next) && MONEY.test(own.join(" "))) return "own";
  if (isOwn(next) || (isOwn(second) && !isThing(next))) return "own";
  return isThing(next) ? "other" : "nothing";
}

// "at ten to nine", of which neither counts anything, and not "change ten to twelve"
const CLOCK = "(?:at|by|until|till|before|after|around|about|is|s) (?:a )?(?:five|ten|twenty|quarter) (?:to|past)";
const CLOCK_MINUTES = new RegExp(`(?:^|^\\S+ )${CLOCK}\\b`);
const CLOCK_HOUR = new RegExp(`\\b${CLOCK}$`);

const AGE = /\b(?:niece|nephew|son|daughter|kid|child|girl|boy|baby|he|she|who) (?:is|s|turned|turns|just turned)$/;

/** "half past five", "at ten to nine", "she is six", "5 o'clock", "until seven", "7 is too late", "from 9 to 4" */
function isTime(said: readonly string[], at: number): boolean {
  const [before, after] = [said.slice(Math.max(0, at - 4), at).join(" "), said.slice(at + 1, at + 3).join(" ")];
  if (/\bfrom \S+ (?:to|until|till)$/.test(before) || (/\bfrom$/.test(before) && /^(?:to|until|till) /.test(after))) return true;
  return (
    /^(?:past|half|until|till|before|after)$/.test(said[at - 1] ?? "") ||
    CLOCK_MINUTES.test(said.slice(Math.max(0, at - 2), at + 3).join(" ")) ||
    CLOCK_HOUR.test(before) ||
    AGE.test(before) ||
    /^(?:o clock|(?:is|was|s) (?:far |much |way )?too (?:late|early))\b/.test(said.slice(at + 1, at + 5).join(" "))
  );
}

function isThing(word: string): boolean {
  return UNITS.has(word) || (word.length > 3 && /(?<!s)s$/.test(word) && !NO_THINGS.has(word));
}

/**
 * The thing that the text speaks of a number of ("the number of bags should be 4", "the bags should be 4"), where no word of the parameter's name or description
 * is that thing: its number is nobody's word for the parameter.
 */
export function otherThing(text: string, { words, description }: Pick<Parameter, "words" | "description">): string | undefined {
  const own = wordsOf(`${words} ${description}`);
  const isOwn = (thing: string): boolean =>
    own.some((word) => sameStem(word, thing) || sameStem(`${word}s`, thing)) || (PEOPLE.test(thing) && PEOPLE.test(own.join(" ")));
  const things = [...text.toLowerCase().matchAll(NUMBER_OF)].flatMap(([, thing = "", subject = ""]) => thing || subject);
  return things.length > 0 && !things.some(isOwn) ? things[0] : undefined;
}

const NUMBER_OF =
  /\b(?:number|count|amount) of (?:the |my |our )?(\p{L}+)|\b(?!this\b|it'?s\b|s\b)(\p{L}{3,}s) (?:should|must|has to|have to|needs? to|(?:was|were) (?:supposed|meant) to) (?:\w+ )?be\b/giu;
