/** What people say of how a reply is worded, in words that the patterns were not written for, and what they say else. */
import { describe, expect, it } from "vitest";
import { SPOKEN } from "../../../bench/eval/spoken.ts";
import { SPOKEN_WORDING } from "../../../bench/eval/spoken-wording.ts";
import { isSpokenWording, wordingSaid } from "../../../trainer/judge/wording-said.ts";

const reply = "I found one of them. Do you like it, or another?";
const heard = (said: string): string | undefined => wordingSaid(said, { reply })?.parameter;

describe("wordingSaid", () => {
  it.each([
    ["at most eight words", "@length", "8"],
    ["No more than 12 words!", "@length", "12"],
    ["Keep it shorter, please.", "@length", "5"],
    ["Don’t ask me back all the time.", "@question", "none"],
    ["Call me Kim.", "@name", "Kim"],
    ["my name is Mrs. Hill, use it", "@name", "Mrs. Hill"],
    ["It's Dr. Stone to you.", "@name", "Dr. Stone"],
    ["call me chief", "@name", "chief"],
    ["I prefer being addressed as Dr. Stone.", "@name", "Dr. Stone"],
    ["It would be nice if you greeted me as Kim", "@name", "Kim"],
    ["You addressed me as Bob, but my name is Rob.", "@name", "Rob"],
    ["My name is Robert, but call me Bob.", "@name", "Bob"],
    ["Don't call me Bob, call me Rob.", "@name", "Rob"],
    ["Mrs. Hill is how my neighbours address me.", "@name", "Mrs. Hill"],
    ["Everybody here knows me, you know me as Kim", "@name", "Kim"],
    ["I'm Mrs. Hill and I expect to be called that", "@name", "Mrs. Hill"],
    ["Say how many you found.", "@count", "told"],
    ["Shorter, I'm driving.", "@length", "5"],
    ["Shorter.", "@length", "5"],
    ["Skip the would you like part.", "@question", "none"],
    ["No more 'shall I', please.", "@question", "none"],
  ])("reads %s", (said, parameter, value) => {
    expect(wordingSaid(said, { reply })).toEqual({ parameter, value });
  });

  it("hears nothing in a flood of words", () => {
    expect(heard("Keep it shorter, please. ".repeat(40))).toBe("@length");
    expect(heard("Keep it shorter, please. ".repeat(41))).toBeUndefined();
  });

  it("leaves three words of the shortest reply, and a reply that asks nothing", () => {
    expect(wordingSaid("Too long!", { reply: "Two words" })?.value).toBe("3");
    expect(wordingSaid("No questions!", { reply: "Two words" })).toBeUndefined();
  });

  it.each([
    "I want a shorter flight.",
    "I have a question.",
    "Ask me before you book that.",
    "You filed that without asking me!",
    "You cancelled my trip without checking with me.",
    "Never create an event without asking me, ever.",
    "Why, who asked you to?",
    "How many rooms does it have?",
    "Put it under the name Smith.",
    "Call me a cab.",
    "I want the hotel to be called first.",
    "I need to be called before Friday.",
    "I'd like to be called at 5 pm by the Hilton.",
    "The hotel in Oslo addresses me nicely.",
    "What's the total?",
    "Use my name.",
    "My name is on the list.",
    "Most who know me would have gone with Fantasy.",
    "Talk to me about Oslo.",
    "My friend just called me. We are two.",
    "Don't call me Bob.",
    "Please call me today.",
    "The hotel called me yesterday.",
    "Very good. I'm pleased and thankful to you.",
  ])("hears nothing in %s", (said) => {
    expect(heard(said)).toBeUndefined();
  });

  it("hears half of what it was not written for, and hardly anything in what is none", () => {
    const share = (said: readonly string[], parameter: string): number =>
      said.filter((text) => heard(text.replace("{as}", "Robin")) === parameter).length / said.length;
    const { short, tell, name, count, none } = SPOKEN_WORDING;
    const shares = [share(short, "@length"), share(tell, "@question"), share(name, "@name"), share(count, "@count")];
    expect(shares.map((each) => each >= 0.5)).toEqual([true, true, true, true]);
    const others = [...none, ...SPOKEN.rejections, ...SPOKEN.approvals, ...SPOKEN.neutral, ...SPOKEN.none];
    expect(others.filter((text) => heard(text) !== undefined).length).toBeLessThanOrEqual(2);
  });
});

describe("isSpokenWording", () => {
  it.each([
    ["@length", "8", "Be brief.", true],
    ["@length", "8", "Thanks.", false],
    ["@count", "told", "How many were there?", true],
    ["@question", "none", "No.", false],
    ["@name", "Kim", "it is kim", true],
    ["@name", "Kim", "Ann", false],
  ] as const)("%s %s of %s: %s", (parameter, value, words, is) => {
    expect(isSpokenWording({ parameter, value }, words)).toBe(is);
  });
});
