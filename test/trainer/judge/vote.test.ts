/** The plurality of votes; ties are 0. */
import { describe, expect, it } from "vitest";
import { countVotes } from "../../../trainer/judge/vote.ts";

describe("countVotes", () => {
  it.each([
    { votes: [-1, -1, 1], reward: -1 },
    { votes: [1, 1, 0], reward: 1 },
    { votes: [1, -1], reward: 0 },
    { votes: [1, 0, -1], reward: 0 },
    { votes: [], reward: 0 },
    { votes: [-1], reward: -1 },
  ] as const)("makes $reward of $votes", ({ votes, reward }) => {
    expect(countVotes(votes)).toBe(reward);
  });
});
