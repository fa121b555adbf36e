/**
 * How replies to a tool's results are worded: shorter, without a question, with the user's name, with how many were found. A small policy that is
 * told so words its reply as ever; then it is held to its own reply, worded so. Sentences are kept or left out, and what was found is named.
 */
import type { ChatMessage } from "./chat.ts";
import { isNestedDeeper } from "./nesting.ts";
import { numberWord } from "./speech/spoken.ts";

export const REPLY_ASPECTS = ["@length", "@question", "@name", "@count"] as const;
/** `@length`: the value is the most words. `@question`: `none`. `@name`: what the user is called. `@count`: `told`. */
export type ReplyAspect = (typeof REPLY_ASPECTS)[number];
type Rule = { readonly parameter: string; readonly value: string };

export const NO_QUESTION = "none";
export const COUNT_TOLD = "told";
const LONGEST_NAME = 40; // characters

export function isReplyAspect(parameter: string): parameter is ReplyAspect {
  return REPLY_ASPECTS.some((aspect) => aspect === parameter);
}

/** Whether it is about one user and no word to others: no note of another has what somebody is called, and no policy that users share learns it from a correction. */
export function isOfOneUser(parameter: string): boolean {
  return parameter === "@name";
}

/** Whether a reply can be worded so at all. */
export function isWording({ parameter, value }: Rule): boolean {
  if (parameter === "@length") return /^[1-9]\d{0,2}$/.test(value);
  if (parameter === "@name") return value.length <= LONGEST_NAME && /^\p{L}[\p{L}\p{M}.' -]*$/u.test(value);
  return value === (parameter === "@question" ? NO_QUESTION : COUNT_TOLD);
}

/** What a tool has given back that is now replied to; empty where something else came last. */
export function resultsOf(messages: readonly ChatMessage[], tool: string): string[] {
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages
    .slice(from)
    .flatMap((message) => (message.role === "tool" && toolOf(message, messages) === tool ? [message.content] : []));
}

/** The tool whose results came last, or undefined where something else did. */
export function repliedTool(messages: readonly ChatMessage[]): string | undefined {
  return repliedTools(messages).at(-1);
}

/** The tools whose results the conversation ends with, in their order. */
export function repliedTools(messages: readonly ChatMessage[]): string[] {
  const since = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages.slice(since).flatMap((each) => toolOf(each, messages) ?? []);
}

function toolOf(message: ChatMessage, messages: readonly ChatMessage[]): string | undefined {
  if (message.role !== "tool") return undefined;
  const calls = messages.flatMap((each) => (each.role === "assistant" ? (each.tool_calls ?? []) : []));
  return calls.findLast(({ id }) => id === message.tool_call_id)?.function.name;
}

/** The reply as the rules have it, itself where it is so already or cannot be made so. @param results what it replies to, as the tool wrote it */
export function worded(reply: string, { rules, results }: { rules: readonly Rule[]; results: readonly string[] }): string {
  const valueOf = (aspect: ReplyAspect): string | undefined => rules.findLast(({ parameter }) => parameter === aspect)?.value;
  const [length, name] = [valueOf("@length"), valueOf("@name")];
  const values = results.flatMap(valuesIn);
  const text = name === undefined ? reply : withoutMisnaming(reply, { name, values });
  const named = firstNamed(text, values);
  const untold = valueOf("@count") === undefined ? undefined : untoldCount(text, results);
  let sentences = valueOf("@question") === undefined ? replySentences(text) : told(replySentences(text), { named, count: untold });
  if (untold !== undefined) sentences = [`I found ${untold}.`, ...sentences];
  const isNamed = name === undefined || text.includes(name);
  const room = length === undefined ? Number.POSITIVE_INFINITY : Number(length) - (isNamed ? 0 : wordsIn(name));
  if (wordsIn(sentences.join(" ")) > room) sentences = shortened(sentences, { named, room, counts: valueOf("@count") !== undefined });
  const said = sentences.join(" ");
  if (!isNamed && said !== "") return `${name}, ${inside(said, values)}`;
  return said === reply.trim() ? reply : said;
}

/**
 * The reply without what it begins with, alone or behind the name, where that is the name but for a letter or two ("Captain Lindqvit, I found"), or
 * behind the name begins with it once more ("Captain Lindqvist, captain Lind, I found").
 */
function withoutMisnaming(reply: string, { name, values }: { name: string; values: readonly string[] }): string {
  const before = reply.startsWith(`${name}, `) ? `${name}, ` : "";
  const said = reply.slice(before.length);
  const [opening = "", called = ""] = /^([^,!?\d\n]{1,60}), */.exec(said) ?? [];
  const rest = said.slice(opening.length);
  const [own, others] = [name, called].map((text) => text.toLowerCase().split(" ")) as [string[], string[]];
  const isNear = (word: string, index: number): boolean => editDistance(word, others[index] ?? "") <= word.length * MISNAMED_SHARE;
  const isAgain = before !== "" && own[0] === others[0] && others.length <= own.length;
  const isLike = called !== name && (isAgain || (own.length === others.length && own.every(isNear)));
  const isFound = values.some((value) => names(value, called) || names(called, value));
  if (opening === "" || rest === "" || !isLike || isFound) return reply;
  return before === "" ? rest.replace(/^\p{Ll}/u, (first) => first.toUpperCase()) : `${before}${rest}`;
}

const MISNAMED_SHARE = 0.25; // of a word's letters

/** Letters put in, taken out or changed between two texts (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let down = 1; down <= left.length; down += 1) {
    const next = [down];
    for (let across = 1; across <= right.length; across += 1) {
      const changed = (row[across - 1] ?? 0) + Number(left[down - 1] !== right[across - 1]);
      next.push(Math.min(changed, (row[across] ?? 0) + 1, (next[across - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

/** How many of the texts that were found the text names. */
export function countNamed(text: string, results: readonly string[]): number {
  return [...new Set(results.flatMap(valuesIn))].filter((value) => names(text, value)).length;
}

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
const FEWEST_DIGITS = 3; // days, hours and small counts are written in many ways

/** How many of the text's longer numbers nobody gave. @param given everything that numbers can be from */
export function countInvented(text: string, given: readonly string[]): number {
  const plain = (each: string): string => each.replaceAll(",", "");
  const known = given.map(plain);
  const numbers = (text.match(NUMBER) ?? []).map(plain).filter((number) => number.replace(".", "").length >= FEWEST_DIGITS);
  return numbers.filter((number) => !known.some((each) => each.includes(number))).length;
}

/** Whether a number under that name says how many there are. */
export function isCount(key: string): boolean {
  return /^(?:total_?)?(?:count|results|total|found|hits|matches)$/i.test(key);
}

/** How many a result holds: as it says, else the entries of its only list; undefined where it says nothing of a number. */
export function countIn(result: string): number | undefined {
  const read = readResult(result);
  if (Array.isArray(read)) return read.length;
  if (typeof read !== "object" || read === null) return undefined;
  const entries = Object.entries(read);
  const said = entries.find(([key, value]) => isCount(key) && Number.isInteger(value));
  if (said !== undefined) return Number(said[1]);
  const [only, ...more] = entries.flatMap(([, value]) => (Array.isArray(value) ? [value.length] : []));
  return more.length === 0 ? only : undefined;
}

/** How many the results hold together; undefined where none says anything of a number. */
export function totalIn(results: readonly string[]): number | undefined {
  return results.map(countIn).reduce((sum, count) => (count === undefined ? sum : (sum ?? 0) + count), undefined);
}

/** How many were found, where the text does not tell it. */
function untoldCount(text: string, results: readonly string[]): number | undefined {
  const total = totalIn(results);
  if (total === undefined) return undefined;
  const forms = [String(total), numberWord(String(total))].filter((form) => form !== undefined);
  return forms.some((form) => new RegExp(`(?<![\\w$:.,-])${form}(?![\\w]|[:.,-]\\d)`, "i").test(text)) ? undefined : total;
}

/** Sentences that ask nothing; what only a question named is told. */
function told(sentences: readonly string[], { named, count }: { named: string | undefined; count: number | undefined }): string[] {
  const kept = sentences.filter((sentence) => !sentence.includes("?"));
  if (kept.length === sentences.length || named === undefined) return kept.length > 0 ? kept : [...sentences];
  if (kept.some((sentence) => names(sentence, named))) return kept;
  return [...kept, count !== undefined && count > 1 ? `One is ${named}.` : `I found ${named}.`];
}

/** What finds room: a sentence that names what was found, else that alone; how many there are first, if that is to be told. */
function shortened(
  sentences: readonly string[],
  { named, room, counts }: { named: string | undefined; room: number; counts: boolean },
): string[] {
  const counting = counts
    ? sentences.filter((sentence) => /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b/i.test(sentence)).slice(0, 1)
    : [];
  const telling = sentences.filter((sentence) => !counting.includes(sentence) && (named === undefined || names(sentence, named)));
  const asks = sentences.some((sentence) => sentence.includes("?"));
  const alone = named === undefined ? [] : [asks ? `How about ${named}?` : `I found ${named}.`, `${named}.`];
  const ways = [...telling, ...alone].map((sentence) => [...counting, sentence]);
  if (ways.length === 0) return [...sentences];
  const size = (way: readonly string[]): number => wordsIn(way.join(" "));
  return ways.find((way) => size(way) <= room) ?? ways.reduce((least, way) => (size(way) < size(least) ? way : least));
}

/** What follows a full stop is a sentence of a policy's only where it begins as one: "10 p.m. at the Ritz" goes on. */
function replySentences(text: string): string[] {
  return text
    .trim()
    .split(/(?<=[.!?])\s+(?=[\p{Lu}\d"“])/u)
    .filter((sentence) => sentence !== "");
}

export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

/** Texts of a result that tell something: no truths, no single characters. */
function valuesIn(result: string): string[] {
  const leaves = (value: unknown): string[] => {
    if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
    const text = String(value);
    return text.length > 2 && typeof value === "string" ? [text] : [];
  };
  return leaves(readResult(result)).filter((text) => !/^(?:true|false|null)$/i.test(text));
}

/** Undefined where a result is no JSON, or none that can be walked. */
export function readResult(result: string): unknown {
  try {
    const read: unknown = JSON.parse(result);
    return isNestedDeeper(read) ? undefined : read;
  } catch {
    return undefined;
  }
}

/** The value that the text names first; of several there the longest. */
function firstNamed(text: string, values: readonly string[]): string | undefined {
  const places = values.map((value) => ({ value, at: text.toLowerCase().indexOf(value.toLowerCase()) })).filter(({ at }) => at >= 0);
  return places.toSorted((left, right) => left.at - right.at || right.value.length - left.value.length)[0]?.value;
}

function names(sentence: string, value: string): boolean {
  return sentence.toLowerCase().includes(value.toLowerCase());
}

/** A sentence after a name and a comma: its first word small, unless it is a name itself. */
function inside(said: string, values: readonly string[]): string {
  const [first = ""] = said.split(/\s/);
  const isOwn = /^I\b/.test(first) || !/^\p{Lu}\p{Ll}*[,.!?']?/u.test(first) || values.some((value) => value.startsWith(first));
  return isOwn ? said : `${said.slice(0, 1).toLowerCase()}${said.slice(1)}`;
}
