/** Answers taken apart for people: whatever cannot be read as a call stays text, and nothing of it is lost. */
import { describe, expect, it } from "vitest";
import { type AnswerCall, answerParts, differingFrom, passedOver } from "../../shared/answer-text.ts";

const callOf = (name: string, given: Record<string, unknown>): string =>
  `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
const callIn = (text: string): AnswerCall =>
  answerParts(text).find((part) => part.kind === "call") ?? { kind: "call", name: "", arguments: new Map() };

describe("answerParts", () => {
  it("parts words from calls, in their order", () => {
    const parts = answerParts(`Sure. ${callOf("book", { seats: 2, aisle: true })} Done. ${callOf("pay", {})}`);
    expect(parts).toEqual([
      { kind: "words", text: "Sure." },
      {
        kind: "call",
        name: "book",
        arguments: new Map([
          ["seats", "2"],
          ["aisle", "true"],
        ]),
      },
      { kind: "words", text: "Done." },
      { kind: "call", name: "pay", arguments: new Map() },
    ]);
  });

  it.each([
    '<tool_call>{"name": </tool_call>',
    "<tool_call>[]</tool_call>",
    '<tool_call>{"name": 3}</tool_call>',
    '<tool_call>{"name": "a"}',
    "just words",
  ])("leaves %s as it is", (text) => {
    expect(answerParts(text)).toEqual([{ kind: "words", text }]);
  });

  it("has nothing of an empty answer", () => {
    expect(answerParts(" ")).toEqual([]);
  });
});

describe("differingFrom", () => {
  const call = callIn(callOf("book", { seats: 2, city: "Rome" }));

  it("names what the other answer's call of that tool says otherwise, or not at all", () => {
    expect([...differingFrom(call, answerParts(callOf("book", { seats: 1, city: "Rome" })))]).toEqual(["seats"]);
    expect([...differingFrom(call, answerParts(callOf("book", { seats: 2 })))]).toEqual(["city"]);
    expect([...differingFrom(call, answerParts(callOf("book", { seats: 2, city: "Rome" })))]).toEqual([]);
  });

  it("names all where the other one is of another tool, or of none", () => {
    expect([...differingFrom(call, answerParts(callOf("find", { seats: 2, city: "Rome" })))]).toEqual(["seats", "city"]);
    expect([...differingFrom(call, answerParts("Which city?"))]).toEqual(["seats", "city"]);
  });
});

describe("passedOver", () => {
  const learned = [
    { tool: "book", parameter: "rooms", value: "2", corrected: null },
    { tool: "book", parameter: "@ask", value: "no", corrected: null },
    { tool: "book", parameter: "view", value: "sea", corrected: null, held: false as const },
  ];

  it("tells which arguments of the tool have another value than was learned", () => {
    expect(passedOver(callOf("book", { rooms: 1, view: "street" }), learned)).toEqual([{ parameter: "rooms", value: "2", used: "1" }]);
  });

  it.each([callOf("book", { rooms: "2" }), callOf("book", {}), callOf("pay", { rooms: 1 }), "Two rooms?"])("finds none in %s", (answer) => {
    expect(passedOver(answer, learned)).toEqual([]);
  });
});
