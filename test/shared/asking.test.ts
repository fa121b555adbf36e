/** Questions about a call before it is made, and calls of which somebody has said all. */
import { describe, expect, it } from "vitest";
import { agreedCall, asksAbout, asksForMore, hasAgreedTo, isAllSaid, questionAbout, wasAskedAbout } from "../../shared/asking.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";

const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "BookTable",
    parameters: {
      type: "object",
      properties: {
        place: { type: "string" },
        seats: { type: "integer" },
        outside: { type: "boolean" },
        room: { type: "string", enum: ["hall", "bar"], default: "hall" },
      },
      required: ["place"],
    },
  },
};
const asked = (args: Record<string, unknown>) => ({ tool: TOOL, call: { name: "BookTable", arguments: args } });
const ARIA = asked({ place: "Aria", seats: 2 });

describe("asksAbout", () => {
  it.each([
    ["Please confirm: a table at Aria.", true],
    ["A table for two, right?", true],
    ["Kindly ensure that these are right: Aria, 2 seats.", true],
    ["Your table at Aria is booked.", false],
    ["Anything else?", false],
    ["Confirming a table at the Corner.", false],
  ])("%s → %s", (text, is) => {
    expect(asksAbout(text, ARIA)).toBe(is);
  });

  it("is told by what a call does where it has nothing that could be repeated", () => {
    expect(asksAbout("Shall I book the table outside?", asked({ outside: true }))).toBe(true);
    expect(asksAbout("Do you like it outside?", asked({ outside: true }))).toBe(false);
    expect(asksAbout("The table is booked.", asked({}))).toBe(false);
  });
});

describe("asksForMore", () => {
  it.each(["Booked. Anything else?", "Is there anything else I can help with? Just say so.", "What else can I do for you?"])(
    "is true of %s",
    (text) => expect(asksForMore(text)).toBe(true),
  );

  it.each([
    "Shall I book it?",
    "Shall I book it? And is there anything else?",
    "Anything else before I book it?",
    "Anything else, or shall I book it?",
    "I booked it, and nothing else.",
    "Please confirm a table for two at 7 pm. Anything else?",
    "Please confirm: reserve table (place: Aria). Anything else you need?",
  ])("is false of %s", (text) => expect(asksForMore(text)).toBe(false));
});

describe("questionAbout", () => {
  it("names the calls with all that they have", () => {
    const calls = [ARIA.call, { name: "find_taxi", arguments: { to: { city: "Porto" }, shared: false } }, { name: "Ping", arguments: {} }];
    expect(questionAbout(calls)).toBe(
      'Please confirm: book table (place: Aria, seats: 2) and find taxi (to: {"city":"Porto"}, shared: false) and ping. Is that right?',
    );
  });
});

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
    ["Yes, but at the Corner.", false],
    ["Please don't.", false],
    ["Right, what does it cost?", false],
    ["", false],
    ["OK, нет, не надо", false],
    ["Thanks, that's all.", false],
    ["Yeah, right.", false],
    ["Sure?", false],
  ])("%s → %s", (said, is) => {
    expect(hasAgreedTo(after(said), "BookTable")).toBe(is);
  });

  it("is about the question's own tool, and about nothing once something came of it", () => {
    expect(hasAgreedTo(after("Yes."), "BookTaxi")).toBe(false);
    expect(hasAgreedTo([...after("Yes."), { role: "assistant", content: "Done." }], "BookTable")).toBe(false);
    expect(
      hasAgreedTo(
        [
          { role: "assistant", content: "Shall I?" },
          { role: "user", content: "Yes." },
        ],
        "BookTable",
      ),
    ).toBe(false);
    expect(hasAgreedTo([], "BookTable")).toBe(false);
  });
});

describe("agreedCall", () => {
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
});

describe("isAllSaid", () => {
  it.each([
    ["On the 5th, please.", "2019-03-05", true],
    ["Next Tuesday.", "2019-03-05", true],
    ["Tomorrow!", "2019-03-02", true],
    ["Today.", "2019-03-01", true],
    ["Tomorrow!", "2019-03-03", false],
    ["For 5 people.", "2019-03-05", false],
    ["On Friday.", "2019-03-05", false],
    ["The day after tomorrow.", "2019-03-02", false],
    ["On the 5th of April, on 5th Avenue.", "2019-03-05", false],
    ["A flight to Rome.", "2019-03-45", false],
    ["A flight on Sunday.", "2019-02-31", false],
  ])("takes a day for said that may be meant: %s, %s: %s", (content, day, is) => {
    const messages: ChatMessage[] = [
      { role: "system", content: "Today is Friday, 2019-03-01." },
      { role: "user", content },
    ];
    const tool = { ...TOOL, function: { ...TOOL.function, parameters: { type: "object", properties: { day: { type: "string" } } } } };
    expect(isAllSaid(messages, { tool, call: { name: "BookTable", arguments: { day } } })).toBe(is);
    expect(isAllSaid(messages.slice(1), { tool, call: { name: "BookTable", arguments: { day } } })).toBe(
      is && !/Today|Tomorrow/.test(content),
    );
  });

  const said: ChatMessage[] = [{ role: "user", content: "Two seats at Aria, please." }];

  it.each([
    { name: "what was said", args: { place: "Aria", seats: 2 }, is: true },
    { name: "what was said and what holds for who says nothing", args: { place: "Aria", room: "hall" }, is: true },
    { name: "a place that nobody named", args: { place: "Corner" }, is: false },
    { name: "an option that nobody chose", args: { place: "Aria", room: "bar" }, is: false },
    { name: "what its tool does not declare", args: { place: "Aria", wine: "red" }, is: false },
  ])("is $is of $name", ({ args, is }) => {
    expect(isAllSaid(said, asked(args))).toBe(is);
  });
});
