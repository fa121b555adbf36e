/** What an answer that somebody supplies may hold: nothing that the trainer could not read. */
import { describe, expect, it } from "vitest";
import { FeedbackAnswer } from "../../../edge/openai/messages.ts";

const calling = (text: string) => FeedbackAnswer.safeParse({ tool_calls: [{ function: { name: "Book", arguments: text } }] });
const nested = (levels: number): string => `{"a": ${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("a supplied answer", () => {
  it("has arguments nested as deep as they can be walked", () => {
    expect([nested(100), nested(101), nested(20_000), "[]"].map((text) => calling(text).success)).toEqual([true, false, false, false]);
    expect(calling(nested(101)).error?.issues[0]?.message).toMatch(/a JSON object of at most 100 levels/);
  });
});
