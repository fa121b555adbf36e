/** Whose answer is made next: the keys in turn, within bounds, whoever floods, leaves or dies; by hand, with a clock of the test's own. */
import { describe, expect, it } from "vitest";
import { MOST_OF_KEY, MOST_RUNNING, MOST_WAITING, type Place, Turns } from "../../../edge/policy/turns.ts";
import { AppError } from "../../../shared/errors.ts";

function turnsAt() {
  const clock = { now: 0 };
  const turns = new Turns(() => clock.now);
  /** Enters and asks for its turn, so that it waits. */
  const ask = (key: string, count = 1): Place[] =>
    Array.from({ length: count }, () => {
      const place = turns.enter(key);
      turns.begin(place);
      return place;
    });
  const hasBegun = ({ beganAt }: Place): boolean => beganAt !== undefined;
  /** Each that waits asks once; returns the keys that began. */
  const poll = (places: readonly Place[]): string[] => {
    const waiting = places.filter((place) => !hasBegun(place));
    return waiting.flatMap((place) => (turns.begin(place) ? [place.key] : []));
  };
  return { clock, turns, ask, poll, hasBegun };
}

function refusalOf(enter: () => unknown): AppError | undefined {
  try {
    enter();
    return undefined;
  } catch (thrown) {
    return thrown instanceof AppError ? thrown : undefined;
  }
}

describe("Turns", () => {
  it("makes a few answers at a time, a key's own in the order in which they came", () => {
    const { turns, ask, hasBegun, poll } = turnsAt();
    const places = ask("a", 10);
    expect(places.map(hasBegun)).toEqual(places.map((_, index) => index < MOST_RUNNING));
    turns.leave(places[1] as Place);
    expect(poll(places)).toEqual(["a"]);
    expect(hasBegun(places[MOST_RUNNING] as Place)).toBe(true);
  });

  it("asks often where it is the next of its key, and the less often the more are before it", () => {
    const { turns, ask, hasBegun } = turnsAt();
    const waiting = ask("a", 90).filter((place) => !hasBegun(place));
    const pauses = waiting.map((place) => turns.pauseFor(place));
    expect(pauses[0]).toBe(10);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBe(500);
    expect(turns.pauseFor(ask("b", 2)[1] as Place)).toBe(10);
  });

  it("lets a key begin of which nothing is answered, and then each key in turn", () => {
    const { turns, ask, poll, hasBegun } = turnsAt();
    const flood = ask("a", 50);
    const others = ask("b", 3);
    expect(others.map(hasBegun)).toEqual([true, false, false]);
    const all = [...flood, ...others];
    const order: string[] = [];
    for (let ended = 0; ended < 8; ended += 1) {
      const running = all.filter((place) => hasBegun(place) && !order.includes(`${all.indexOf(place)}`));
      const [first] = running;
      order.push(`${all.indexOf(first as Place)}`);
      turns.leave(first as Place);
      poll(all);
    }
    expect(others.every(hasBegun)).toBe(true);
    expect(flood.filter(hasBegun).length).toBeLessThan(15);
  });

  it("refuses what is over a bound at once, with numbers, and takes it once a place is free", () => {
    const { turns, ask } = turnsAt();
    const places = ask("a", MOST_RUNNING + MOST_OF_KEY);
    const refused = refusalOf(() => turns.enter("a"));
    expect([refused?.code, refused?.status, refused?.details, refused?.message]).toEqual([
      "auth/limited",
      429,
      { code: "rate_limit_exceeded", retryAfterSeconds: 25 },
      "at most 100 answers of one key expected that wait, got one more while 4 are being made; try again in 25 s",
    ]);
    expect(refusalOf(() => turns.enter("b"))).toBeUndefined();
    expect(refusalOf(() => turns.enter("a", { bounded: false }))).toBeUndefined();
    for (const place of places.slice(-2)) turns.leave(place);
    expect(refusalOf(() => turns.enter("a"))).toBeUndefined();
  });

  it("has a bound for all keys together", () => {
    const { turns } = turnsAt();
    for (let key = 0; key < MOST_WAITING / MOST_OF_KEY; key += 1) for (let each = 0; each < MOST_OF_KEY; each += 1) turns.enter(`${key}`);
    const refused = refusalOf(() => turns.enter("another"));
    expect([refused?.code, refused?.status]).toEqual(["policy/busy", 503]);
  });

  it("waits for nobody who is gone: neither in a queue, nor behind a bound, nor while an answer is made", () => {
    const { clock, turns, ask, poll, hasBegun } = turnsAt();
    const running = ask("a", MOST_RUNNING);
    const [gone, waits] = ask("a", 2) as [Place, Place];
    clock.now += 6_000;
    for (const place of running) turns.touch(place);
    turns.leave(running[0] as Place);
    expect(poll([waits])).toEqual(["a"]);
    expect(hasBegun(gone)).toBe(false);
    ask("b", MOST_OF_KEY + 1);
    expect(refusalOf(() => turns.enter("b"))?.status).toBe(429);
    clock.now += 6_000;
    expect(refusalOf(() => turns.enter("b"))).toBeUndefined();
    clock.now += 21_000;
    const next = ask("a", MOST_RUNNING);
    expect(next.every(hasBegun)).toBe(true);
    // It was only slow.
    expect(poll([gone])).toEqual([]);
    turns.leave(next[0] as Place);
    expect(poll([gone])).toEqual(["a"]);
  });

  it("frees a place whose reader has gone while it waited", async () => {
    const { turns, ask } = turnsAt();
    ask("a", MOST_RUNNING);
    const leaving = new AbortController();
    const waits = turns.wait(turns.enter("a"), leaving.signal);
    expect(turns.waiting("a")).toBe(1);
    leaving.abort();
    await expect(waits).rejects.toThrow("aborted by its reader");
    expect(turns.waiting()).toBe(0);
  });
});
