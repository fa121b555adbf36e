/** No user has more than a share of a batch. */
import { describe, expect, it } from "vitest";
import { capShares } from "../../../trainer/data/share.ts";

const userOf = (entry: string): string => entry.charAt(0);

describe("capShares", () => {
  it("holds a loud user to half of a batch of two users, to what was said last", () => {
    const { kept, dropped } = capShares(["a1", "a2", "a3", "a4", "a5", "b1"], userOf, 0.5);
    expect(kept).toEqual(["a3", "a4", "a5", "b1"]);
    expect(dropped).toEqual(["a1", "a2"]);
  });

  it("leaves a single user alone", () => {
    expect(capShares(["a1", "a2"], userOf, 0.5).kept).toHaveLength(2);
  });

  it("keeps one entry of every user however small the cap", () => {
    expect(capShares(["a1", "a2", "b1"], userOf, 0.1).kept).toEqual(["a2", "b1"]);
  });
});
