/** How long a retry waits, what is tried again, and what is not. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { backoffMs, pause, reportRetry, retryAfterOf, retryFor, retryForever } from "../../../trainer/feed/retry.ts";

const ALWAYS = { random: { next: () => 0 }, onRetry: () => undefined };

describe("backoffMs", () => {
  it("grows from 200 ms to 5 s and is full jitter", () => {
    expect([0, 1, 2, 10].map((attempt) => backoffMs(attempt, 1))).toEqual([200, 400, 800, 5_000]);
    expect(backoffMs(3, 0)).toBe(0);
  });
});

describe("retryForever", () => {
  it("repeats what may pass until it does", async () => {
    let attempts = 0;
    const call = async () => {
      attempts += 1;
      if (attempts < 4) throw new AppError("upstream/unreachable", "down");
      return "up";
    };
    expect(await retryForever(call, { ...ALWAYS, signal: new AbortController().signal })).toBe("up");
    expect(attempts).toBe(4);
  });

  it("throws what will not pass at once", async () => {
    const call = () => Promise.reject(new AppError("auth/forbidden", "wrong key"));
    await expect(retryForever(call, { ...ALWAYS, signal: new AbortController().signal })).rejects.toThrow("wrong key");
  });

  it("gives up without a result when told to stop", async () => {
    const stop = new AbortController();
    const call = () => {
      stop.abort();
      return Promise.reject(new AppError("upstream/unreachable", "down"));
    };
    expect(await retryForever(call, { ...ALWAYS, signal: stop.signal })).toBeUndefined();
  });
});

describe("retryFor", () => {
  it("repeats what may pass for so long, and then throws it", async () => {
    let attempts = 0;
    const call = () => ((attempts += 1), Promise.reject(new AppError("upstream/failed", `attempt ${attempts}`)));
    const signal = new AbortController().signal;
    await expect(retryFor(0, call, { ...ALWAYS, signal })).rejects.toThrow("attempt 1");
    await expect(retryFor(20, call, { ...ALWAYS, signal })).rejects.toThrow(/attempt/);
    expect(attempts).toBeGreaterThan(2);
  });

  it("throws what it has met when told to stop, and asks no more", async () => {
    const stop = new AbortController();
    let attempts = 0;
    const call = () => ((attempts += 1), Promise.reject(new AppError("upstream/failed", "down")));
    const waiting = retryFor(3_600_000, call, { random: { next: () => 0.9 }, signal: stop.signal, onRetry: () => stop.abort() });
    await expect(waiting).rejects.toThrow("down");
    expect(attempts).toBe(1);
  });

  it("waits as long as it is told to, and no longer than ten minutes", async () => {
    const waits: number[] = [];
    for (const retryAfterMs of [120_000, 3_600_000]) {
      const stop = new AbortController();
      const onRetry = (_: unknown, delayMs: number): void => {
        waits.push(delayMs);
        stop.abort();
      };
      const call = () => Promise.reject(new AppError("upstream/failed", "limited", { details: { retryAfterMs } }));
      await expect(retryFor(3_600_000, call, { ...ALWAYS, onRetry, signal: stop.signal })).rejects.toThrow("limited");
    }
    expect(waits).toEqual([120_000, 600_000]);
  });
});

describe("retryAfterOf", () => {
  it("reads seconds and dates, and nothing else", () => {
    const now = Date.parse("2026-01-02T03:04:05Z");
    const headers = ["120", "Fri, 02 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026 03:00:00 GMT", "soon", null];
    expect(headers.map((header) => retryAfterOf(header, now))).toEqual([120_000, 60_000, 0, undefined, undefined]);
  });
});

describe("pause", () => {
  it("ends when told to stop, before it or during it, and throws nothing", async () => {
    const stop = new AbortController();
    const waiting = pause(3_600_000, stop.signal);
    stop.abort("stopped");
    expect(await waiting).toBeUndefined();
    expect(await pause(3_600_000, stop.signal)).toBeUndefined();
  });
});

describe("reportRetry", () => {
  it("tells whom a call was for, what it met, and how long it waits", () => {
    const told: unknown[] = [];
    reportRetry((name, fields) => void told.push(name, fields), "hotels")(new AppError("upstream/unreachable", "down"), 12.6);
    expect(told).toEqual(["feed:retried", { agent: "hotels", code: "upstream/unreachable", message: "down", details: {}, delayMs: 13 }]);
  });
});
