/** What of a long message the jobs read. */
import { describe, expect, it } from "vitest";
import { type Exchange, hintPrompt, judgePrompt } from "../../shared/jobs.ts";

describe("a long message", () => {
  const NO = "No, I always want two rooms.";
  const saying = (content: string): Exchange => ({ answered: [], nextState: [{ role: "user", content }], tools: [] });
  const read = (content: string): string => judgePrompt(saying(content)).messages[1]?.content ?? "";

  it.each([
    `${NO} ${"And I thank you for all the help. ".repeat(80)}`,
    `${"And I thank you for all the help. ".repeat(80)}${NO}`,
    `${NO} ${Array.from({ length: 90 }, (_, day) => `On day ${day} we go elsewhere.`).join(" ")}`,
    `${Array.from({ length: 90 }, (_, day) => `On day ${day} we go elsewhere.`).join("\n")}\n${NO}`,
    `${NO} ${"a".repeat(20_000)}`,
  ])("is read from where it begins and where it ends: %#", (content) => {
    expect(read(content)).toContain(NO);
    expect(read(content).length).toBeLessThan(600);
    expect(hintPrompt(saying(content)).messages[1]?.content).toBe(read(content));
  });

  it("is read as it is where it is none", () => {
    expect(read(`${NO} ${NO} ${NO}`)).toContain(`${NO} ${NO} ${NO}`);
  });
});
