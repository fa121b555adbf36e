/**
 * Retries with full jitter. The edge restarts, networks drop: what another attempt may cure is tried again with growing
 * waits; what it cannot (a refused key, an invalid body) is thrown at once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import type { Metrics } from "../metrics.ts";
import type { Random } from "../random.ts";

const BASE_DELAY_MS = 200;
const MAX_DELAY_MS = 5_000; // a restarted edge is found again within seconds
const LONGEST_TOLD_MS = 600_000; // that a Retry-After may ask for

/** Full jitter: uniform in [0, min(max, base · 2^attempt)), so that many trainers do not come back together. `uniform` is in [0, 1). */
export function backoffMs(attempt: number, uniform: number): number {
  return uniform * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** attempt);
}

export type RetryOptions = {
  readonly random: Pick<Random, "next">;
  /** Ends the waiting; the result is then undefined. */
  readonly signal: AbortSignal;
  readonly onRetry: (error: unknown, delayMs: number) => void;
};

/** Tells of every retry. @param agent whom the call is for */
export function reportRetry(metrics: Metrics, agent: string): RetryOptions["onRetry"] {
  return (error, delayMs) => metrics("feed:retried", { agent, ...toErrorRecord(error), delayMs: Math.round(delayMs) });
}

/** Tells of what failed and is tried again by the next step. @param agent whom it was for */
export function reportFailure(metrics: Metrics, agent: string, error: unknown): void {
  metrics("feed:retried", { agent, ...toErrorRecord(error), delayMs: 0 });
}

/** Waits so long, or until the signal is told to stop. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** How long a Retry-After asks to wait, seconds or a date (RFC 9110), ms from `now`. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Repeats a call until it succeeds. @throws what another attempt cannot cure */
export async function retryForever<T>(call: () => Promise<T>, options: RetryOptions): Promise<T | undefined> {
  const { signal } = options;
  if (signal.aborted) return undefined;
  try {
    return await retryFor(Number.POSITIVE_INFINITY, call, options);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/**
 * Repeats a call until it succeeds, for so long after its first failure.
 * @throws what another attempt cannot cure, and what the last one met where the time is up or the signal ends the waiting
 */
export async function retryFor<T>(patienceMs: number, call: () => Promise<T>, { random, signal, onRetry }: RetryOptions): Promise<T> {
  let until: number | undefined;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      until ??= performance.now() + patienceMs;
      if (signal.aborted || !(error instanceof AppError) || !error.retryable || performance.now() >= until) throw error;
      const delayMs = delayOf(error, backoffMs(attempt, random.next()));
      onRetry(error, delayMs);
      await pause(delayMs, signal);
      if (signal.aborted) throw error;
    }
  }
}

/** Whoever says when to come back is not asked before. */
function delayOf({ details }: AppError, backoff: number): number {
  return Math.max(backoff, Math.min(LONGEST_TOLD_MS, Number(details["retryAfterMs"] ?? 0)));
}
