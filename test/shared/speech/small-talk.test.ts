/** Greetings, thanks and partings, and all that only begins like them. */
import { describe, expect, it } from "vitest";
import { isSmallTalk } from "../../../shared/speech/small-talk.ts";

const heard = (words: string, asked = false): boolean => isSmallTalk(words, { asked });

describe("isSmallTalk", () => {
  it.each([
    "Hello!",
    "hi",
    "Hey there, how are you doing today?",
    "Good morning!",
    "Thank you!",
    "Thanks a lot, bye!",
    "Thank you so much for your help. Have a nice day!",
    "ok thanks",
    "Great, thank you very much!",
    "That's all, thanks.",
    "No, thanks. That is all for today.",
    "Cheers mate",
    "Thank you, goodbye 👋",
    "Good night, see you tomorrow",
    "Bye for now!",
    "I'm done for now",
    "I'm good for now, thanks",
    "ok bye",
  ])("is %s", (words) => {
    expect(heard(words)).toBe(true);
  });

  it.each([
    "Hi, I need a room in Porto.",
    "Hello? Is anybody there who can book a table?",
    "Thanks, and now the weather in Lyon.",
    "Good morning call at 7, please",
    "Book it, thanks",
    "yes thanks",
    "okay",
    "great",
    "Play Hello by Adele",
    "Hello by Adele",
    "Say goodbye to Ann for me",
    "Thanks, 2 rooms",
    "That's all wrong.",
    "That's it? Search again",
    "",
    "no",
  ])("is not %s", (words) => {
    expect(heard(words)).toBe(false);
  });

  it("may be a yes after a question, unless who says it leaves", () => {
    for (const words of ["Thank you!", "Great, thanks", "Perfect, thanks a lot. Bye!", "Thanks"]) expect(heard(words, true)).toBe(false);
    // Who agrees and leaves has agreed.
    for (const words of ["ok bye", "Okay, thanks, bye!", "Yes, bye", "Yes please. Goodbye!"]) expect(heard(words, true)).toBe(false);
    for (const words of [
      "Thanks, that's all.",
      "No thanks",
      "Thank you, bye!",
      "No, thank you. Goodbye.",
      "Bye for now!",
      "I'm done for now",
    ])
      expect(heard(words, true)).toBe(true);
  });

  it("is no end of the talk where a question is answered about what is still to be done, unless who says it leaves", () => {
    const ends = (words: string): boolean => isSmallTalk(words, { asked: true, due: true });
    for (const words of ["That's all, thanks.", "Nothing else, thank you!"]) expect(ends(words)).toBe(false);
    for (const words of ["No thanks", "That's everything, bye!"]) expect(ends(words)).toBe(true);
  });
});
