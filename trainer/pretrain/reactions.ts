/**
 * What people say to an answer without a word on what it was about: rejection, approval, and neither. The data has hardly any,
 * and a judge that never saw "That is wrong." takes it for a yes. Each is put together from parts, so that what is learnt is
 * how people reject and not one list of sentences; what denies a fault, and what declines more help, stands among them.
 */
import type { Random } from "../random.ts";

export type Reaction = { readonly text: string; readonly reward: -1 | 0 | 1 };

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
];
const LINKS = ["is", "was", "looks", "seems", "sounds"];
const DEGREES = ["", "", "", "simply", "totally", "completely", "clearly", "still", "just", "really"];
const FAULTS = [
  "wrong",
  "not right",
  "incorrect",
  "not correct",
  "a mistake",
  "an error",
  "nonsense",
  "no good",
  "bad",
  "off",
  "useless",
  "false",
  "not it",
  "not what I wanted",
  "not what I asked for",
  "not what I meant",
  "not what I need",
  "not helpful",
  "not true",
  "all wrong",
  "rubbish",
  "confusing",
];
const MERITS = [
  "right",
  "correct",
  "perfect",
  "great",
  "good",
  "fine",
  "exactly it",
  "exactly what I wanted",
  "what I asked for",
  "what I needed",
  "just right",
  "spot on",
  "wonderful",
  "very helpful",
  "lovely",
  "exactly right",
  "true",
  "excellent",
];
const REJECTIONS = [
  "I did not ask for {that}",
  "I never asked for {that}",
  "I don't want {that}",
  "I didn't want {that}",
  "I didn't mean {that}",
  "I meant something else",
  "I wanted something else",
  "I said something else",
  "I asked for something different",
  "you misunderstood me",
  "you got me wrong",
  "you got it wrong",
  "you misread my request",
  "you are not listening",
  "you did not answer my question",
  "you didn't do what I asked",
  "you made a mistake",
  "you forgot what I asked for",
  "that won't do",
  "that does not help",
  "{that} makes no sense",
  "that doesn't work for me",
  "{that} can't be right",
  "{that} doesn't answer my question",
  "I don't understand what you mean",
  "why did you do that",
  "who asked for {that}",
  "there is a mistake in {that}",
  "I am not happy with {that}",
  "that's no use to me",
  "I'm disappointed",
  "undo {that}",
  "cancel that, {that} is wrong",
];
const RETRIES = [
  "try again",
  "please try again",
  "do it over",
  "do it again",
  "start over",
  "fix it",
  "please correct {that}",
  "have another look",
  "once more, but properly",
];
const ACCEPTANCES = [
  "you got it",
  "well done",
  "that helps",
  "that works",
  "that works for me",
  "that will do",
  "that'll do nicely",
  "that's it",
  "I like {that}",
  "I love it",
  "I'm happy with {that}",
  "thanks for that",
  "thanks a lot",
  "thank you so much",
  "that's all I needed",
  "just what I was looking for",
  "sounds like a plan",
  "there is nothing wrong with {that}",
  "no complaints",
  "I have no objections",
  "not bad at all",
  "I couldn't ask for more",
  "no, that's all, thank you",
  "no thanks, that is everything",
  "nothing else, thank you",
  "no problem, that is fine",
  "no, you got everything right",
];
const DENIED_FAULTS = [
  "{that} is not wrong",
  "{that} isn't bad at all",
  "{that} is no mistake",
  "I see nothing wrong there",
  "I wouldn't change a thing",
];
const NEUTRALS = [
  "hold on a moment",
  "let me think",
  "one second",
  "I'll get back to you",
  "wait a minute",
  "give me a moment",
  "I am not sure yet",
  "maybe",
  "I need to think about it",
  "can you tell me more",
  "what else is there",
  "what else can you do",
  "are there others",
  "how does {that} work",
  "what do you mean by {that}",
  "is there anything else",
  "and then",
  "what about tomorrow",
  "I have another question",
  "let me ask somebody first",
  "could you repeat {that}",
  "is {that} certain",
  "where did you get {that} from",
];
const NO = ["no", "nope", "no no", "nah", "oh no", "um no", "wait", "hmm", "sorry", "what"];
const YES = ["yes", "yeah", "yep", "great", "perfect", "okay", "ok", "nice", "good", "cool", "thanks", "wow"];
const ENDS = [".", ".", ".", "!", "", "...", "!!"];

/** One of −1, +1 and 0, in this order of likelihood. */
export function drawReaction(random: Random): Reaction {
  const draw = random.next();
  if (draw < 0.5) return { text: rejection(random), reward: -1 };
  return draw < 0.85
    ? { text: approval(random), reward: 1 }
    : { text: sentence(random, fillThat(random.pick(NEUTRALS), random)), reward: 0 };
}

export function rejection(random: Random): string {
  const said = [
    ...(random.chance(0.4) ? [sentence(random, random.pick(NO))] : []),
    sentence(random, random.chance(0.55) ? clause(random, FAULTS) : fillThat(random.pick(REJECTIONS), random)),
    ...(random.chance(0.3)
      ? [sentence(random, random.chance(0.5) ? clause(random, FAULTS) : fillThat(random.pick(REJECTIONS), random))]
      : []),
    ...(random.chance(0.2) ? [sentence(random, fillThat(random.pick(RETRIES), random))] : []),
  ];
  return joined(said, random);
}

function approval(random: Random): string {
  const core = random.chance(0.45)
    ? clause(random, MERITS)
    : fillThat(random.pick(random.chance(0.2) ? DENIED_FAULTS : ACCEPTANCES), random);
  const said = [...(random.chance(0.4) ? [sentence(random, random.pick(YES))] : []), sentence(random, core)];
  return joined(random.chance(0.2) ? [...said, sentence(random, random.pick(ACCEPTANCES.slice(0, 5)))] : said, random);
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
  return text.replaceAll("{that}", random.pick(["that", "this", "it", "that one"]));
}

function sentence(random: Random, text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${random.pick(ENDS)}`;
}

/** Some people put commas where others put full stops, and some never press shift. */
function joined(sentences: readonly string[], random: Random): string {
  const text = sentences.map((each, index) => (index + 1 < sentences.length && !/[.!]$/.test(each) ? `${each},` : each)).join(" ");
  return random.chance(0.25) ? text.toLowerCase() : text;
}
