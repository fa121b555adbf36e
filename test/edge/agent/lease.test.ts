/** Who gets an agent's lease, when, and with which token. */
import { describe, expect, it } from "vitest";
import { endLease, grant, leaseFault, NO_LEASE, type LeaseState } from "../../../edge/agent/lease.ts";

const key = "trainer:k_1";
const ask = (state: LeaseState, holder: string, now: number, token?: number, by = key) => {
  const { next, answer } = grant(state, { holder, key: by, ttlMs: 1_000, ...(token === undefined ? {} : { token }) }, now);
  return { next, ...answer };
};

describe("a lease", () => {
  const first = ask(NO_LEASE, "a", 0);

  it("is given to who asks first, and to nobody else until it ends", () => {
    expect(first).toEqual({ next: { token: 1, holder: "a", key, endsAt: 1_000 }, status: "held", token: 1 });
    expect(ask(first.next, "b", 999)).toMatchObject({ next: first.next, status: "taken", holder: "a", endsInMs: 1 });
    expect(ask(first.next, "b", 1_000)).toMatchObject({ next: { token: 2, holder: "b", endsAt: 2_000 }, status: "held" });
  });

  it("tells who takes it over how long nobody had it, and only them", () => {
    expect(ask(first.next, "b", 1_000)).toMatchObject({ status: "held", unheldMs: 0 });
    expect(ask(first.next, "b", 1_250)).toMatchObject({ status: "held", unheldMs: 250 });
    const others = [first, ask(first.next, "a", 5_000, 1), ask(first.next, "a", 10), ask(endLease(first.next, 1, key), "b", 5_000)];
    expect(others.map((each) => [each.status, "unheldMs" in each])).toEqual(Array(4).fill(["held", false]));
  });

  it("is kept by its heartbeat, even late, as long as nobody took it", () => {
    expect(ask(first.next, "a", 900, 1)).toMatchObject({ next: { token: 1, endsAt: 1_900 }, status: "held" });
    expect(ask(first.next, "a", 5_000, 1)).toMatchObject({ next: { token: 1, endsAt: 6_000 }, status: "held" });
    const second = ask(first.next, "b", 1_000);
    expect(ask(second.next, "a", 1_001, 1)).toMatchObject({ next: second.next, status: "taken", holder: "b" });
    // Not even once the other's lease has ended: what was made under the old token may be late.
    expect(ask(second.next, "a", 9_000, 1)).toMatchObject({ next: second.next, status: "taken" });
  });

  it("goes at once to a trainer that comes back under its name, with a new token", () => {
    expect(ask(first.next, "a", 10)).toMatchObject({ next: { token: 2, holder: "a", endsAt: 1_010 }, status: "held" });
  });

  it("is not taken from another process of the name by one that had it before, unless it is that one's own", () => {
    const again = (last: number) => grant(first.next, { holder: "a", key, ttlMs: 1_000, last }, 10).answer;
    expect(again(1)).toEqual({ status: "held", token: 2 });
    expect(again(0)).toMatchObject({ status: "taken", holder: "a" });
  });

  it("is not kept under another's name", () => {
    expect(ask(first.next, "b", 10, 1)).toMatchObject({ next: first.next, status: "taken" });
  });

  it("is nobody's of another key, under its name, with its token or with its last one, and its holder's name is not told there", () => {
    const other = "trainer:k_2";
    const taken = { status: "taken", holder: "another trainer", endsInMs: 990 };
    expect(ask(first.next, "a", 10, undefined, other)).toEqual({ next: first.next, ...taken });
    expect(ask(first.next, "a", 10, 1, other)).toEqual({ next: first.next, ...taken });
    expect(grant(first.next, { holder: "a", key: other, ttlMs: 1_000, last: 1 }, 10).answer).toEqual(taken);
    expect(endLease(first.next, 1, other)).toBe(first.next);
    expect(leaseFault(first.next, 1, other)).toBe("x-lease-token: 1, the lease of another trainer, expected, got it under another key");
    expect(leaseFault(first.next, 0, other)).toMatch(/^x-lease-token: 1, the lease of another trainer, expected, got none/);
    expect(ask(first.next, "a", 1_000, undefined, other).next).toEqual({ token: 2, holder: "a", key: other, endsAt: 2_000 });
  });

  it("of before keys were kept is its holder's by name, and its key's from the next heartbeat on", () => {
    const kept = ask({ ...first.next, key: null }, "a", 10, 1);
    expect(kept).toMatchObject({ next: { token: 1, holder: "a", key }, status: "held" });
    expect(leaseFault({ ...first.next, key: null }, 1, key)).toBeUndefined();
    expect(ask({ ...first.next, key: null }, "b", 10)).toMatchObject({ status: "taken", holder: "another trainer" });
  });

  it("that was given back is free at once, and its token is worth nothing", () => {
    const ended = endLease(first.next, 1, key);
    expect(leaseFault(ended, 1, key)).toMatch(/^x-lease-token: 2, which nobody holds expected, got 1, a lease that has ended/);
    expect(ask(ended, "a", 11, 1)).toMatchObject({ status: "taken", holder: null });
    expect(ask(ended, "b", 11)).toMatchObject({ status: "held", token: 3 });
    expect(endLease(ended, 1, key)).toBe(ended);
    expect(endLease(first.next, 7, key)).toBe(first.next);
  });

  it("lets its token move the lines, and no other", () => {
    expect(leaseFault(NO_LEASE, 0, key)).toBeUndefined();
    expect(leaseFault(first.next, 1, key)).toBeUndefined();
    expect(leaseFault(first.next, 0, key)).toBe("x-lease-token: 1, the lease of trainer a, expected, got none; POST …/lease gives one");
    expect(leaseFault(ask(first.next, "b", 1_000).next, 1, key)).toMatch(
      /2, the lease of trainer b, expected, got 1, a lease that has ended/,
    );
  });
});
