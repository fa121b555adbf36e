/**
 * Wordings that only evaluation and benches use. None stands in the training data (`trainer/pretrain/phrases.ts`);
 * test/bench/phrases.test.ts compares the two. All name slot and value in words, none uses JSON.
 */

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
