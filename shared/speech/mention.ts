/** Whether words a person wrote mention a parameter's value, in some form. Text is matched, never interpreted. */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import { argumentText, heldElsewhere, readableCalls, sameText } from "./calls.ts";
import { humanise, type Parameter } from "./parameters.ts";
import { isMonth, isNumberWord, knownForms, numberWord, writtenForm } from "./spoken.ts";

export type MentionedValue = { readonly parameter: Pick<Parameter, "name" | "words" | "description" | "kind">; readonly value: string };

// Words that say nothing about which parameter is meant.
const COMMON = new Set(
  "a an and any are be by do does for from has have if in is it not of on or should some that the their there to user was what where whether which with value number name type true false".split(
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

/**
 * Whether the text speaks of the value otherwise than to refuse it: "not Economy" and "rather than Economy" do not. Of a truth what is said of its topic
 * tells which of the two it is; "one" counts where it is no pronoun.
 */
export function isWanted(text: string, { parameter, value }: MentionedValue, options: readonly string[] = []): boolean {
  const isTruth = parameter.kind === "boolean" || /^(true|false)$/i.test(value);
  return clausesOf(text).some((clause) => {
    if (isTruth)
      return isDenying(parameter) ? mentions(clause, { parameter, value }) : truthSaid(clause, parameter) === /^true$/i.test(value);
    if (writtenForm(value) === "number") return mentions(clause.replaceAll(PRONOUN, " "), { parameter, value });
    const words = tellingWords(clause);
    const parts = partsOfLonger(words, { value, options });
    return knownForms(value)
      .flatMap((form) => phrasesIn(words, tellingWords(form)).map((at) => ({ at, end: at + tellingWords(form).length })))
      .some(
        ({ at, end }) => !parts.has(at) && !isRefused(words, at) && !REFUSED_AFTER.test(words.slice(end, end + REFUSED_WORDS).join(" ")),
      );
  });
}

/** Where the words are those of a longer option: "Premium Economy" is no Economy. */
function partsOfLonger(words: readonly string[], { value, options }: { value: string; options: readonly string[] }): ReadonlySet<number> {
  const longer = options.map(tellingWords).filter((option) => option.length > tellingWords(value).length);
  return new Set(longer.flatMap((option) => phrasesIn(words, option).flatMap((start) => option.map((_, offset) => start + offset))));
}

// "couldn't you", "shouldn't it be" and "don't forget" refuse nothing.
const ASKING_ANYWAY =
  /\b(?:ca|could|should|would|wo|was|were|is|are|did|does|do)n't (?:you|we|it|that|this|they|he|she|i|there)\b|\b(?:don't|do not) forget\b/gi;
const PRONOUN =
  /\b(?:the|this|that|another|other|next|last|which|each|every|any|no|first|an?|my|your)\s+(?:\w+\s+)?one\b|\bone (?:of|day|that|which|where|who|thing)\b/gi;

function clausesOf(text: string): string[] {
  return text
    .replaceAll("’", "'")
    .replaceAll(ASKING_ANYWAY, " ")
    .split(/[,;!?\n–—]|:(?!\d)|(?<!\b\p{L})\.(?=\s|$)| - |(?<!\b(?:any\w*|every\w*|nothing|all|whatever)(?: \w+)?) but /iu);
}

const DENIED =
  /\b(?:no|not|without|never|nothing|avoid|skip|drop|remove|hate|stop|exclude|excluding|cancel|cut|enough)\b|n't\b|\b(?:turn|switch) off\b/gi;
const LEFT_OUT = /\b(?:leave|take)\b.*\b(?:out|off)\b/i;
const UNNEEDED = /\b(?:don't|do not|doesn't|does not|didn't|won't) (?:\w+ )?(?:have|own|need|care|require|mind)\b|\bno need\b/i;
// Who misses something, or is asked why it is not there, wants it: what that tells of the parameter depends on what the call had.
const MISSED =
  /\bthere(?:'s| is| was| are|'re| were) (?:no|not|never)\b|\b(?:forgot|missing|no problem)\b|\byou (?:never|didn't|did not|don't|do not)\b/i;
const USELESS = /\b(?:useless|pointless|worthless|no (?:use|good)|unacceptable|unthinkable|out of the question|won't do|a nightmare)\b/i; // "no wifi is useless to me"

/** Which truth a clause tells of a parameter's topic; undefined where it tells none: what is not needed, or is missing, need not be unwanted. */
function truthSaid(clause: string, parameter: MentionedValue["parameter"]): boolean | undefined {
  if (!mentions(clause, { parameter, value: "true" }) || UNNEEDED.test(clause)) return undefined;
  const topic = wordsOf(clause).find((word) => topicWords(parameter).some((each) => sameStem(word, each))) ?? "";
  const before = clause.slice(0, Math.max(0, clause.toLowerCase().indexOf(topic)));
  if (MISSED.test(before)) return undefined;
  const denials = before.match(DENIED)?.length ?? 0;
  // "I can't do without wifi", "don't skip breakfast"
  if (denials > 1) return true;
  if (denials === 1) return USELESS.test(clause);
  if (LEFT_OUT.test(clause)) return false;
  return (clause.match(DENIED)?.length ?? 0) > 0 || USELESS.test(clause) ? undefined : true;
}

const DENYING_NAME = new Set("no non not avoid exclude without skip drop remove disable".split(" "));

/** Whether a parameter's own name denies: of `avoid_tolls` "no tolls" means true. There both truths stay open. */
function isDenying({ words }: Pick<Parameter, "words">): boolean {
  return wordsOf(words).some((word) => DENYING_NAME.has(word));
}

/** Whether the user said the value for this argument of the call: since the call before it, and for no other argument. */
export function wasSaid(
  messages: readonly ChatMessage[],
  { parameter, value, args }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  const words = requestWords(messages);
  // A truth or a number is in the words of many requests; it is this argument's only where they name it.
  const telling = parameter.kind !== "boolean" && writtenForm(value) !== "number";
  return (
    mentions(words, { parameter, value }) &&
    (telling || namesTopic(words, parameter, { whole: parameter.kind === "boolean" })) &&
    !heldElsewhere(args, { parameter: parameter.name, value })
  );
}

function requestWords(messages: readonly ChatMessage[]): string {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const request = messages.slice(0, asked + 1);
  const settled = request.findLastIndex((message) => message.role === "assistant" && (message.tool_calls ?? []).length > 0);
  return withoutPronoun(wordsBy(request.slice(settled + 1), "user"));
}

/** "one" is a pronoun more often than a number. */
function withoutPronoun(words: string): string {
  return words.replace(/\bone\b/gi, "");
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

/** Whether the user or the assistant has named the value, and for no other argument of the call, or the user has counted so many. */
export function wasNamed(
  messages: readonly ChatMessage[],
  { parameter, value, args }: { parameter: MentionedValue["parameter"]; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  if (wasCounted(messages, { parameter, value })) return true;
  const words = `${wordsBy(messages, "user")}\n${wordsBy(messages, "assistant")}`;
  return mentions(withoutPronoun(words), { parameter, value }) && !heldElsewhere(args, { parameter: parameter.name, value });
}

const DENYING = new Set(["not", "no", "than", "of", "without", "never"]); // "not 1 room", "rather than 1 room", "instead of 1 room"

/**
 * Whether the number is the last one that the user counted the parameter's things with ("1 bath", "one large bathroom"): whatever
 * other arguments hold, and whatever was made up for this one before, nothing else can be meant.
 */
export function wasCounted(
  messages: readonly ChatMessage[],
  { parameter, value }: { parameter: Pick<Parameter, "words">; value: string },
): boolean {
  if (writtenForm(value) !== "number") return false;
  const thing = telling(wordsOf(parameter.words)).at(-1)?.replace(/s$/, ""); // what a name ends in is what it counts: rooms, not `hotel rating`'s hotels
  const words = wordsOf(wordsBy(messages, "user"));
  const isThing = (word: string | undefined): boolean => thing !== undefined && word?.startsWith(thing) === true;
  const counts = (at: number): boolean => isThing(words[at + 1]) || (isThing(words[at + 2]) && !isCount(words[at + 1] ?? ""));
  const last = words.findLastIndex((word, at) => isCount(word) && counts(at));
  const said = words[last];
  return said !== undefined && (said === value || said === numberWord(value)) && !DENYING.has(words[last - 1] ?? "");
}

/**
 * Whether the user named the value before any call had it, for no other argument, and not to refuse it: then nobody has made it up. Numbers and truths
 * stand in many requests, and are never known by this.
 */
export function wasAskedFor(
  messages: readonly ChatMessage[],
  { parameter, value, args, tool }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>>; tool: string },
): boolean {
  const { name, kind, allowed } = parameter;
  if (kind === "boolean" || writtenForm(value) === "number" || heldElsewhere(args, { parameter: name, value })) return false;
  const has = (message: ChatMessage): boolean =>
    readableCalls(message).some((call) => call.name === tool && sameText(argumentText(call.arguments[name]), value));
  const made = messages.findIndex(has);
  const words = tellingWords(wordsBy(made < 0 ? messages : messages.slice(0, made), "user"));
  const parts = partsOfLonger(words, { value, options: allowed });
  const asked = knownForms(value).flatMap((form) => phrasesIn(words, tellingWords(form)));
  return asked.some((at) => !parts.has(at) && !isRefused(words, at));
}

// "Celsius means nothing to me", "Economy is not for me"
const REFUSED_AFTER =
  /^(?:(?:is|was|are|were|s|means|does|did|will|would) (?:\w+ )?(?:not(?! (?:negotiable|optional|what))|nothing|no|wrong|too|never|useless|bad)|(?:isn|wasn|aren|doesn|didn|won) t(?! (?:negotiable|optional|what)))\b/;

function isRefused(words: readonly string[], at: number): boolean {
  const before = words.slice(Math.max(0, at - REFUSED_WORDS), at);
  // "not Economy, so Business", "it's not Economy, it's Business", whatever stands between
  return REFUSING.test(before.slice(before.findLastIndex((word) => AFRESH.has(word)) + 1).join(" "));
}

// "I don't want Economy", "anything but Economy", "rather than Economy": in the words before a value.
const REFUSING =
  /\b(?:not|never|without|hate|dislike|avoid|stop|refuse|t)\b|\b(?:no|no more|than|instead of)$|\b(?:any\w*|every\w*|nothing|all|whatever)(?: \w+)? (?:but|except|other than)$/;
const REFUSED_WORDS = 4;
const AFRESH = new Set(["so", "s", "always", "only", "should", "make"]);
const ARTICLES = new Set(["a", "an", "the"]);

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !ARTICLES.has(word));
}

function isCount(word: string): boolean {
  return writtenForm(word) === "number" || isNumberWord(word);
}

export function wordsBy(messages: readonly ChatMessage[], role: "user" | "assistant" | "tool"): string {
  return messages.flatMap((message) => (message.role === role ? [message.content ?? ""] : [])).join("\n");
}

/** Whether the text names the parameter itself: a telling word of its name stands there, or every one. */
export function namesTopic(text: string, { words }: Pick<Parameter, "words">, { whole = false }: { whole?: boolean } = {}): boolean {
  const said = wordsOf(text);
  const named = telling(wordsOf(words)).map((topic) => said.some((word) => sameStem(word, topic)));
  return whole ? named.length > 0 && named.every(Boolean) : named.some(Boolean);
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
function topicWords({ words, description }: MentionedValue["parameter"]): string[] {
  const named = telling(wordsOf(words));
  return named.length > 0 ? named : telling(wordsOf(description));
}

function telling(words: readonly string[]): string[] {
  return words.filter((word) => word.length > 2 && !COMMON.has(word));
}

// A date, a clock time, a number, a word: `2:30` holds no 2, and `1,500` is no 1.
const WORD = /\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d{1,2}(?=[ap]m\b)|\d+(?:,\d{3})*(?:\.\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}]+/gu;

function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replace(/\b([ap])\.\s?m\b\.?/g, "$1m");
  return (plain.match(WORD) ?? []).map((word) => (/^\d[\d,.]*$/.test(word) ? word.replaceAll(",", "") : word));
}

