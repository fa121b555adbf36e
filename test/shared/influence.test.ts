/** Shares of an update, worked by hand: users, keys, floods, and what has to wait. */
import { describe, expect, it } from "vitest";
import { type Audience, keyCap, supersededBy, topicOf, userCap, weigh, type Evidence } from "../../shared/influence.ts";

let events = 0;
const said = (user: string, keyId = "key"): Evidence => {
  events += 1;
  return { eventId: `e${events}`, user, keyId, tool: "ReserveHotel", parameter: "number_of_rooms", value: "2" };
};
const crowd = (count: number, keyId = "key"): Evidence[] => Array.from({ length: count }, (_, index) => said(`${keyId}-${index}`, keyId));
const audience = (users: number, keys = 1, trusted: Record<string, number> = {}) => ({ users, keys, trusted });

/** Sum of the shares of what a predicate takes. */
function share(evidence: readonly Evidence[], of: Audience, takes: (each: Evidence) => boolean): number {
  const weighed = weigh(evidence, of);
  if (weighed.status !== "enough") throw new Error(weighed.detail);
  return evidence.filter(takes).reduce((sum, { eventId }) => sum + (weighed.shares.get(eventId) ?? 0), 0);
}

describe("weigh", () => {
  it("lets one teach a small circle", () => {
    expect([userCap(audience(1)), userCap(audience(3)), userCap(audience(4)), userCap(audience(200))]).toEqual([1, 1, 0.25, 0.25]);
    expect(share([said("a")], audience(3), () => true)).toBe(1);
  });

  it("wants four of a larger one, each a quarter, whatever else is said", () => {
    expect(weigh(crowd(3), audience(200))).toEqual({
      status: "waiting",
      detail: "said by 3 of 4 users that it takes to change what everybody gets; in force as a note meanwhile",
    });
    const four = crowd(4);
    for (const { user } of four) expect(share(four, audience(200), (each) => each.user === user)).toBeCloseTo(0.25);
  });

  it("counts a user once, however often it is said", () => {
    const flood = [...Array.from({ length: 40 }, () => said("loud")), ...crowd(3)];
    expect(share(flood, audience(200), ({ user }) => user === "loud")).toBeCloseTo(0.25);
    expect(
      weigh(
        Array.from({ length: 40 }, () => said("loud")),
        audience(200),
      ).status,
    ).toBe("waiting");
  });

  it("gives a key that invents users no more than any other", () => {
    expect([keyCap(audience(200, 1)), keyCap(audience(200, 2)), keyCap(audience(200, 9)), keyCap(audience(3, 3))]).toEqual([
      1, 0.5, 0.25, 1,
    ]);
    expect(weigh(crowd(1_000, "loud"), audience(1_200, 2)).status).toBe("waiting");
    const mixed = [...crowd(1_000, "loud"), ...crowd(2, "honest")];
    // Two users of the honest key may have a quarter each: half of it all, and the thousand the other half.
    expect(share(mixed, audience(1_200, 2), ({ keyId }) => keyId === "loud")).toBeCloseTo(0.5);
    expect(share(mixed, audience(1_200, 2), ({ keyId }) => keyId === "honest")).toBeCloseTo(0.5);
    // One honest user may not have half.
    expect(weigh([...crowd(1_000, "loud"), ...crowd(1, "honest")], audience(1_200, 2)).status).toBe("waiting");
  });

  it("tells whom it waits for, with the keys where those count, and of a note only where there is one", () => {
    const detail = (evidence: readonly Evidence[], of: Audience): string => {
      const weighed = weigh(evidence, of);
      return weighed.status === "waiting" ? weighed.detail : weighed.status;
    };
    const note = "; in force as a note meanwhile";
    expect(detail(crowd(4), audience(200, 2))).toBe(
      `said by 4 users under 1 key; it takes 4 users under 2 keys to change what everybody gets${note}`,
    );
    expect(detail([...crowd(9, "loud"), said("ann", "shop")], audience(200, 2))).toBe(
      `said by 10 users under 2 keys; it takes 4 users under 2 keys to change what everybody gets; too many of them under one key${note}`,
    );
    expect(detail([{ ...said("ann"), ...topicOf("answer", "ReserveHotel") }], audience(200))).not.toContain("note");
  });

  it("lets keys that are trusted have what they are trusted with", () => {
    const staff = { staff: 1 };
    expect(share([said("ann", "staff")], audience(200, 5, staff), () => true)).toBe(1);
    const both = [said("ann", "staff"), ...crowd(7, "shop")];
    expect(share(both, audience(200, 5, { staff: 0.75 }), ({ keyId }) => keyId === "staff")).toBeCloseTo(0.75);
    expect(weigh([said("ann", "staff"), said("bob", "shop")], audience(200, 5, { staff: 0.6 })).status).toBe("waiting");
    expect(weigh(crowd(3), audience(200, 5, staff)).status).toBe("waiting");
  });

  it("shares what a full key cannot take among the others, by their users", () => {
    const mixed = [...crowd(10, "a"), ...crowd(3, "b"), ...crowd(2, "c"), ...crowd(1, "d")];
    const of = (key: string): number => share(mixed, audience(50, 4), ({ keyId }) => keyId === key);
    expect([of("a"), of("b"), of("c"), of("d")].map((value) => Math.round(value * 100))).toEqual([25, 25, 25, 25]);
    const three = [...crowd(10, "a"), ...crowd(4, "b"), ...crowd(2, "c")];
    const ofThree = (key: string): number => share(three, audience(50, 3), ({ keyId }) => keyId === key);
    expect(["a", "b", "c"].map((key) => ofThree(key))).toEqual([1 / 3, 1 / 3, 1 / 3].map((each) => expect.closeTo(each)));
    const loose = [...crowd(4, "a"), ...crowd(2, "b")];
    // Caps of 1/2 each leave 2/3 against 1/3 no room: a half and a half.
    expect(share(loose, audience(50, 2), ({ keyId }) => keyId === "a")).toBeCloseTo(0.5);
  });

  it("adds up to 1 and keeps every cap over random crowds", () => {
    let word = 11;
    const random = (below: number): number => (word = (word * 48_271) % 2_147_483_647) % below;
    let enough = 0;
    for (let round = 0; round < 500; round += 1) {
      const evidence = Array.from({ length: 1 + random(30) }, () => said(`u${random(12)}`, `k${random(5)}`)).map((each) => ({
        ...each,
        user: `${each.keyId}/${each.user}`,
      }));
      const of = audience(1 + random(20), 1 + random(6));
      const weighed = weigh(evidence, of);
      if (weighed.status !== "enough") continue;
      enough += 1;
      const by = (name: "user" | "keyId"): number[] => {
        const sums = new Map<string, number>();
        for (const each of evidence) sums.set(`${each[name]}`, (sums.get(`${each[name]}`) ?? 0) + (weighed.shares.get(each.eventId) ?? 0));
        return [...sums.values()];
      };
      expect(by("user").reduce((sum, value) => sum + value, 0)).toBeCloseTo(1);
      expect(Math.max(...by("user"))).toBeLessThanOrEqual(userCap(of) + 1e-6);
      expect(Math.max(...by("keyId"))).toBeLessThanOrEqual(keyCap(of) + 1e-6);
    }
    expect(enough).toBeGreaterThan(100);
  });
});

