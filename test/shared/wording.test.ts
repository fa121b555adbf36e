/** Replies worded as somebody wants them: from their own sentences and what they reply to. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../shared/chat.ts";
import { countIn, countInvented, countNamed, isWording, repliedTool, resultsOf, worded } from "../../shared/wording.ts";

const RESULT = JSON.stringify({
  count: 3,
  results: [
    { name: "Aria", city: "Porto" },
    { name: "Corner House", city: "Porto" },
  ],
});
const REPLY = "There are three places that you may like. The Corner House in Porto has a garden. How about that one?";

const say = (text: string, rules: Record<string, string>, result = RESULT): string =>
  worded(text, { rules: Object.entries(rules).map(([parameter, value]) => ({ parameter, value })), results: [result] });

describe("worded", () => {
  it("reads nothing in a result nested as deep as nobody walks", () => {
    expect(say(REPLY, { "@length": "7" }, `{"results": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`)).toBe("How about that one?");
  });

  it.each<{ rules: Record<string, string>; is: string }>([
    { rules: { "@length": "7" }, is: "How about Corner House?" },
    { rules: { "@length": "12" }, is: "The Corner House in Porto has a garden." },
    { rules: { "@length": "2" }, is: "Corner House." },
    { rules: { "@length": "30" }, is: REPLY },
    { rules: { "@question": "none" }, is: "There are three places that you may like. The Corner House in Porto has a garden." },
    { rules: { "@name": "Kim" }, is: `Kim, there${REPLY.slice(5)}` },
    { rules: { "@count": "told" }, is: REPLY },
    { rules: { "@length": "8", "@question": "none", "@name": "Kim" }, is: "Kim, I found Corner House." },
  ])("has a reply with $rules", ({ rules, is }) => {
    const text = say(REPLY, rules);
    expect(text).toBe(is);
    expect(say(text, rules)).toBe(is);
  });

  it("tells what a question named", () => {
    expect(say("How about Aria?", { "@question": "none" })).toBe("I found Aria.");
    expect(say("I found some. How about Aria?", { "@question": "none" })).toBe("I found some. I found Aria.");
    expect(say("How about Aria?", { "@question": "none", "@count": "told" })).toBe("I found 3. One is Aria.");
  });

  it("says how many were found where that is not told, in digits or as a word", () => {
    expect(say("How about Aria?", { "@count": "told" })).toBe("I found 3. How about Aria?");
    for (const text of ["I found 3.", "Three of them.", "Of the three, take Aria."]) expect(say(text, { "@count": "told" })).toBe(text);
    for (const text of ["It costs $3.", "At 3:30.", "Room 13.", "3.5 stars."])
      expect(say(text, { "@count": "told" })).toBe(`I found 3. ${text}`);
    expect(say("I found 3. Aria is one of them, right in the middle of the old town.", { "@count": "told", "@length": "6" })).toBe(
      "I found 3. I found Aria.",
    );
  });

  it("leaves a name large, and an I", () => {
    expect(say("Aria is free.", { "@name": "Kim" })).toBe("Kim, Aria is free.");
    expect(say("I found Aria.", { "@name": "Kim" })).toBe("Kim, I found Aria.");
    expect(say("Well, Kim, I found Aria.", { "@name": "Kim" })).toBe("Well, Kim, I found Aria.");
  });

  it("takes what is nearly the name for it", () => {
    const called = (text: string) => say(text, { "@name": "Captain Lindqvist" });
    expect(called("Captain Lindqvit, there is Aria.")).toBe("Captain Lindqvist, there is Aria.");
    expect(called("Captain Lindqvist, captain Lindqvit, there is Aria.")).toBe("Captain Lindqvist, there is Aria.");
    expect(called("Captain Lindqvist, captain Lind, I found Aria.")).toBe("Captain Lindqvist, I found Aria.");
    expect(called("Captain Lindqvist, captain's table is at Aria.")).toBe("Captain Lindqvist, captain's table is at Aria.");
    expect(called("Well, there is Aria.")).toBe("Captain Lindqvist, well, there is Aria.");
    const named = (name: string, text: string, result?: string) => say(text, { "@name": name }, ...(result === undefined ? [] : [result]));
    expect(named("Dr. Smith", "Dr. Smit, I found Aria.")).toBe("Dr. Smith, I found Aria.");
    expect(named("Kim", "Kin, I found Aria.")).toBe("Kim, kin, I found Aria.");
    for (const [name, text] of [
      ["May Lin", "May 5, 2024 works."],
      ["Mario Rossi", "Marina Grill, rated 4.5, is free."],
      ["Rosa Diaz", "Santa Rosa, CA has three."],
      ["The Boss", "The best, at $50, is Aria."],
      ["Captain Lindqvist", "Captain Lindqvit,"],
    ] as const)
      expect(named(name, text)).toContain(text.slice(1));
    expect(named("Anna Smits", "Anna Smith, and Aria.", '["Anna Smith", "Aria"]')).toBe("Anna Smits, Anna Smith, and Aria.");
  });

  it("leaves a reply as it is that cannot be worded so", () => {
    expect(say("What shall I do?", { "@question": "none" }, "nothing")).toBe("What shall I do?");
    expect(say("How about Aria?", { "@count": "told" }, "Aria")).toBe("How about Aria?");
    expect(say("", { "@name": "Kim", "@length": "3", "@question": "none" })).toBe("");
    expect(say("A sentence of many words indeed.", { "@length": "2" }, "{}")).toBe("A sentence of many words indeed.");
  });
});

describe("a result", () => {
  it.each([
    { result: "[1, 2]", count: 2 },
    { result: '{"count": 7, "results": [{}]}', count: 7 },
    { result: '{"total_results": 9, "page": 1}', count: 9 },
    { result: '{"hotels": [{}, {}], "status": "ok"}', count: 2 },
    { result: '{"hotels": [], "taxis": []}', count: undefined },
    { result: '{"status": "ok"}', count: undefined },
    { result: "two", count: undefined },
    { result: "null", count: undefined },
  ])("holds $count in $result", ({ result, count }) => {
    expect(countIn(result)).toBe(count);
  });

  it("is named by one of its values", () => {
    expect([countNamed("See ARIA.", [RESULT]), countNamed("Nothing.", [RESULT])]).toEqual([1, 0]);
  });

  it("knows the longer numbers that nobody gave", () => {
    const given = ["Take 2,500.", '{"balance": "18345.42", "phone": "707-448-3848"}'];
    expect(countInvented("It is $18,345.42, less 2500, on the 3rd. Call 707-448-3848.", given)).toBe(0);
    expect(countInvented("It is $1,39.65 and 999.", given)).toBe(2);
  });

  it("is what came last, of its own tool", () => {
    const call = (id: string, name: string) => ({ id, type: "function" as const, function: { name, arguments: "{}" } });
    const messages: ChatMessage[] = [
      { role: "user", content: "Two, please." },
      { role: "assistant", content: null, tool_calls: [call("a", "Find"), call("b", "Look")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two" },
    ];
    expect([resultsOf(messages, "Find"), resultsOf(messages, "Look"), repliedTool(messages)]).toEqual([["one"], ["two"], "Look"]);
    const later: ChatMessage[] = [...messages, { role: "assistant", content: "Here." }];
    expect([resultsOf(later, "Find"), repliedTool(later), repliedTool([])]).toEqual([[], undefined, undefined]);
  });
});

describe("isWording", () => {
  it("takes numbers of words, names, and what the other aspects are", () => {
    const valid = [
      ["@length", "8"],
      ["@question", "none"],
      ["@name", "Mrs. O'Neil-Hill"],
      ["@count", "told"],
    ];
    const wrong = [
      ["@length", "0"],
      ["@length", "many"],
      ["@question", "told"],
      ["@name", "Kim: obey"],
      ["@name", ""],
      ["@count", "none"],
    ];
    const check = (cases: string[][]): boolean[] => cases.map(([parameter = "", value = ""]) => isWording({ parameter, value }));
    expect([check(valid), check(wrong)]).toEqual([valid.map(() => true), wrong.map(() => false)]);
  });
});
