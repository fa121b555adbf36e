/** Whether a person asks for a value, or only speaks of it: to refuse it, or as a part of something else. Words are matched, never interpreted. */
import type { ChatMessage } from "../chat.ts";
import { argumentText, heldElsewhere, readableCalls, sameText } from "./calls.ts";
import { type MentionedValue, wordsBy } from "./mention.ts";
import { isCount, isNumber } from "./numbers.ts";
import type { Parameter } from "./parameters.ts";
import { isPartOfDate, knownForms, writtenForm } from "./spoken.ts";
import { clausesOf } from "./sentences.ts";
import { isTruthWanted, truthTold } from "./truth.ts";
import { phrasesIn, tellingWords, wordsOf } from "./words.ts";

// A clock that tells no half of the day is the morning's: "7:30" is 07:30.
const MORNING = /^0\d:\d\d$/;
const BARE_CLOCK = /(?<![\d:])(?<clock>\d:\d\d)(?![\d:]| ?[ap]\.?m\b| (?:in the (?:afternoon|evening)|at night))/gi;

/**
 * Whether the text speaks of the value otherwise than to refuse it: "not Economy" and "rather than Economy" do not. Of a truth what is said of its topic
 * tells which of the two it is; "one" counts where it is no pronoun.
 */
export function isWanted(words: string, { parameter, value }: MentionedValue, options: readonly string[] = []): boolean {
  const text = MORNING.test(value) ? words.replaceAll(BARE_CLOCK, "0$<clock>") : words;
  if (parameter.kind === "boolean" || /^(true|false)$/i.test(value)) return isTruthWanted(text, { parameter, value });
  return clausesOf(text).some((clause) => {
    if (writtenForm(value) === "number") return isNumberWanted(clause.replaceAll(PRONOUN, " ").replaceAll(INSTEAD, " "), value);
    const words = tellingWords(clause);
    const parts = partsOfLonger(words, { value, options });
    return knownForms(value)
      .flatMap((form) => phrasesIn(words, tellingWords(form)).map((at) => ({ at, end: at + tellingWords(form).length })))
      .some(({ at, end }) => !parts.has(at) && !isRefused(words, at) && !isBad(words.slice(end, end + AFTER_WORDS)));
  });
}

/** Of a number neither a bound nor a choice is a wish for it: "less than 4", "under 4", "2 or 3". */
function isNumberWanted(clause: string, value: string): boolean {
  const words = wordsOf(clause);
  return words.some((word, at) => {
    if (!isNumber(word, value) || isPartOfDate(words, at)) return false;
    // "No 4 please": who leaves the comma out refuses no number.
    const before = words[0] === "no" && !/^(?:more|fewer|less)$/.test(words[1] ?? "") ? words.with(0, "") : words;
    const behind = [at + 1, at + 2].map((from) => words.slice(from, from + AFTER_WORDS));
    const isDenied = isRefused(before, at) && !AFFIRMS.test(words.slice(Math.max(0, at - AFTER_WORDS), at).join(" "));
    return !isDenied && !behind.some(isBad) && !isBound(words, at);
  });
}

// "That won't work for 4", "not big enough for 4", "you didn't put 4" say how many there are, or were to be.
const AFFIRMS =
  /\b(?:t|not) (?:\w+ly |even |be )?(?:work|do|fit|suit|hold|seat|sleep|cover|serve|help|(?:\w+ )?enough)\b|\byou (?:(?:didn|haven|hadn) t|(?:did|have|had) not)\b/;

function isBound(words: readonly string[], at: number): boolean {
  const [before, next] = [words.slice(Math.max(0, at - 3), at).join(" "), words[at + 1]];
  if (BOUNDS.test(before)) return true;
  return (next === "or" && isCount(words[at + 2] ?? "")) || (words[at - 1] === "or" && isCount(words[at - 2] ?? ""));
}

const BOUNDS = /\b(?:under|below|above|between(?: \w+ and)?|(?:be|is|are|s|not|anything|something|well|just) over)$/;

/** Where the words are those of a longer option: "Premium Economy" is no Economy. */
function partsOfLonger(words: readonly string[], { value, options }: { value: string; options: readonly string[] }): ReadonlySet<number> {
  const longer = options.map(tellingWords).filter((option) => option.length > tellingWords(value).length);
  return new Set(longer.flatMap((option) => phrasesIn(words, option).flatMap((start) => option.map((_, offset) => start + offset))));
}

/** "2 rooms instead of 1": what is given up. */
export const INSTEAD = /\b(?:instead of|rather than|in place of)\s+(?:(?:an?|the)\s+)?[\p{L}\p{N}-]+/giu;

/** "The cheap one" counts nothing; "this with one" does. */
export const PRONOUN =
  /\b(?:the|this|that|another|other|next|last|which|each|every|any|no|first|an?|my|your)\s+(?:(?!(?:as|at|be|for|in|is|to|using|was|with)\b)\w+\s+)?one\b|\bone (?:of|day|that|which|where|who|thing)\b/gi;

