/** Replies in other words than the policy's own: where they differ, what is matched of the rest, when they are said. */
import { describe, expect, it } from "vitest";
import { changedSpan, saysReply, withOwnRest } from "../../../../trainer/learn/lesson/reworded.ts";

const END = 9;
const OWN = [1, 2, 3, 4, END];

describe("changedSpan", () => {
  it.each([
    { reply: [7, 8, 2, 3, 4, END], from: 0, to: 2, what: "a name before it" },
    { reply: [1, 2, END], from: 2, to: 3, what: "an end that comes sooner" },
    { reply: [1, 2, 7, 4, END], from: 2, to: 3, what: "another word" },
    { reply: [1, 2, 3, 4, 4, END], from: 4, to: 5, what: "a word once more" },
    { reply: OWN, from: 5, to: 5, what: "nothing" },
  ])("is $what", ({ reply, from, to }) => {
    expect(changedSpan(OWN, reply)).toEqual({ from, to });
  });
});

describe("withOwnRest", () => {
  it("has the policy's own distributions where the reply goes on as it does by itself", () => {
    const vocabSize = 2;
    const taught = Float32Array.from({ length: 12 }, (_, index) => -index);
    const ownFull = Float32Array.from({ length: 10 }, (_, index) => 100 + index);
    const matched = withOwnRest(taught, { own: OWN, ownFull, reply: [7, 8, 2, 3, 4, END], vocabSize });
    // The reply's tokens 2 to 5 are the policy's own 1 to 4.
    expect([...matched]).toEqual([-0, -1, -2, -3, 102, 103, 104, 105, 106, 107, 108, 109]);
    expect(taught[4]).toBe(-4);
  });
});

describe("saysReply", () => {
  const own = Array.from({ length: 20 }, (_, index) => index + 10);
  const reply = [1, 2, ...own];
  const likeliest = (wrong: readonly number[]): number[] => reply.map((token, index) => (wrong.includes(index) ? 0 : token));

  it("takes every word that is new, and nearly all of the others", () => {
    expect(saysReply(likeliest([]), { own, reply })).toBe(true);
    expect(saysReply(likeliest([0]), { own, reply })).toBe(false);
    expect(saysReply(likeliest([5, 9]), { own, reply })).toBe(true);
    expect(saysReply(likeliest([5, 9, 12]), { own, reply })).toBe(false);
  });

  it("may begin with another word what comes behind a name, and ends where it is to end", () => {
    expect(saysReply(likeliest([1]), { own, reply })).toBe(true);
    expect(saysReply([1, 2, 3], { own: OWN, reply: [1, 2, END] })).toBe(false);
  });
});
