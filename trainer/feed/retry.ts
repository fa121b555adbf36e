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

/** Waits so long, or until the signal is told to stop. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Repeats a call until it succeeds. @throws what another attempt cannot cure */
export async function retryForever<T>(call: () => Promise<T>, { random, signal, onRetry }: RetryOptions): Promise<T | undefined> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof AppError) || !error.retryable) throw error;
      const delayMs = backoffMs(attempt, random.next());
      onRetry(error, delayMs);
      await pause(delayMs, signal);
    }
  }
  return undefined;
}
