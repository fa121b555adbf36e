/** When a session's one alarm rings, and what it finds to do. */
import { describe, expect, it } from "vitest";
import { FORGET_MS, isForgotten, isIdle, nextAlarm, parseIdleMs, RECOVER_MS, type Pending } from "../../../edge/session/alarm.ts";

const NOW = 1_000_000_000;
const IDLE_MS = 1_800_000;
const pending = (changes: Partial<Pending> = {}): Pending => ({
  open: false,
  unwritten: false,
  failures: 0,
  activeAt: NOW,
  closedAt: null,
  idleMs: IDLE_MS,
  ...changes,
});
const ring = (changes: Partial<Pending>, random = 0.5): number => nextAlarm(pending(changes), { now: NOW, random }) - NOW;

describe("the alarm", () => {
  it("rings when an idle session closes, and when a closed one is forgotten", () => {
    expect(ring({})).toBe(IDLE_MS);
    expect(ring({ closedAt: NOW })).toBe(FORGET_MS);
  });

  it("rings for an open turn and for what is unwritten before it rings for idleness", () => {
    expect(ring({ open: true })).toBe(RECOVER_MS);
    expect(ring({ unwritten: true })).toBeLessThan(RECOVER_MS);
  });

  it("backs off from half a second to a minute while writing fails, and never to zero", () => {
    expect(ring({ unwritten: true, failures: 0 }, 0)).toBe(250);
    expect(ring({ unwritten: true, failures: 3 }, 0.999)).toBeCloseTo(250 + 0.999 * 4_000);
    expect(ring({ unwritten: true, failures: 50 }, 0.999)).toBeLessThan(61_000);
  });

  it("is never set in the past", () => {
    expect(ring({ activeAt: NOW - 2 * IDLE_MS })).toBe(0);
  });
});

describe("the idle time", () => {
  it("is half an hour unless it is set to something else, in milliseconds", () => {
    expect([parseIdleMs(undefined), parseIdleMs(""), parseIdleMs("2500")]).toEqual([1_800_000, 1_800_000, 2_500]);
    expect(() => parseIdleMs("soon")).toThrow("SESSION_IDLE_MS");
    expect(() => parseIdleMs("-1")).toThrow("got -1");
  });
});

describe("a session", () => {
  it("is idle after half an hour without a turn, not while one is open, and closes once", () => {
    expect(isIdle(pending(), NOW + IDLE_MS - 1)).toBe(false);
    expect(isIdle(pending(), NOW + IDLE_MS)).toBe(true);
    expect(isIdle(pending({ open: true }), NOW + IDLE_MS)).toBe(false);
    expect(isIdle(pending({ closedAt: NOW }), NOW + IDLE_MS)).toBe(false);
  });

  it("is forgotten when it is closed, nothing leads to it and nothing is owed", () => {
    const later = NOW + FORGET_MS;
    expect(isForgotten(pending({ closedAt: NOW }), later)).toBe(true);
    expect(isForgotten(pending({ closedAt: NOW }), later - 1)).toBe(false);
    expect(isForgotten(pending({ closedAt: NOW, unwritten: true }), later)).toBe(false);
    expect(isForgotten(pending(), later)).toBe(false);
  });
});
