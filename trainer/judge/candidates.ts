/**
 * Every hint that the schema allows and the user's words support. Where the base writes none of them by itself, it may
 * still tell which is likeliest: constrained decoding over a short list, of which each entry is grounded.
 */
import type { Hint } from "../../shared/jobs.ts";
import type { Signal } from "../data/exchange.ts";
import { mentions, namesTopic, wordsBy } from "../../shared/speech/mention.ts";
import { readParameters, type Parameter } from "../../shared/speech/parameters.ts";
import { datesIn, numbersIn, timesIn, writtenForm } from "../../shared/speech/spoken.ts";
import { clausesOf, ORDINALS } from "../../shared/speech/wanted.ts";
import { ORDER_VERBS, withoutOrder } from "./orders.ts";
import { wishfulWords } from "./wishful.ts";
import { exampleOf, writtenFormOf, groundHint, heldText, lastCall } from "./ground.ts";

const MOST = 16; // each costs a row of scoring
const SPAN_WORDS = 4;

/** Grounded hints about the tools of the exchange; only those whose parameter the user names, where any is named; where `named` asks for it those of which an option is named, too. */
export function groundedCandidates(signal: Pick<Signal, "exchange" | "turn">, { named: must = false }: { named?: boolean } = {}): Hint[] {
  const words = wishfulWords(wordsBy(signal.exchange.nextState, "user"));
  const parameters = signal.exchange.tools.flatMap((tool) => readParameters(tool).map((parameter) => ({ tool, parameter })));
  const named = parameters.filter(({ parameter }) => namesTopic(words, parameter) || (must && namesOption(words, parameter)));
  const hints = (must || named.length > 0 ? named : parameters).flatMap(({ tool, parameter }) =>
    valuesIn(words, parameter, exampleOf(parameter, heldText(lastCall(signal.exchange, tool.function.name), parameter.name), signal)).map(
      (value) => ({ parameter: parameter.name, value }),
    ),
  );
  return hints.filter((hint) => groundHint(hint, signal).status === "grounded").slice(0, MOST);
}

/** An option says which parameter is meant as well as its name does, unless it is a number, or a word among others that wish for nothing: "my first time". */
function namesOption(words: string, parameter: Parameter): boolean {
  const options = parameter.kind === "boolean" ? [] : parameter.allowed.filter((value) => writtenForm(value) === undefined);
  const clauses = clausesOf(words).filter((clause) => CUES.test(clause) || isBare(clause, options));
  return clauses.some((clause) => options.some((value) => mentions(clause, { parameter, value })));
}

const CUES =
  /\b(?:must|has|had|travel\w*|next time|always|usually|usual|prefer\w*|please|pls|plz|should\w*|instead|rather|want\w*|like|love|need\w*|use|make|take|give|book|get|choose|pick|fly|stay|ride|drive|go|i'd|i'll|meant|mean|said|told|wrong|not|no|never|only|again|hate|stand|any\w*|every\w*|nothing|but|than|switch|change|have|do|for me|taste|from (?:now|here) on|works?|better|best|wish\w*|hop(?:e|ed|ing)|expect\w*|look\w*|favou?r\w*|care|matters?|default|let's|how about|what about|could|can|would|why|supposed)\b|n't\b/i;

/** Whether a clause is an option and next to nothing else: "business class, as usual". */
function isBare(clause: string, options: readonly string[]): boolean {
  const said = clause.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const known = new Set([...BESIDE, ...options.flatMap((option) => option.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]);
  return said.length > (ORDINALS.has(said[0] ?? "") ? 1 : 0) && said.every((word) => known.has(word));
}

const BESIDE =
  "class one ones places size kind type option version style the a an it is it's s as thanks thank you then me in of seat".split(" ");

/**
 * The schema's own values, or what in the user's words could be one: dates, times and numbers in the form of the example,
 * else numbers and spans of capitalised words.
 */
function valuesIn(words: string, parameter: Parameter, example: string | undefined): string[] {
  const { kind, allowed } = parameter;
  if (kind === "boolean") return allowed.length > 0 ? [...allowed] : ["True", "False"];
  if (allowed.length > 0) return [...allowed];
  const form = writtenFormOf(parameter, example);
  if (kind === "date") return datesIn(words, form === "date" ? example?.slice(0, 4) : undefined);
  if (kind === "time") return timesIn(words);
  if (form === "number" || kind === "number") return numbersIn(words);
  return [...capitalisedSpans(words), ...numbersIn(words)];
}

// Words that are capitalised where a sentence begins and are no value then, beside verbs of orders.
const STARTERS = new Set(
  (
    "a actually again all always and are as ask at before but can can't change check could couldn't did didn't do does doesn't don't excuse fix " +
    "for from hello hey hi hmm hold how i if in instead is isn't it just let listen my never next no nobody nope not nothing oh on " +
    "only oops or our please redo regarding right run seriously should shouldn't since so sorry stop tell thanks that the their there they " +
    "this wait was wasn't we well were what when where which who whoa why with won't would wouldn't wrong yes you your"
  ).split(" "),
);

const UNCASED = "[\\p{Lo}\\p{M}ー]";

function isStarter(word: string): boolean {
  return STARTERS.has(word.toLowerCase()) || ORDER_VERBS.has(word.toLowerCase());
}

/** `in San Jose, please` → `San Jose`. */
function capitalisedSpans(words: string): string[] {
  const word = "(?!I\\b)\\p{Lu}(?:\\.(?=[^\\S\\n]+\\p{Lu})|[\\p{L}\\p{M}\\p{N}'&-]*)"; // or an initial, but not "I"
  // Within a name, words of scripts without capitals, too.
  const pattern = new RegExp(`(?<![\\p{Lo}\\p{M}] )${word}(?:[^\\S\\n]+(?:${word}|${UNCASED}+)){0,${SPAN_WORDS - 1}}`, "gu");
  // "The Beatles" or "Use San Jose": with and without what may only begin the sentence.
  const spans = [...words.matchAll(pattern)].flatMap(([text]) =>
    isStarter(text) ? [] : [withoutOrder(words, text), withoutStarters(text)],
  );
  return [...new Set(spans.filter((text) => text !== ""))];
}

/** `Use San Jose` → `San Jose`. */
function withoutStarters(span: string): string {
  const parts = span.split(/\s+/);
  const first = parts.findIndex((word) => !isStarter(word));
  return first < 0 ? "" : parts.slice(first).join(" ");
}