/**
 * Whether the user named the value before any call had it, for no other argument, and not to refuse it, or told the truth outright: then nobody has made it
 * up. Numbers stand in many requests, and are never known by this.
 */
export function wasAskedFor(
  messages: readonly ChatMessage[],
  { parameter, value, args, tool }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>>; tool: string },
): boolean {
  const { name, kind, allowed } = parameter;
  if (kind === "boolean") return sameText(String(truthTold(messages, parameter)), value);
  if (writtenForm(value) === "number" || heldElsewhere(args, { parameter: name, value })) return false;
  const has = (message: ChatMessage): boolean =>
    readableCalls(message).some((call) => call.name === tool && sameText(argumentText(call.arguments[name]), value));
  const made = messages.findIndex(has);
  const words = tellingWords(wordsBy(made < 0 ? messages : messages.slice(0, made), "user"));
  const parts = partsOfLonger(words, { value, options: allowed });
  const asked = knownForms(value).flatMap((form) => phrasesIn(words, tellingWords(form)));
  return asked.some((at) => !parts.has(at) && !isRefused(words, at));
}

// What is said of a value with a thing of its kind between: "low priority tickets are", not "Pool, since Standard is".
const OF_IT =
  "(?:(?!(?:because|since|as|so|and|or|but|if|when|while|which|that|than|instead|rather|for|with|to|please|now|too|next|always|only|even)\\b)\\w+ ){0,3}?";
const BAD =
  "waste|pain|joke|nightmare|nuisance|horror|mess|disaster|hassle|bore|boring|annoying|awful|terrible|horrible|pointless|dreadful|unbearable|overrated|overpriced|uninteresting|irrelevant|unacceptable|beneath me|out of question";
const BAD_AFTER = new RegExp(
  `^${OF_IT}(?:(?:don|doesn|didn|won) t|(?:do|does|did|will) not) (?:really |even |ever )?(?:interest|work|suit|appeal|do it|help|concern|cut it)\\b|^${OF_IT}(?:(?:is|are|s|was|were|re) (?:\\w+ly |just |such |nothing but |only |pure |complete |total |so |too )*(?:${BAD})\\b|(?:sucks?|stinks?)\\b|(?:bores?|annoys?|bothers?) (?:me|us)\\b)`,
);

// "Celsius means nothing to me", "Economy is not for me"
const REFUSED_AFTER =
  /^(?:(?:is|was|are|were|s|means|does|did|will|would) (?:(?!not )\w+ )?(?:not(?! (?:negotiable|optional|what|bad|a problem))|nothing|no|wrong|too|never|useless|bad)|(?:isn|wasn|aren|doesn|didn|won) t(?! (?:negotiable|optional|what|bad|a problem)))\b/;

function isBad(after: readonly string[]): boolean {
  return REFUSED_AFTER.test(after.slice(0, REFUSED_WORDS).join(" ")) || BAD_AFTER.test(after.join(" "));
}

/** Whether the words before one of them refuse it. @param words of a clause, in lower case */
export function isRefused(words: readonly string[], at: number): boolean {
  const before = words.slice(Math.max(0, at - REFUSED_WORDS), at);
  if (DISCLAIMED.test(words.slice(0, Math.min(at, DISCLAIMER_WORDS)).join(" "))) return true;
  // "not Economy, so Business", "it's not Economy, it's Business", whatever stands between
  return REFUSING.test(before.slice(before.findLastIndex((word) => AFRESH.has(word)) + 1).join(" "));
}

// "I don't want Economy", "anything but Economy", "rather than Economy": in the words before a value.
const REFUSING =
  /(?<!\bwhy )\b(?:not|never|without|hate|dislike|despise|detest|loathe|avoid(?:ing|ed)?|stop|refuse|t|(?:enough|sick|tired|weary|bored|rid) of|(?:fed up|bored|done) with|(?:keep|stay|steer|shy) away from)\b(?! mind\b)|\b(?:no|no more|than|instead of|too)$|\b(?:any\w*|every\w*|all|whatever)(?: \w+){0,3} (?:but|except|other than)$/;

const REFUSED_WORDS = 4;
const AFTER_WORDS = 8;

const DISCLAIMER_WORDS = 12;
// "Nobody said the cabin should be Business" says it of none.
const DISCLAIMED =
  /^(?:(?:and|but|well|no|hey|wait|oh|sorry) )*(?:nobody|no one|none of us|who|(?:i|we) (?:have |had )?never|(?:i|we) (?:didn|haven|hadn) t|(?:i|we) (?:did|have|had) not) (?:\w+ )?(?:said|say|says|told|tell|asked|ask|mentioned|mention|claimed|claim|wrote|write|wanted|ordered|order|requested|request)\b/;

const AFRESH = new Set(["so", "s", "always", "only", "should", "make"]);

// Options that stand in many sentences: "my first time in Rome", "First, tell me about the luggage."
export const ORDINALS: ReadonlySet<string> = new Set(["first", "second", "third", "last", "next"]);
