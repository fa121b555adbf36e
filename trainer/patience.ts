/** How long a line's oldest signal still waits for others, whatever the clocks of edge and trainer say. */
import type { LoggedEvent } from "../shared/events.ts";

export class Patience {
  /** Since when the oldest is known here, by `performance.now()`. */
  #known: { readonly eventId: string; readonly sinceMs: number } | undefined;

  /** By the edge's clock, and where that is ahead of ours (`now`) since the event is known here. */
  leftMs({ eventId, createdAt }: Pick<LoggedEvent, "eventId" | "createdAt">, { maxWaitMs, now }: { maxWaitMs: number; now: Date }): number {
    if (this.#known?.eventId !== eventId) this.#known = { eventId, sinceMs: performance.now() };
    const waitedMs = Math.max(now.getTime() - Date.parse(createdAt), performance.now() - this.#known.sinceMs);
    return Math.max(0, maxWaitMs - waitedMs);
  }
}
