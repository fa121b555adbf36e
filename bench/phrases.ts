/**
 * Wordings that only evaluation and benches use. None stands in the training data (`trainer/pretrain/phrases.ts`);
 * test/bench/phrases.test.ts compares the two. All name slot and value in words, none uses JSON.
 */
import { SPOKEN } from "./eval/spoken.ts";

export const EVAL_HINTS = [
  "It would have been right to put {value} in {slot}.",
  "For {slot}, {value} was wanted.",
  "They meant {value} when it comes to {slot}.",
  "Please go with {value} as the {slot} here.",
  "The correct {slot} was {value}.",
  "You were asked for {slot} {value}.",
] as const;

export const EVAL_NOTES = [
  "If nothing is said about {slot}, pick {value}.",
  "A habit of this customer: {slot} {value}.",
  "As a rule, go for {value} in {slot}.",
  "Where {slot} is not mentioned, {value} is right.",
  "Their regular choice of {slot} is {value}.",
  "Fall back on {value} for {slot}.",
] as const;

export const EVAL_CORRECTIONS = [
  "Hold on, that {slot} isn't what I had in mind, it was supposed to be {value}.",
  "You picked the wrong {slot}. {value} would be correct.",
  "Could you redo this using {value} for {slot}?",
  "Oops, {slot} needs fixing: {value}.",
  "This isn't it. My choice of {slot} is {value}.",
  "Regarding the {slot}, go with {value}.",
] as const;

/** What people say to an answer without a word on what it was about, by the reward that it tells. */
export const EVAL_REACTIONS: Readonly<Record<"-1" | "0" | "1", readonly string[]>> = {
  "0": SPOKEN.neutral,
  "-1": [
    ...SPOKEN.rejections,
    "No, that is wrong. That is not what I asked for.",
    "That's rubbish, honestly.",
    "Are you kidding me? This isn't even close.",
    "You've completely missed the point.",
    "Please read my message again, you got mixed up.",
    "Nope, not at all what I had in mind.",
    "I think you confused something here.",
    "That can't be the right one.",
    "Not good enough, give it another go.",
    "What is this supposed to be? It is gibberish.",
    "Hmm no, you are mistaken.",
    "You gave me the wrong thing.",
  ],
  "1": [
    ...SPOKEN.approvals,
    "Great, thank you, that is what I wanted.",
    "Brilliant, cheers!",
    "Yes please, go ahead with it.",
    "That's just the thing.",
    "Couldn't be better, thanks.",
    "You nailed it.",
    "Fantastic, I appreciate your help.",
    "Alright, that suits me.",
    "No, nothing is wrong with it, thanks.",
    "Lovely, that's sorted then.",
    "Works perfectly, thank you very much.",
    "Spot on, have a nice day.",
  ],
};
