/** Text that a bench writes into a page: between its marks, and nowhere else */
import { describe, expect, it } from "vitest";
import { marksOf, replaceBetween } from "../../bench/marked-text.ts";

describe("what is written", () => {
  const marks = marksOf("bench");

  it("replaces what stands between the marks, and nothing else", () => {
    const page = `before\n${marks.begin}\nold\n${marks.end}\nafter`;
    const written = replaceBetween(page, "new", marks);
    expect(written).toBe("before\n<!-- bench -->\nnew\n<!-- /bench -->\nafter");
    expect(replaceBetween(written, "new", marks)).toBe(written);
  });

  it("is refused where the marks are not there once each", () => {
    const page = `${marks.begin}\nold\n${marks.end}`;
    expect(() => replaceBetween("none", "new", marks)).toThrow("expected once each");
    expect(() => replaceBetween(page + page, "new", marks)).toThrow("expected once each");
    expect(() => replaceBetween(page, "new", marksOf("another"))).toThrow("<!-- another -->");
  });
});
