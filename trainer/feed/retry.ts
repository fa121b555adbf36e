/**
 * Retries with full jitter. The edge restarts, networks drop: what another attempt may cure is tried again with growing
 * waits; what it cannot (a refused key, an invalid body) is thrown at once.
 */
import { AppError } from "../../shared/errors.ts";

export type RetryOptions = {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Attempts in all; Infinity for a loop that lives as long as its process. */
  readonly attempts: number;
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly onRetry?: (error: unknown, delayMs: number) => void;
};

/** Full jitter: uniform in [0, min(max, base · 2^attempt)], so that many trainers do not come back together. */
export function backoffMs(attempt: number, { baseDelayMs, maxDelayMs, random }: Pick<RetryOptions, "baseDelayMs" | "maxDelayMs" | "random">): number {
  return random() * Math.min(maxDelayMs, baseDelayMs * 2 ** attempt);
}

export async function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const last = attempt + 1 >= options.attempts;
      if (last || !(error instanceof AppError) || !error.retryable) throw error;
      const delayMs = backoffMs(attempt, options);
      options.onRetry?.(error, delayMs);
      await options.wait(delayMs);
    }
  }
}
