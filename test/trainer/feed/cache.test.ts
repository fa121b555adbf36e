/** The trainer's memory of recent turns and rewards is bounded and in log order. */
import { describe, expect, it } from "vitest";
import { EventCache } from "../../../trainer/feed/cache.ts";
import { call, turn, user } from "../hotel.ts";

describe("EventCache", () => {
  it("keeps the most recent turns, bounded, in log order", () => {
    const cache = new EventCache(2);
    const turns = ["a", "b", "c"].map((text) => turn([user(text)], call("SearchHotel", { city: text })));
    turns.forEach((event) => cache.add(event));
    expect(cache.turns().map(({ turnId }) => turnId)).toEqual(turns.slice(1).map(({ turnId }) => turnId));
    expect(cache.byCompletion(turns[0]?.payload.completionId ?? "")).toBeUndefined();
  });

  it("counts a judgement that is delivered twice once", () => {
    const cache = new EventCache(5);
    const { payload: _, ...header } = turn([user("a")], call("SearchHotel", { city: "a" }));
    const judged = {
      ...header,
      payload: { kind: "judgement:made" as const, subject: "t/next", reward: -1, votes: [-1], judge: "embedded" as const },
    };
    cache.add(judged);
    cache.add(judged);
    expect(cache.rewards(judged.seq)).toEqual([-1]);
    expect(cache.rewards(judged.seq - 1)).toEqual([]);
    expect(cache.rewards(judged.seq, new Set([judged.turnId]))).toEqual([]);
  });

  it("takes no call that merely ran for an outcome, and one that failed for one", () => {
    const cache = new EventCache(9);
    const { payload: _, ...header } = turn([user("a")], call("SearchHotel", { city: "a" }));
    const judged = [
      ["verifiable", 0],
      ["verifiable", -1],
      ["embedded", 0],
      ["feedback", 1],
    ] as const;
    judged.forEach(([judge, reward], at) =>
      cache.add({ ...header, seq: at, payload: { kind: "judgement:made", subject: `t${at}/next`, reward, votes: [reward], judge } }),
    );
    expect(cache.rewards(9)).toEqual([-1, 0, 1]);
  });

  it("forgets the turns and the rewards of a deleted user, and nobody else's", () => {
    const cache = new EventCache(5);
    const [ann, bob] = ["ann", "bob"].map((name) => ({ ...turn([user(name)], call("SearchHotel", { city: name })), user: name }));
    for (const each of [ann, bob]) {
      if (each === undefined) throw new Error("two turns expected");
      const { payload: _, ...header } = each;
      const reward = each.user === "ann" ? 1 : -1;
      cache.add(each);
      cache.add({
        ...header,
        payload: { kind: "judgement:made", subject: `${each.turnId}/next`, reward, votes: [reward], judge: "embedded" },
      });
    }
    const seq = 1 + (bob?.seq ?? 0);
    if (bob !== undefined) cache.add({ ...bob, seq, user: "ann", payload: { kind: "user:deleted" } });
    expect(cache.rewards(seq)).toEqual([-1]);
    expect(cache.turns().map((each) => each.user)).toEqual(["bob"]);
  });
});
