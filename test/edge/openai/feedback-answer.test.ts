/** What an answer that somebody supplies may hold: nothing that the trainer could not read. */
import { describe, expect, it } from "vitest";
import { issueWords } from "../../../edge/issue-words.ts";
import { FeedbackAnswer } from "../../../edge/openai/messages.ts";

const calling = (text: string) => FeedbackAnswer.safeParse({ tool_calls: [{ function: { name: "Book", arguments: text } }] });
const nested = (levels: number): string => `{"a": ${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("a supplied answer", () => {
  it("has arguments nested as deep as they can be walked", () => {
    expect([nested(100), nested(101), nested(20_000), "[]"].map((text) => calling(text).success)).toEqual([true, false, false, false]);
    expect(calling(nested(101)).error?.issues[0]?.message).toMatch(/a JSON object of at most 100 levels/);
  });

  const refusal = (calls: { name: string; arguments: string }[]): { param: string; message: string } | undefined => {
    const answer = { content: "x".repeat(4_000), tool_calls: calls.map((made) => ({ function: made })) };
    const [issue] = FeedbackAnswer.safeParse(answer, { error: issueWords }).error?.issues ?? [];
    return issue && { param: issue.path.join("."), message: issue.message };
  };
  const holding = (characters: number): string => `{"a": "${"x".repeat(characters - 9)}"}`;

  it("calls what may be the name of a tool", () => {
    expect(refusal([{ name: "x".repeat(64), arguments: "{}" }])).toBeUndefined();
    for (const name of ["x".repeat(65), "two words", ""])
      expect(refusal([{ name, arguments: "{}" }])).toEqual({
        param: "tool_calls.0.function.name",
        message: "1 to 64 letters, digits, _ or - expected",
      });
  });

  it("is no larger than a tool's call could be, all its calls together", () => {
    const made = (...sizes: number[]) => refusal(sizes.map((size) => ({ name: "Book", arguments: holding(size) })));
    expect([made(16_384), made(8_192, 8_192)]).toEqual([undefined, undefined]);
    expect(made(30, 16_385)).toEqual({
      param: "tool_calls.1.function.arguments",
      message: "at most 16384 characters expected, got 16385",
    });
    expect(made(8_192, 8_193)).toEqual({
      param: "tool_calls",
      message: "at most 16384 characters of arguments expected in all, got 16385",
    });
  });
});
