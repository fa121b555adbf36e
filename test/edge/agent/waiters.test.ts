/** Who waits for the event log to grow, and what wakes them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Waiters } from "../../../edge/agent/waiters.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a wait comes to, undefined while it lasts. */
function waitOf(waiters: Waiters, after: number): { seq: number | undefined } {
  const wait: { seq: number | undefined } = { seq: undefined };
  void waiters.wait(after, 1_000).then((seq) => (wait.seq = seq));
  return wait;
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe("a wait for events", () => {
  it("ends at once where the log is known to hold more", async () => {
    const waiters = new Waiters();
    waiters.notify(6);
    const wait = waitOf(waiters, 5);
    await settle();
    expect(wait.seq).toBe(6);
  });

  it("ends with the notice of more, and not with that of what its reader has", async () => {
    const waiters = new Waiters();
    const [behind, ahead] = [waitOf(waiters, 3), waitOf(waiters, 5)];
    waiters.notify(4);
    await settle();
    expect([behind.seq, ahead.seq]).toEqual([4, undefined]);
    waiters.notify(6);
    await settle();
    expect(ahead.seq).toBe(6);
  });

  it("ends after its time where nothing comes", async () => {
    const waiters = new Waiters();
    waiters.notify(2);
    const wait = waitOf(waiters, 5);
    await vi.advanceTimersByTimeAsync(999);
    expect(wait.seq).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(wait.seq).toBe(2);
  });
});
