/** Questions about a call before it is made, and calls of which somebody has said all. */
import { describe, expect, it } from "vitest";
import { asksAbout, asksForMore, isAllSaid, questionAbout } from "../../shared/asking.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { ARIA, asked, TOOL } from "./table-tool.ts";

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
