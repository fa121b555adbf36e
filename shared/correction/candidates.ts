/** Every hint that the schema allows and the user's words support. */
import { hintText } from "../jobs.ts";
import { mentions, parametersNamed, wordsBy } from "../speech/mention.ts";
import { readParameters, type Parameter } from "../speech/parameters.ts";
import { inUnitOf } from "../speech/durations.ts";
import { nearValues } from "../speech/near.ts";
import { datesIn, numbersIn, timesIn } from "../speech/spoken.ts";
import { sameStem, TITLES, wordsOf } from "../speech/words.ts";
import { ORDER_VERBS, withoutOrder } from "./orders.ts";
import { wishfulWords } from "./wishful.ts";
import { exampleOf, writtenFormOf, groundHint, heldText, lastCall, type Followed, type Stands } from "./ground.ts";

const MOST = 16; // each costs a row of scoring
const MOST_TRIED = 64; // each is looked for in all of the words
const SPAN_WORDS = 4;

/** Grounded hints about the tools of the exchange; only those whose parameter the user names, where any is named. */
export function groundedCandidates(signal: Followed): Stands[] {
  const words = wishfulWords(wordsBy(signal.exchange.nextState, "user"));
  const { tools } = signal.exchange;
  const named = tools.flatMap((tool) => parametersNamed(words, readParameters(tool)).map((parameter) => ({ tool, parameter })));
  const parameters = named.length > 0 ? named : tools.flatMap((tool) => readParameters(tool).map((parameter) => ({ tool, parameter })));
  const hints = parameters.flatMap(({ tool, parameter }) =>
    valuesIn(words, parameter, exampleOf(parameter, heldText(lastCall(signal.exchange, tool.function.name), parameter.name), signal)).map(
      (value) => ({ parameter: parameter.name, value }),
    ),
  );
  const distinct = [...new Map(hints.map((hint) => [hintText(hint), hint])).values()].slice(0, MOST_TRIED);
  return distinct
    .map((hint) => groundHint(hint, signal))
    .filter((each) => each.status === "grounded")
    .slice(0, MOST);
}

/**
 * The schema's own values, or what in the user's words could be one: dates, times and numbers in the form of the example,
 * else numbers and spans of capitalised words.
 */
function valuesIn(said: string, parameter: Parameter, example: string | undefined): string[] {
  const { kind, allowed } = parameter;
  const words = inUnitOf(parameter, said);
  // What is told in full, else what the example tells the rest of.
  const told = (values: string[]): string[] =>
    values.some((value) => mentions(words, { parameter, value })) ? values : [...values, ...nearValues(words, kind, example)];
  if (kind === "boolean") return allowed.length > 0 ? [...allowed] : ["True", "False"];
  if (allowed.length > 0) return [...allowed];
  const form = writtenFormOf(parameter, example);
  if (kind === "date") return told(datesIn(words, form === "date" ? example?.slice(0, 4) : undefined));
  if (kind === "time") return told([...new Set([...timesIn(words), ...quartersIn(words, parameter)])]);
  if (form === "number" || kind === "number")
    return numbersIn(words).map((number) => (kind === "number" ? String(Number(number)) : number));
  return [
    ...codesIn(words, parameter, example),
    ...quotedIn(words),
    ...capitalisedSpans(words.replaceAll(QUOTED, " , ")).filter(
      (span) => !isTopic(span, parameter) && !isPlaced(span, parameter) && !isDay(span, parameter),
    ),
    ...marked(words, `${parameter.words} ${parameter.description} ${example ?? ""}`),
    ...numbersIn(words),
  ];
}

// 'Call it "Q2 planning", please': a straight or a curly pair around a few words
const QUOTED = /"([^"\n]{2,80})"|“([^“”\n]{2,80})”/g;

/** What is quoted, which is meant whole. */
function quotedIn(words: string): string[] {
  return [...words.matchAll(QUOTED)]
    .map(([, straight, curly]) => (straight ?? curly ?? "").replace(/[.,!?]$/, "").trim())
    .filter((text) => text !== "");
}

