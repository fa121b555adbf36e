/**
 * Rejections that name what is rejected and not what every argument should have been: another tool, any value but this one, another
 * wording, or the very same request again. Put together from parts, as reactions are (`reactions.ts`).
 */
import type { Random } from "../random.ts";

const OPENERS = ["", "", "", "no, ", "nope, ", "hmm, ", "wait, ", "sorry, ", "please, ", "oh no, ", "not like that, "];

const TOOLS = [
  "use {tool} for this",
  "use {tool}, not {used}",
  "please use {tool} instead",
  "I wanted {tool}",
  "I meant {tool}, not {used}",
  "I always use {tool}",
  "I prefer {tool} over {used}",
  "I prefer {tool} to {used} for that",
  "I like {tool} better than {used}",
  "I rely on {tool}",
  "I only trust {tool}",
  "{tool} is the one I use",
  "{tool} is what I want for that",
  "{tool} works better for me",
  "do it with {tool}",
  "do that with {tool} please",
  "try {tool}",
  "call {tool} for that",
  "take {tool} next time",
  "this is a job for {tool}",
  "it should have been {tool}",
  "that should be done by {tool}",
  "{used} is the wrong tool",
  "{used} was the wrong choice",
  "{used} is not what I use",
  "I never use {used}",
  "I don't trust {used}",
  "I don't like {used}",
  "why did you use {used}",
  "why {used} and not {tool}",
  "stop using {used}",
  "{used} gives bad answers",
  "{used} is always wrong",
  "{used} is out of date",
  "nobody uses {used}",
  "not {used} but {tool}",
  "no {used}, please",
  "{used} again? I said {tool}",
] as const;

const DENIALS = [
  "not {value}",
  "no {value}, please",
  "no {value} for the {slot}",
  "I don't want {value}",
  "I don't want {value} as {slot}",
  "I don't like {value}",
  "I hate {value}",
  "I hate {value} as {slot}",
  "I never want {value}",
  "I never take {value}",
  "I never go for {value} as {slot}",
  "I would rather not have {value}",
  "I'd prefer something other than {value}",
  "{value} is not for me",
  "{value} is no option for me",
  "{value} doesn't work for me",
  "{value} doesn't suit me",
  "{value} is out of the question",
  "{value} will not do",
  "{value} is the one thing I don't want",
  "don't pick {value}",
  "don't use {value} as {slot}",
  "don't give me {value} again",
  "never {value}, please",
  "never choose {value} for {slot}",
  "please avoid {value}",
  "everything but {value}",
  "anything except {value}",
  "another {slot}, please, not {value}",
  "a different {slot} than {value}",
  "{value} again? I don't like that",
  "why {value}",
  "who wants {value}",
  "I had bad luck with {value}",
  "I had a bad time with {value} once",
  "I am done with {value}",
  "I've stopped taking {value}",
] as const;

const WORDINGS = [
  "that is too long",
  "that was far too long",
  "please be brief",
  "be shorter",
  "say less",
  "use fewer words",
  "one sentence is enough",
  "you talk too much",
  "that is too short",
  "tell me more than that",
  "don't ask me so many things",
  "don't end with a question",
  "don't call me that",
  "use my name",
  "you forgot my title",
  "please say how many there are",
  "you didn't tell me the number",
  "be more formal",
  "be friendlier",
  "don't be so formal",
  "leave out the chatter",
  "just the facts",
  "get to the point",
] as const;

const AGAIN = [
  "like I said: ",
  "as I said: ",
  "I repeat: ",
  "I'll say it again: ",
  "I'll repeat that: ",
  "again: ",
  "one more time: ",
  "my request was: ",
  "what I asked was: ",
  "I asked you: ",
  "please read: ",
  "no. ",
  "no, no. ",
  "listen: ",
] as const;

/** `used` and `tool` in words. */
export function toolObjection({ used, tool }: { used: string; tool: string }, random: Random): string {
  const text = random.pick(TOOLS).replaceAll("{used}", used).replaceAll("{tool}", tool);
  return said(text, random);
}

export function valueDenial({ slot, value }: { slot: string; value: string }, random: Random): string {
  return said(random.pick(DENIALS).replaceAll("{slot}", slot).replaceAll("{value}", value), random);
}

export function wordingObjection(random: Random): string {
  return said(random.pick(WORDINGS), random);
}

export function saidAgain(request: string, random: Random): string {
  return `${capitalised(random.pick(AGAIN), random)}${request}`;
}

function said(core: string, random: Random): string {
  return capitalised(`${random.pick(OPENERS)}${core}${random.pick([".", ".", ".", "!", "", "?", " please.", " from now on."])}`, random);
}

function capitalised(text: string, random: Random): string {
  return random.chance(0.8) ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` : text;
}
