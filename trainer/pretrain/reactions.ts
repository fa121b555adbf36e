/**
 * What people say to an answer without a word on what it was about: rejection, approval, and neither. The data has hardly any,
 * and a judge that never saw "That is wrong." takes it for a yes. A reaction is put together from parts, so that what is learnt is
 * how people reject and not one list of sentences; what denies a fault, and what declines more help, stands among them. A saying is as somebody put it.
 */
import { REWARDS, type Reward } from "../judge/vote.ts";
import type { Random } from "../random.ts";
import { ACCEPTANCES, ASIDES, DENIED_FAULTS, FAULTS, MERITS, NEUTRALS, NO, REJECTIONS, RETRIES, THAT, YES } from "./reaction-words.ts";
import { sayingsOf } from "./sayings.ts";

export type Reaction = { readonly text: string; readonly reward: Reward };

const SUBJECTS = [
  "that",
  "this",
  "it",
  "the answer",
  "your answer",
  "what you said",
  "what you did",
  "that answer",
  "your reply",
  "the whole thing",
  "all of that",
  "everything you said",
  "this one",
  "what I got",
  "what you found",
];
const LINKS = ["is", "was", "looks", "seems", "sounds", "is", "was"];
const DEGREES = [
  "",
  "",
  "",
  "",
  "simply",
  "totally",
  "completely",
  "clearly",
  "still",
  "just",
  "really",
  "so",
  "quite",
  "pretty",
  "very",
  "absolutely",
  "rather",
];
const ENDS = [".", ".", ".", "!", "", "", "...", "!!"];
const TYPED_WRONG = 0.06; // of reactions, in one letter

/** One of the three, rejections and approvals more often. */
export function drawReaction(random: Random): Reaction {
  const draw = random.next();
  if (draw < 0.36) return { text: rejection(random), reward: -1 };
  return draw < 0.76 ? { text: approval(random), reward: 1 } : { text: neutral(random), reward: 0 };
}

const SAID_TWICE = 0.1; // of sayings, in two

/** As people put it, each of the three as often. */
export function drawSaying(random: Random): Reaction {
  const reward = random.pick(REWARDS);
  const sayings = sayingsOf(reward);
  const said = [random.pick(sayings), ...(random.chance(SAID_TWICE) ? [random.pick(sayings)] : [])].map(({ text }) => text);
  return { text: typed(said, random), reward };
}

export function rejection(random: Random): string {
  const said = [
    ...(random.chance(0.35) ? [sentence(random, random.pick(NO))] : []),
    sentence(random, fault(random)),
    ...(random.chance(0.25) ? [sentence(random, fault(random))] : []),
    ...(random.chance(0.2) ? [sentence(random, fillThat(random.pick(RETRIES), random))] : []),
  ];
  return typed(said, random);
}

function fault(random: Random): string {
  return random.chance(0.4) ? clause(random, FAULTS) : fillThat(random.pick(random.chance(0.1) ? RETRIES : REJECTIONS), random);
}

export function approval(random: Random): string {
  const merit = (): string =>
    random.chance(0.35) ? clause(random, MERITS) : fillThat(random.pick(random.chance(0.12) ? DENIED_FAULTS : ACCEPTANCES), random);
  const said = [
    ...(random.chance(0.35) ? [sentence(random, random.pick(YES))] : []),
    sentence(random, merit()),
    ...(random.chance(0.25) ? [sentence(random, merit())] : []),
  ];
  return typed(said, random);
}

function neutral(random: Random): string {
  const said = (): string => sentence(random, fillThat(random.pick(NEUTRALS), random));
  return typed(random.chance(0.2) ? [said(), said()] : [said()], random);
}

function clause(random: Random, ends: readonly string[]): string {
  const subject = random.pick(SUBJECTS);
  const link = random.pick(LINKS);
  return [
    subject === "that" && link === "is" && random.chance(0.5) ? "that's" : `${subject} ${link}`,
    random.pick(DEGREES),
    random.pick(ends),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function fillThat(text: string, random: Random): string {
  return text.replaceAll("{that}", random.pick(THAT));
}

function sentence(random: Random, text: string): string {
  const draw = random.next();
  const aside = draw < 0.05 ? `${random.pick(ASIDES)}, ${text}` : draw < 0.1 ? `${text}, ${random.pick(ASIDES)}` : text;
  return `${aside.slice(0, 1).toUpperCase()}${aside.slice(1)}${random.pick(ENDS)}`;
}

/** Some people put commas where others put full stops, some never press shift, leave out apostrophes, or miss a key. */
function typed(sentences: readonly string[], random: Random): string {
  const joined = sentences.map((each, index) => (index + 1 < sentences.length && !/[.!]$/.test(each) ? `${each},` : each)).join(" ");
  const cased = random.chance(0.3) ? joined.toLowerCase() : joined;
  const written = random.chance(0.1) ? cased.replaceAll("'", "") : cased;
  return random.chance(TYPED_WRONG) ? mistyped(written, random) : written;
}

function mistyped(text: string, random: Random): string {
  const at = 1 + Math.floor(random.next() * Math.max(1, text.length - 2));
  const [left, right] = [text.slice(at, at + 1), text.slice(at + 1, at + 2)];
  return `${text.slice(0, at)}${random.chance(0.5) ? `${right}${left}` : right}${text.slice(at + 2)}`;
}