/** Whether a word is what the parameter is called, "Label it …", and no value of it. */
function isTopic(span: string, { words }: Parameter): boolean {
  return !/\s/.test(span) && wordsOf(words).some((word) => sameStem(word, span.toLowerCase()));
}

/** "From Thai House" names the house; but "In Bruges" is a film. */
function isPlaced(span: string, { words, description }: Parameter): boolean {
  return (
    /^(?:at|for|from|in|on|to|with)\s/i.test(span) &&
    !/\b(?:title|song|album|track|film|movie|book|show|play|series|band|artist|event)s?\b/i.test(`${words} ${description}`)
  );
}

/** "Tuesday would suit me better" is about nobody, no place and no text, but for one that is about days. */
function isDay(span: string, { words, description }: Parameter): boolean {
  return DAYS.test(span) && !/\b(?:days?|weekdays?|dates?|when|occasions?|holidays?|events?|months?)\b/i.test(`${words} ${description}`);
}

const DAYS =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|thanksgiving|halloween|ramadan|hanukkah)$/i;

/** Times that people put in words: "quarter to seven in the morning". Only those are looked for of which the words have the hour. */
function quartersIn(words: string, parameter: Parameter): string[] {
  if (!PART_OF_DAY.test(words)) return [];
  const hours = new Set(numbersIn(words).map((hour) => Number(hour) % 12));
  const isNear = (hour: number): boolean => hours.has(hour % 12) || hours.has((hour + 1) % 12) || hour === 12;
  return Array.from({ length: 24 }, (_, hour) => hour)
    .filter(isNear)
    .flatMap((hour) => ["00", "15", "30", "45"].map((minute) => `${String(hour).padStart(2, "0")}:${minute}`))
    .filter((value) => mentions(value.endsWith(":00") ? words.replaceAll(QUARTER, " ") : words, { parameter, value }));
}

/** What is no whole hour: of "quarter to seven in the evening" seven is none. */
const QUARTER = /\b(?:quarter|half)\b(?: (?:to|past|after))? \S+/gi;

