/**
 * How a simulated user voices a standing preference, by its kind and the user's manner. None of these words stands in the training
 * data (test/bench/phrases.test.ts). `{slot}` and `{value}` of an argument, `{tool}` and `{instead}` of two tools, `{as}` and `{words}` of a rule.
 */

export const MANNERS = ["plain", "polite", "indirect", "again"] as const;
/** `again`: only the request is repeated, and nothing of the preference is said. */
export type Manner = (typeof MANNERS)[number];
export type Telling = Exclude<Manner, "again">;

type Words = Readonly<Record<Telling, readonly string[]>>;

export const DEFAULT_WORDS: Words = {
  plain: [
    "Nope, {slot}: I always go with {value}.",
    "You picked the wrong {slot}, mine is {value} every single time.",
    "Redo it, {value} for the {slot}.",
    "Hold on, as for {slot}, {value} was expected.",
  ],
  polite: [
    "Sorry to bother you, could the {slot} be {value}, as it usually is for me?",
    "Would you mind redoing this with {value} as {slot}? That's my habit.",
    "Kindly have another look at the {slot}: I tend to choose {value}.",
  ],
  indirect: [
    "Hmm, I was rather hoping for {value}.",
    "People who know me would have gone with {value}.",
    "I'm surprised that it isn't {value}.",
  ],
};

export const NEVER_WORDS: Words = {
  plain: [
    "Anything but {value} as {slot}!",
    "Nope, {slot} {value} is something I never accept.",
    "I can't stand {value} for {slot}, pick any other.",
  ],
  polite: [
    "Sorry, would you mind avoiding {value} as {slot} whenever you book for me?",
    "Could we please have a different {slot}? I don't do {value}.",
  ],
  indirect: ["{value}? That has never ended well for me.", "I gave up on {value} years ago."],
};

export const CONFIRM_WORDS: Readonly<Record<"always" | "never", Words>> = {
  always: {
    plain: ["Hey, check with me before you book anything!", "You went ahead without checking, always run it by me beforehand."],
    polite: [
      "Could you kindly read the details back to me before going through with such things?",
      "I'd appreciate being consulted before anything is final.",
    ],
    indirect: ["Oh. I would have loved a chance to look at the details first.", "I like to see what I sign."],
  },
  never: {
    plain: ["Stop double-checking everything and just book it.", "No need for these confirmations, go right ahead, always."],
    polite: [
      "Sorry, would you mind skipping the confirmation? I've told you everything.",
      "Feel free to go through with it directly whenever you have all details, please.",
    ],
    indirect: ["How often do I need to repeat myself?", "I already gave you all details, didn't I?"],
  },
};

export const WORDING_WORDS: Readonly<Record<"brief" | "statement" | "addressed" | "counted", Words>> = {
  brief: {
    plain: ["Too long. At most {words} words per message.", "Keep it short, {words} words tops."],
    polite: ["Would you mind keeping your messages to {words} words or fewer?", "Shorter messages please, {words} words are plenty."],
    indirect: ["I'm reading these on my watch, you know.", "Brevity is the soul of wit, they say."],
  },
  statement: {
    plain: ["Stop asking me questions, just state what you found.", "No questions at the end, tell me the result and be done."],
    polite: [
      "Could you kindly leave out the question and simply state the result?",
      "I'd be grateful for plain statements rather than questions.",
    ],
    indirect: ["Questions, questions, all the time.", "I feel like I'm being interviewed."],
  },
  addressed: {
    plain: ["Address me as {as} in your messages.", "I'm {as}, and I expect to be called that."],
    polite: ["Would you be so kind as to call me {as}?", "I'd appreciate it if you addressed me as {as}."],
    indirect: ["At my bank they greet me as {as}.", "{as} is how everybody else greets me."],
  },
  counted: {
    plain: ["Tell me how many matches there are, always.", "You left out how many hits there were."],
    polite: ["Could you kindly mention the number of matches as well?", "I'd appreciate hearing how many matches you got."],
    indirect: ["Is that the only match, or one of dozens?", "I can't judge that without knowing how many there were."],
  },
};

export const TOOL_WORDS: Words = {
  plain: [
    "Nope, run {tool} rather than {instead}.",
    "Wrong tool, I go through {tool} for these things.",
    "Don't run {instead}, pick {tool}.",
  ],
  polite: ["Sorry, would you mind doing these through {tool}?", "Could you kindly go through {tool} and skip {instead}?"],
  indirect: ["{tool} has never let me down.", "{instead} gave me stale results in the past."],
};

/** Before the request said again. */
export const AGAIN_OPENERS = ["Once again: ", "Let me repeat. ", "I said: ", "As I was saying, "] as const;

/** To a satisfied user's answer, where the user says anything. */
export const CONTENT = [
  "Brilliant, cheers!",
  "Lovely, that's sorted then.",
  "Couldn't be better, thanks.",
  "Alright, that suits me.",
] as const;
