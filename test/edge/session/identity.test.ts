/** A user's name is its key's own. */
import { describe, expect, it } from "vitest";
import { scopedUser } from "../../../edge/session/identity.ts";

describe("scopedUser", () => {
  it("is another for another key or name, also where names differ in halves of characters only", async () => {
    const users = [
      ["k1", "ann"],
      ["k2", "ann"],
      ["k1", undefined],
      ["k1", "k1"],
      ["k1", "ann\ud83d"],
      ["k1", "ann\ud83c"],
    ] as const;
    const scoped = await Promise.all(users.map(([key, user]) => scopedUser(key, user)));
    expect(new Set(scoped).size).toBe(users.length);
    expect(await scopedUser("k1", "ann")).toBe(scoped[0]);
  });
});