describe("supersededBy", () => {
  const said = (eventId: string, value: string, about: Partial<Evidence> = {}): Evidence => {
    return { eventId, user: "ann", keyId: null, tool: "Search", parameter: "rooms", value, ...about };
  };
  const first = said("e1", "2");

  it("is the last word of the same user on the same topic, where it is another", () => {
    const [other, back] = [said("e2", "3"), said("e3", "2")];
    expect(supersededBy(first, [other])).toBe(other);
    expect(supersededBy(first, [other, back])).toBeUndefined();
    expect(supersededBy(first, [said("e2", "3", { user: "ben" }), said("e3", "3", { parameter: "stars" })])).toBeUndefined();
  });

  it("passes over what does not count, and asks of no more than it has to", () => {
    const later = ["3", "4", "5", "6"].map((value, index) => said(`e${index + 2}`, value));
    const asked: string[] = [];
    const counts = ({ eventId, value }: Evidence): boolean => (asked.push(eventId), value !== "6");
    expect(supersededBy(first, later, counts)).toBe(later[2]);
    expect(asked).toEqual(["e5", "e4"]);
  });

  it("takes a choice between two tools as one topic, whichever way round", () => {
    const choice = said("e1", "Find", { parameter: "@tool" });
    const turned = said("e2", "Search", { tool: "Find", parameter: "@tool" });
    expect(supersededBy(choice, [turned])).toBe(turned);
    expect(supersededBy(choice, [said("e2", "Look", { tool: "Find", parameter: "@tool" })])).toBeUndefined();
  });
});
