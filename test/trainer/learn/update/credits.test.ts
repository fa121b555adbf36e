/** The pieces that an answer is told in: whose advantage is whose, and no letter lost. */
import { describe, expect, it } from "vitest";
import { piecesOf } from "../../../../trainer/learn/update/credits.ts";

describe("piecesOf", () => {
  const words = ["<call>", '{"rooms"', ": ", '"1"', "}"];
  const decode = (ids: readonly number[]): string => ids.map((id) => words[id] ?? "").join("");

  it("keeps each token that something is said about, rounded, and puts the others together", () => {
    const pieces = piecesOf([0, 1, 2, 3, 4], [0, 0, 0, -0.123456, 0], decode);
    expect(pieces).toEqual([
      ['<call>{"rooms": ', 0],
      ['"1"', -0.123],
      ["}", 0],
    ]);
  });

  it("gives a sign that several tokens make to the last of them, and loses none", () => {
    const bytes = [...new TextEncoder().encode("a旅b")];
    const inBytes = (ids: readonly number[]): string => new TextDecoder().decode(Uint8Array.from(ids));
    const pieces = piecesOf(bytes, [0.5, 0.1, 0.2, 0.3, -0.5], inBytes);
    expect(pieces).toEqual([
      ["a", 0.5],
      ["旅", 0.3],
      ["b", -0.5],
    ]);
  });

  it("ends with what is unreadable, as it is shown", () => {
    const inBytes = (ids: readonly number[]): string => new TextDecoder().decode(Uint8Array.from(ids));
    expect(piecesOf([0x61, 0xe6], [0, 0], inBytes)).toEqual([["a\uFFFD", 0]]);
  });
});