/** `2` in "2 pm", "March 2", "2 March" and "2 of March". */
function isPartOfDate(words: readonly string[], at: number): boolean {
  const [before, after, next] = [words[at - 1], words[at + 1], words[at + 2]];
  if (after === "am" || after === "pm") return true;
  return [before, after, after === "of" ? next : undefined].some((word) => word !== undefined && isMonth(word));
}

type Same = (left: string, right: string) => boolean;

function containsPhrase(words: readonly string[], phrase: readonly string[], same: Same = sameStem): boolean {
  return phrasesIn(words, phrase, same).length > 0;
}

/** Where the phrase begins in the words. */
function phrasesIn(words: readonly string[], phrase: readonly string[], same: Same = sameStem): number[] {
  const begins = (start: number): boolean =>
    phrase.every((word, offset) => words[start + offset] !== undefined && same(words[start + offset] ?? "", word));
  return phrase.length === 0 ? [] : words.flatMap((_, start) => (begins(start) ? [start] : []));
}

/** Equal, or one is the other with a plural's or a date's ending (`5th` for `5`). */
function sameStem(left: string, right: string): boolean {
  const [long, short] = left.length >= right.length ? [left, right] : [right, left];
  return long === short || (/^(s|es|st|nd|rd|th)$/.test(long.slice(short.length)) && long.startsWith(short));
}
