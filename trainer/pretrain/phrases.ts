/**
 * Wordings of hints, notes and corrections that training shows. Evaluation and benches have their own
 * (`bench/phrases.ts`); a test holds the two apart. `{slot}` is the parameter, `{value}` its value.
 */
import type { Random } from "../random.ts";

export const HINTS = [
  "{slot} should be {value}.",
  "Set {slot} to {value}.",
  "Use {value} for {slot}.",
  "{slot}: {value}",
  "The {slot} must be {value}.",
  "Change {slot} to {value}.",
  "Make {slot} {value} instead.",
  "{slot} ought to be {value}, nothing else.",
  "The call needs {slot} {value}.",
  "I want {value} as {slot}.",
  "Wrong {slot}; it is {value}.",
  "The user wants {slot} to be {value}.",
  "This time {slot} is {value}.",
  "Fill {slot} with {value}.",
  "Give {value} as the {slot}.",
  "{value} is what {slot} has to be.",
  "Remember: {slot} = {value}.",
  "Switch the {slot} over to {value}.",
] as const;

export const NOTES = [
  "{slot} should be {value}.",
  "By default {slot} is {value}.",
  "Default {slot} to {value}.",
  "Unless told otherwise, {slot} is {value}.",
  "{slot}: {value} unless the user says something else.",
  "Usually {value} for {slot}.",
  "This user prefers {value} as {slot}.",
  "Use {value} for {slot} when none is given.",
  "Without other wishes, set {slot} to {value}.",
  "{value} is the standard {slot} here.",
  "The usual {slot} is {value}.",
  "Assume {slot} {value}.",
  "If the user leaves {slot} open, take {value}.",
  "Normally the {slot} is {value}.",
  "Prefer {slot} {value}.",
  "When unsaid, {slot} means {value}.",
] as const;

export const CORRECTION_OPENERS = [
  "No, ",
  "No. ",
  "Hmm, no, ",
  "That's not right, ",
  "Wait, ",
  "Sorry, but ",
  "Actually, ",
  "Oh no, ",
  "Not quite, ",
  "Wrong, ",
  "",
  "",
  "Nope, ",
  "Well, ",
  "That is incorrect, ",
] as const;

/** Objections that stand for themselves before what is wanted; or none, and the other value alone says it. */
export const OBJECTIONS = [
  "That's wrong.",
  "That is not what I asked for.",
  "I didn't want that.",
  "You misunderstood me.",
  "There is a mistake.",
  "That won't do.",
  "Not what I meant.",
  "You got it wrong.",
  "Please try again.",
  "Do it over.",
  "That's not the one.",
  "I said something else.",
  "Almost right.",
  "One thing is off.",
  "Fix this please.",
  "No good.",
  "I'd like that changed.",
  "Let's do it again.",
] as const;

export const CORRECTION_CORES = [
  "I wanted {value} for the {slot}",
  "the {slot} should have been {value}",
  "I need the {slot} to be {value}",
  "make the {slot} {value}",
  "change the {slot} to {value}",
  "{slot} should be {value}",
  "I'd like {value} as the {slot}",
  "the {slot} is wrong, I want {value}",
  "I always want {value} for {slot}",
  "please use {value} for the {slot}",
  "it has to be {value} for the {slot}",
  "you got the {slot} wrong, it's {value}",
  "set the {slot} to {value}",
  "my {slot} is {value}",
  "I asked for something else: {slot} {value}",
  "I meant {value}, I'm talking about the {slot}",
  "could you do {value} for the {slot}",
  "I would rather have {value} as {slot}",
] as const;

export const CORRECTION_CLOSERS = [
  "",
  ".",
  ".",
  " please.",
  ", please.",
  " instead.",
  ". Can you fix that?",
  "!",
  " from now on.",
  " next time.",
  ". Thanks.",
  ", as always.",
] as const;

