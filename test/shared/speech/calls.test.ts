/** Answers compared as they are written: no digit of a number is lost. Arguments are those that were written. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { parseObject, sameAnswer } from "../../../shared/speech/calls.ts";

const calling = (text: string): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "pay", arguments: text } }],
});

describe("sameAnswer", () => {
  it.each([
    ['{"account": 9007199254740993}', '{"account": 9007199254740992}', false],
    ['{"account": 9007199254740993}', '{"account":9007199254740993}', true],
    ['{"a": 1, "b": {"c": [2.5, null]}}', '{"b": {"c": [2.5, null]}, "a": 1}', true],
    ['{"a": 1}', '{"a": "1"}', false],
    ['{"a": ', '{"a": ', true],
    ['{"a": ', "{}", false],
  ])("takes %s and %s for the same: %s", (left, right, same) => {
    expect(sameAnswer(calling(left), calling(right))).toBe(same);
  });
});

describe("parseObject", () => {
  it("has the members that were written, and none that every object inherits", () => {
    const read = parseObject('{"__proto__": 1}');
    expect(Object.entries(read ?? {})).toEqual([["__proto__", 1]]);
    expect([read?.["constructor"], "toString" in (read ?? {})]).toEqual([undefined, false]);
  });
});
