/** What a user has agreed to who was asked about a call, and what the reply changes in it. */
import { describe, expect, it } from "vitest";
import { agreedCall, hasAgreedTo, wasAskedAbout } from "../../shared/agreed-calls.ts";
import { questionAbout } from "../../shared/asking.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { ARIA, asked, TOOL } from "./table-tool.ts";

describe("wasAskedAbout", () => {
  const question: ChatMessage = { role: "assistant", content: "A table for two at Aria, shall I book it?" };
  const yes: ChatMessage = { role: "user", content: "Yes." };

  it("is so where the last words answer the question, and at no other time", () => {
    expect(wasAskedAbout([{ role: "user", content: "Aria." }, question, yes], ARIA)).toBe(true);
    expect(wasAskedAbout([{ role: "user", content: "Aria." }], ARIA)).toBe(false);
    expect(wasAskedAbout([question, yes, { role: "assistant", content: "Which day?" }, { role: "user", content: "Friday." }], ARIA)).toBe(
      false,
    );
    expect(wasAskedAbout([], ARIA)).toBe(false);
  });

  it.each([
    ["Yes.", true],
    ["That's right, please book it.", true],
    ["Sounds good to me.", true],
    ["For two.", false],
    ["Actually make it Aria for two.", false],
    ["Wait a minute, forget that. At Aria, for two.", false],
    ["That is not right, it should be Aria.", false],
    ["No, Aria for two.", false],
  ])("of a policy's own question takes %s for an agreement to it: %s", (content, agreed) => {
    expect(wasAskedAbout([question, { role: "user", content }], ARIA)).toBe(agreed);
  });

  const asking = (...calls: (typeof ARIA.call)[]): ChatMessage => ({ role: "assistant", content: questionAbout(calls) });

  it("is so of every call that the question spells out, whatever it has", () => {
    for (const args of [{}, { outside: true }, { place: ["Aria", { room: "bar" }] }, { place: "“Ária” & <b>" }]) {
      const { call } = asked(args);
      expect(wasAskedAbout([asking(ARIA.call, call), yes], asked(args))).toBe(true);
    }
  });

  it("is so of a call that has what the user changes, and not of another one", () => {
    const change: ChatMessage = { role: "user", content: "Yes, but at the Corner." };
    const corner = asked({ place: "Corner" });
    expect(wasAskedAbout([asking(asked({ place: "Aria" }).call), change], corner)).toBe(true);
    expect(wasAskedAbout([asking(asked({ place: "Aria" }).call), yes], corner)).toBe(false);
    expect(wasAskedAbout([asking(ARIA.call), yes], asked({ place: "Corner", seats: 2 }))).toBe(false);
  });

  it("is not so of a call that was refused, nor where the question was about something else", () => {
    const after = (content: string): ChatMessage[] => [asking(ARIA.call), { role: "user", content }];
    expect(["Stop, don't do that.", "No.", "Please cancel."].map((reply) => wasAskedAbout(after(reply), ARIA))).toEqual([
      false,
      false,
      false,
    ]);
    const help: ChatMessage = { role: "assistant", content: "Hello! How can I help you?" };
    expect(wasAskedAbout([help, { role: "user", content: "A table for two at Aria." }], ARIA)).toBe(false);
    expect(wasAskedAbout([asking(asked({ place: "Aria", outside: false }).call), yes], asked({ place: "Aria", outside: true }))).toBe(
      false,
    );
    expect(wasAskedAbout([asking(asked({ seats: 50 }).call), yes], asked({ seats: 5 }))).toBe(false);
  });

  it.each([
    ["Yes, but let me think about the hall.", false],
    ["Yes, the hall will do.", true],
  ])("is so of what was spelled out unless the reply has a but in it: %s", (content, is) => {
    const hall = asked({ place: "Aria", room: "hall" });
    expect(wasAskedAbout([asking(hall.call), { role: "user", content }], hall)).toBe(is);
  });

  it("is so of the call with a plain change in it alone", () => {
    const said = [asking(ARIA.call), { role: "user", content: "Yes, but 3 seats." }] satisfies ChatMessage[];
    expect(wasAskedAbout(said, asked({ place: "Aria", seats: 3 }))).toBe(true);
    expect(wasAskedAbout(said, ARIA)).toBe(false);
    expect(wasAskedAbout(said, asked({ place: "Aria", seats: 3, outside: true }))).toBe(false);
  });

  it("is not so after a call, whatever was said beside it", () => {
    const call = { id: "c", type: "function" as const, function: { name: "BookTable", arguments: "{}" } };
    expect(wasAskedAbout([{ ...question, tool_calls: [call] }, yes], ARIA)).toBe(false);
  });
});

