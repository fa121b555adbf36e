/**
 * How often one API key may ask: the generic cell rate algorithm (ITU-T I.371), whose whole state is one time. It is stored,
 * since an object that is idle for seconds may be put away long before its minute is over.
 */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

const MINUTE_MS = 60_000;
const EMPTY_AT = "emptyAt";

export type Taken = { readonly status: "allowed" } | { readonly status: "limited"; readonly retryAfterMs: number };

export class LimiterObject extends DurableObject<Env> {
  /** When the bucket is empty again. */
  #emptyAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => void (this.#emptyAt = (await ctx.storage.get<number>(EMPTY_AT)) ?? 0));
  }

  /** Takes one request of `perMinute`: as many at once, then one after the other as they come back. */
  async take(perMinute: number): Promise<Taken> {
    const taken = takeOne({ emptyAt: this.#emptyAt, now: Date.now(), perMinute });
    this.#emptyAt = taken.emptyAt;
    // Not awaited: the answer does not depend on it, and a count that is lost with its machine costs one request.
    if (taken.retryAfterMs === 0) void this.ctx.storage.put(EMPTY_AT, taken.emptyAt, { allowUnconfirmed: true });
    return taken.retryAfterMs === 0 ? { status: "allowed" } : { status: "limited", retryAfterMs: taken.retryAfterMs };
  }
}

/** One step of the algorithm. */
export function takeOne({ emptyAt, now, perMinute }: { emptyAt: number; now: number; perMinute: number }): {
  emptyAt: number;
  /** 0 where the request may pass. */
  retryAfterMs: number;
} {
  const next = Math.max(emptyAt, now) + MINUTE_MS / perMinute;
  const retryAfterMs = Math.ceil(next - now - MINUTE_MS);
  return retryAfterMs <= 0 ? { emptyAt: next, retryAfterMs: 0 } : { emptyAt, retryAfterMs };
}

export function limiterOf(env: Pick<Env, "LIMITERS">, keyId: string): { take(perMinute: number): Promise<Taken> } {
  return env.LIMITERS.getByName(keyId);
}