/** Corrections by the value alone. */
export const BARE_CORRECTIONS = [
  "No, {value}.",
  "No, {value} please.",
  "{value}, not that.",
  "I said {value}.",
  "I meant {value}.",
  "I meant {value}!",
  "Sorry, {value}.",
  "No no, {value}",
  "It was {value} that I asked for.",
  "Not that one, {value} please",
  "Make that {value}.",
  "{value} instead, please.",
  "Wait, {value}.",
  "Actually {value}.",
  "I'd rather have {value}.",
  "Can we do {value} instead?",
  "Let's go with {value} instead",
  "Change it to {value}.",
  "Wrong, {value}!",
  "nope, {value}",
] as const;

/** Answers to who wants to be asked, or not to be; who wants replies otherwise; who says of an answer that it is wrong, and not what is. */
export const ASKED_TO_ASK = [
  "All right, I will ask you first.",
  "Okay, I will ask before I do that.",
  "Sure, I will check with you first.",
] as const;
export const ASKED_TO_GO = ["All right, I will not ask again.", "Okay, I will go ahead without asking."] as const;
export const NOTED = ["All right.", "Okay, I will.", "Sure, I will keep that in mind."] as const;
export const REJECTED = [
  "I'm sorry. What should be different?",
  "Sorry about that. What would you like to change?",
  "I'm sorry, what is wrong with it?",
] as const;

/** Approval in general words, beside the data's own. */
export const APPROVALS = [
  "Great, thanks!",
  "Perfect.",
  "That works for me.",
  "Thank you, that's exactly right.",
  "Awesome, thanks a lot.",
  "Good, that's what I wanted.",
  "Looks right to me.",
  "Yes, that's it.",
  "Nice, thank you.",
] as const;

// Words that say nothing of which parameter or value is meant, and deny nothing.
export const FILLERS: readonly string[] = (
  "the this that my our their his her it is was be been being has have had do does did will would should could can may might must want wants " +
  "like likes need needs take takes give gives get gets make makes keep keeps let know say says tell ask asks find see look " +
  "here there now then today again always often mostly rather better best right fine good well sure just only even still also too so as at by " +
  "for from in of on to with about over under into out up all any each every some same such one thing things way case people person guest client " +
  "everyone someone me we they you option setting detail request booking order trip matter what which who when where how because since if while " +
  "and or but please thanks okay simply exactly really usually last next first new old whole own more most"
).split(" ");

/**
 * Slot and value among words that mean nothing. Whoever learns only from sentences learns the sentences; here the two
 * names are all there is to go by, so wordings that were never shown are understood too. `asides` are such words from
 * the data: out of the short list alone, every other word looked like the name of a parameter.
 */
export function loosely(slot: string, value: string, asides: readonly string[], random: Random): string {
  const drawn = asides.length > 0 && random.chance(0.7) ? asides : FILLERS;
  const words = (most: number): string[] => Array.from({ length: random.below(most + 1) }, () => random.pick(drawn));
  const [first, second] = random.chance(0.5) ? [slot, value] : [value, slot];
  const mark = random.pick(["", "", "", ":", ",", " -", " ="]);
  const text = [...words(6), `${first}${mark}`, ...words(4), second, ...words(4)].join(" ");
  return `${random.chance(0.8) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text}${random.pick([".", ".", "", "!"])}`;
}

export function fill(template: string, slot: string, value: string): string {
  return template.replaceAll("{slot}", slot).replaceAll("{value}", value);
}

/** What is said to who likes an answer. */
export const THANKED: readonly string[] = [
  "You're welcome.",
  "Glad to help.",
  "My pleasure.",
  "Happy to help. Anything else?",
  "Good to hear. Is there anything else?",
  "Any time.",
];
/** Around the value that is wanted next. */
export const FOLLOW_UPS: readonly string[] = [
  "and {said}",
  "And {said} too.",
  "Now {said}.",
  "the same with {said}",
  "also {said} please",
  "And what about {said}?",
];
/** Around a request, which they leave as it is. */
export const ADDRESSES: readonly string[] = [
  "Hi, {said}",
  "hey {said}",
  "Hello! {said}",
  "Please: {said}",
  "ok {said}",
  "ok so {said}",
  "One more thing: {said}",
  "{said}, thanks",
  "{said} please",
  "{said}. Thank you!",
  "Good morning, {said}",
  "and now {said}",
];