describe("hasAgreedTo", () => {
  const question: ChatMessage = { role: "assistant", content: questionAbout([ARIA.call]) };
  const after = (content: string): ChatMessage[] => [{ role: "user", content: "Aria." }, question, { role: "user", content }];

  it.each([
    ["Yes, please.", true],
    ["yep, that's right, go ahead!", true],
    ["OK", true],
    ["No.", false],
    ["Yes, but at the Corner.", true],
    ["Yes, but is the Corner open?", false],
    ["Please don't.", false],
    ["Right, what does it cost?", false],
    ["", false],
    ["OK, нет, не надо", false],
    ["Thanks, that's all.", false],
    ["Yeah, right.", false],
    ["Sure?", false],
  ])("%s → %s", (said, is) => {
    expect(hasAgreedTo(after(said), TOOL)).toBe(is);
  });

  it("is about the question's own tool, and about nothing once something came of it", () => {
    expect(hasAgreedTo(after("Yes."), { ...TOOL, function: { ...TOOL.function, name: "BookTaxi" } })).toBe(false);
    expect(hasAgreedTo([...after("Yes."), { role: "assistant", content: "Done." }], TOOL)).toBe(false);
    expect(
      hasAgreedTo(
        [
          { role: "assistant", content: "Shall I?" },
          { role: "user", content: "Yes." },
        ],
        TOOL,
      ),
    ).toBe(false);
    expect(hasAgreedTo([], TOOL)).toBe(false);
  });
});

describe("agreedCall", () => {
  const HALL = asked({ place: "Aria", seats: 2, outside: false, room: "hall" });
  const agreed = (...calls: Parameters<typeof questionAbout>[0]) =>
    agreedCall(
      [
        { role: "assistant", content: questionAbout(calls) },
        { role: "user", content: "Yes." },
      ],
      TOOL,
    );

  it.each([{ place: "Aria, by the sea", seats: 2, outside: true }, { place: "12" }, {}])("is read as it was spelled out: %o", (args) => {
    const { call } = asked(args);
    expect(agreed(call)).toEqual(call);
  });

  it("is not guessed at where a question can be read in two ways, or is about something else", () => {
    for (const place of ["Aria, seats: 3", "Aria, colour: red", "Aria) and (Corner"])
      expect(agreed(asked({ place, seats: 2 }).call)).toBeUndefined();
    expect(agreed(ARIA.call, { name: "GetTaxi", arguments: { to: "Porto" } })).toBeUndefined();
    expect(agreed({ name: "GetTaxi", arguments: {} })).toBeUndefined();
  });

  it.each([
    ["Yes, but outside please.", { outside: true }],
    ["Sure, but make it 3 seats.", { seats: 3 }],
    ["ok, but three seats and outside", { seats: 3, outside: true }],
    ["Yes, but in the bar.", { room: "bar" }],
    ["Yes - and the place should be Corner.", { place: "Corner" }],
    ["No, in the bar.", { room: "bar" }],
    ["3 seats, please.", { seats: 3 }],
    ["Exactly, but seats should be 4 instead of 2.", { seats: 4 }],
  ])("has what the reply changes in so many words: %s", (content, change) => {
    const messages: ChatMessage[] = [
      { role: "user", content: "A table at Aria." },
      { role: "assistant", content: questionAbout([HALL.call]) },
      { role: "user", content },
    ];
    expect(agreedCall(messages, TOOL)).toEqual({ ...HALL.call, arguments: { ...HALL.call.arguments, ...change } });
  });

  it.each([
    "Yes, but only if it is outside.",
    "Yes, but don't sit us outside.",
    "Yes, Ann loves the bar.",
    "Yes, but is the bar open?",
    "Yes. And then a table in the bar for Bob.",
    "Yes, but 2 or 3 seats.",
    "No, the bar.  Never mind.",
    "No, thanks.",
    "The bar is nice.",
  ])("is left to the policy where that is not plain: %s", (content) => {
    expect(
      agreedCall(
        [
          { role: "assistant", content: questionAbout([HALL.call]) },
          { role: "user", content },
        ],
        TOOL,
      ),
    ).toBeUndefined();
  });

  it("is not guessed at where a value may be meant for either of two arguments", () => {
    const properties = { guest: { type: "string" }, place: { type: "string" } };
    const tool: ToolDefinition = { type: "function", function: { name: "BookTable", parameters: { type: "object", properties } } };
    const call = { name: "BookTable", arguments: { guest: "Ann", place: "Aria" } };
    const after = (content: string): ChatMessage[] => [
      { role: "assistant", content: questionAbout([call]) },
      { role: "user", content },
    ];
    expect(agreedCall(after("Yes, but for Florence."), tool)).toBeUndefined();
    expect(agreedCall(after("Yes, but the guest is Florence."), tool)?.arguments).toEqual({ guest: "Florence", place: "Aria" });
  });
});
