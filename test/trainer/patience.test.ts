/** How long a signal still waits, with clocks of edge and trainer that differ. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Patience } from "../../trainer/patience.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const event = (agoMs: number, eventId = "e1") => ({ eventId, createdAt: new Date(NOW - agoMs).toISOString() });
const within = { maxWaitMs: 10 * MINUTE_MS, now: new Date(NOW) };

it("counts from when the edge logged it, and never below nothing", () => {
  const patience = new Patience();
  expect([3, 60].map((minutes) => patience.leftMs(event(minutes * MINUTE_MS), within))).toEqual([7 * MINUTE_MS, 0]);
});

it("counts from when it is known where the edge's clock is ahead, for each event anew", () => {
  const patience = new Patience();
  expect(patience.leftMs(event(-60 * MINUTE_MS), within)).toBe(10 * MINUTE_MS);
  vi.advanceTimersByTime(4 * MINUTE_MS);
  expect(patience.leftMs(event(-60 * MINUTE_MS), within)).toBe(6 * MINUTE_MS);
  expect(patience.leftMs(event(-60 * MINUTE_MS, "e2"), within)).toBe(10 * MINUTE_MS);
});
