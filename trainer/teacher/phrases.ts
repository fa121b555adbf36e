/**
 * How a user may say things: openings of a request and statements of one value, in many words. Only for contexts that
 * are generated from a schema; nothing here is ever shown to a user.
 */
import type { Parameter } from "../../shared/speech/parameters.ts";
import type { Random } from "../random.ts";
import { writtenForms } from "../../shared/speech/spoken.ts";

export type Fact = { readonly parameter: Parameter; readonly value: string };

const OPENINGS = [
  (aim: string) => `I want to ${aim}.`,
  (aim: string) => `Can you ${aim}?`,
  (aim: string) => `I would like to ${aim}.`,
  (aim: string) => `Please ${aim}.`,
  (aim: string) => `I need to ${aim}.`,
  (aim: string) => `Could you help me ${aim}?`,
  (aim: string) => `Hi, I need help to ${aim}.`,
  (aim: string) => `I'm trying to ${aim}.`,
] as const;

/** Statements that leave it to the value to tell which parameter is meant, by kind. */
const NAMELESS: Partial<Record<Parameter["kind"], readonly ((value: string) => string)[]>> = {
  place: [(value) => `In ${value}, please.`, (value) => `Somewhere in ${value}.`, (value) => `It's for ${value}.`],
  person: [(value) => `With ${value}.`, (value) => `Something with ${value} in it.`, (value) => `I like ${value}.`],
  date: [(value) => `On ${value}.`, (value) => `For ${value}, please.`, (value) => `It's for ${value}.`],
  time: [(value) => `At ${value}.`, (value) => `Around ${value}, please.`, (value) => `For ${value}.`],
  enum: [
    (value) => `${capitalise(value)}, please.`,
    (value) => `I prefer ${value}.`,
    (value) => `I'd like ${value}.`,
    (value) => `Something ${value}.`,
    (value) => `A ${value} one, please.`,
    (value) => `Preferably ${value}.`,
    (value) => `Something fairly ${value} would be good.`,
    (value) => `It should be quite ${value}.`,
    (value) => `I'm after a rather ${value} one.`,
    (value) => `Make it ${value}.`,
  ],
};
const NAMELESS_SHARE = 0.4;

const QUESTIONS = [
  (words: string) => `What ${words} do you want?`,
  (words: string) => `Which ${words}?`,
  (words: string) => `What is the ${words}?`,
  (words: string) => `Could you tell me the ${words}?`,
] as const;

const STATEMENTS = [
  ({ words }: Parameter, value: string) => `The ${words} is ${value}.`,
  ({ words }: Parameter, value: string) => `I want ${value} for the ${words}.`,
  ({ words }: Parameter, value: string) => `Use ${value} as the ${words}.`,
  ({ words }: Parameter, value: string) => `${capitalise(words)}: ${value}.`,
  ({ words }: Parameter, value: string) => `With ${value} as ${words}, please.`,
  ({ words }: Parameter, value: string) => `I'd prefer ${value} as the ${words}.`,
  ({ words }: Parameter, value: string) => `${capitalise(value)} ${words}, please.`,
] as const;

const REPLIES = [
  (value: string) => `${value}.`,
  (value: string) => `${value}, please.`,
  (value: string) => `I'd like ${value}.`,
  (value: string) => `Let's say ${value}.`,
] as const;

const AFFIRMED = [
  (topic: string) => `With ${topic}, please.`,
  (topic: string) => `I want ${topic}.`,
  (topic: string) => `It has to be ${topic}.`,
  (topic: string) => `Yes to ${topic}.`,
] as const;
const DENIED = [
  (topic: string) => `Without ${topic}, please.`,
  (topic: string) => `I don't want ${topic}.`,
  (topic: string) => `It doesn't need ${topic}.`,
  (topic: string) => `No ${topic}.`,
] as const;

const AGREEMENTS = ["Yes, that is right.", "Yes, please.", "That's correct.", "Sure, go ahead.", "Yes."] as const;

export function sayAgreement(random: Random): string {
  return random.pick(AGREEMENTS);
}

export function sayOpening(aim: string, random: Random): string {
  return random.pick(OPENINGS)(aim);
}

export function askFor(parameter: Parameter, random: Random): string {
  return random.pick(QUESTIONS)(parameter.words);
}

/** One sentence in which the user states a value outright; `plain` where the value alone tells which parameter is meant. */
export function sayFact({ parameter, value }: Fact, random: Random, { plain = false }: { plain?: boolean } = {}): string {
  if (parameter.kind === "boolean") return random.pick(isTrue(value) ? AFFIRMED : DENIED)(topicOf(parameter));
  const counted = countedNoun(parameter);
  if (counted !== undefined && random.next() < 0.6) return countSentence(counted, spoken(value, random), random);
  const nameless = plain ? NAMELESS[parameter.kind] : undefined;
  if (nameless !== undefined && random.next() < NAMELESS_SHARE) return random.pick(nameless)(spoken(value, random));
  return random.pick(STATEMENTS)(parameter, spoken(value, random));
}

/** The answer to a question about the parameter. */
export function replyWith({ parameter, value }: Fact, random: Random): string {
  if (parameter.kind === "boolean") return sayFact({ parameter, value }, random);
  return capitalise(random.pick(REPLIES)(spoken(value, random)));
}

function countSentence(noun: string, value: string, random: Random): string {
  const plural = value === "1" || value === "one" ? noun.replace(/s$/, "") : noun;
  return random.pick([
    `I need ${value} ${plural}.`,
    `It's for ${value} ${plural}.`,
    `${capitalise(value)} ${plural}, please.`,
    `Make that ${value} ${plural}.`,
  ]);
}

/** `number_of_rooms` → `rooms`: counts are said with their noun. */
function countedNoun({ words }: Parameter): string | undefined {
  return /^(?:number(?: of)?|count of|num)\s+(.+)$/.exec(words)?.[1] ?? undefined;
}

/** As a person may write it: dates and times rarely as machines do. */
function spoken(value: string, random: Random): string {
  const [plain = value, ...others] = [...new Set(writtenForms(value).map((form) => form.replaceAll("_", " ")))];
  return others.length > 0 && random.next() < SPOKEN_SHARE ? random.pick(others) : plain;
}

const SPOKEN_SHARE = 0.5;

function topicOf({ words }: Parameter): string {
  return words.replace(/^(?:has|have|is|are|wants?|includes?)\s+/, "");
}

function isTrue(value: string): boolean {
  return value.toLowerCase() === "true";
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