const PART_OF_DAY = /\b(?:morning|afternoon|evening|night|noon|half|quarter|o'?clock|[ap]\.?m)\b/i;

const CODES = {
  language:
    "ar bg bn cs da de el en es et fa fi fr ga he hi hr hu id is it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv th tr uk ur vi zh".split(
      " ",
    ),
  currency:
    "AUD BGN BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN MYR NOK NZD PLN RON SEK SGD THB TRY UAH USD VND ZAR".split(
      " ",
    ),
};

/** Whether a value is a code of a language or a currency. */
export function isCode(value: string): boolean {
  return CODES.language.includes(value) || CODES.currency.includes(value);
}

/** Codes of the languages or currencies that the words name, where the example is such a code. */
function codesIn(words: string, parameter: Parameter, example = ""): string[] {
  const codes = Object.values(CODES).find((known) => known.includes(example)) ?? [];
  return codes.filter((value) => mentions(words, { parameter, value }));
}

/** What is written as no word is, where such is looked for: an e-mail address, or what has strokes ("release/2.x"). */
function marked(words: string, about: string): string[] {
  const found = words.match(/(?<![\p{L}\p{N}@/_.-])[\p{L}\p{N}]+(?:[@/_.-]+[\p{L}\p{N}]+)+/gu) ?? [];
  const fits = (each: string): boolean => (each.includes("@") ? /mail|@/i.test(about) : /[/_]/.test(each));
  return found.filter(fits);
}

// Words that are capitalised where a sentence begins and are no value then, beside verbs of orders.
const STARTERS = new Set(
  (
    "a actually again all alright always am and any are as ask at before but can can't change check could couldn't did didn't do does doesn't don't every everything excuse fine fix " +
    "for from good great had haha has have hello hey hi hmm hold how huh i if in instead is isn't it just let listen lovely many may might more most much must my never next nice no nobody nope not nothing oh ok okay on " +
    "only oops or our perfect please redo regarding right run seriously shall should shouldn't since so sorry stop tell thank thanks that the their there they to " +
    "this wait was wasn't we well were what whatever when where which who whoa will wow why with won't would wouldn't wrong yes you your"
  ).split(" "),
);

const UNCASED = "[\\p{Lo}\\p{M}ー]";

/** What people call out, which names nothing. */
export const EXCLAMATIONS: ReadonlySet<string> = new Set(
  (
    "absolutely amazing annoying awesome awful bingo bravo brilliant cheers congrats cool damn definitely delicious disappointing disgusting dreadful duh eww exactly excellent fantastic gosh hooray horrible hurray " +
    "idiots indeed insane meh mmm neat nonsense omg ouch outrageous pathetic phew ridiculous rubbish super sure sweet tasty terrible typical ugh unbelievable useless voila whoah wonderful yay yeah yep yuck yum yummy yup"
  ).split(" "),
);

function isStarter(word: string): boolean {
  const plain = word.toLowerCase();
  return (
    STARTERS.has(plain) ||
    EXCLAMATIONS.has(plain) ||
    ORDER_VERBS.has(plain) ||
    /^(?:that|it|he|she|here|there|what|who|where|let)'s$|^(?:i|you|we|they)'(?:m|re|ve|d|ll)$/.test(plain)
  );
}

/** `in San Jose, please` → `San Jose`. */
function capitalisedSpans(words: string): string[] {
  const word = `(?!I\\b)(?:(?:${TITLES}|\\p{Lu})\\.(?=[^\\S\\n]+\\p{Lu})|\\p{Lu}[\\p{L}\\p{M}\\p{N}'&-]*)`; // or a title or an initial, but not "I"
  // Within a name, words of scripts without capitals, too, and what joins its words: "Congress of Vienna".
  const pattern = new RegExp(
    `(?<![\\p{Lo}\\p{M}] )${word}(?:[^\\S\\n]+(?:(?:of the|of|&|de la|de|van|von) )?(?:${word}|${UNCASED}+)){0,${SPAN_WORDS - 1}}(?:[^\\S\\n]+\\d[\\d-]*)?`,
    "gu",
  );
  // "The Beatles" or "Use San Jose": with and without what may only begin the sentence.
  const spans = [...words.matchAll(pattern)].flatMap(({ 0: text, index }) => {
    const bare = text.replace(/\s+\d[\d-]*$/, "");
    if (
      /^(?:no|not|never)\s/i.test(bare) ||
      isStarter(bare) ||
      (!/\s/.test(bare) && opensOtherwise(words, { at: index, end: index + text.length }))
    )
      return [];
    const numbered = withNumber(words, { text, at: index });
    return numbered === undefined ? [text, bare].flatMap((each) => [withoutOrder(words, each), withoutStarters(each)]) : [numbered];
  });
  return [...new Set(spans.filter((text) => text !== ""))];
}

/** A name of several words with the number that it begins with: "24 Hour Fitness". */
function withNumber(words: string, { text, at }: { text: string; at: number }): string | undefined {
  const number = /(?<![\w:.,-])\d+[^\S\n]+$/.exec(words.slice(0, at))?.[0];
  return number === undefined || !/\s\p{Lu}/u.test(text) ? undefined : `${number}${text}`;
}

/** Whether a word that a sentence begins with goes on as no name that is wished for would: "Everything from …", not "Sequoia, please". */
function opensOtherwise(words: string, { at, end }: { at: number; end: number }): boolean {
  if (!/(?:^|[.!?\n]["'“(]?\s*)$/.test(words.slice(0, at))) return false;
  return (
    /^[^\S\n]+\p{Ll}/u.test(words.slice(end)) &&
    !/^[^\S\n]+(?:please|pls|plz|instead|is|would|will|not|rather|thanks|thx|it|has|and|this time|for (?:me|us)|from now)\b/.test(
      words.slice(end),
    )
  );
}

/** `Use San Jose` → `San Jose`. */
function withoutStarters(span: string): string {
  const parts = span.split(/\s+/);
  const first = parts.findIndex((word) => !isStarter(word));
  return first < 0 ? "" : parts.slice(first).join(" ");
}
