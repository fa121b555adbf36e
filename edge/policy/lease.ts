/**
 * The use of something cached. A request that dies with its Durable Object never releases what it held, so a lease
 * that was not touched for a while counts no longer, and its holder finds out if it comes back after all.
 */
import { AppError } from "../../shared/errors.ts";

export type Clock = () => number;

/** A live generation touches its leases every few milliseconds, unless its reader makes it wait. */
export const LEASE_IDLE_MS = 60_000;

export class Lease {
  readonly #now: Clock;
  #touchedAt: number;
  #state: "open" | "closed" | "revoked" = "open";

  constructor(now: Clock) {
    this.#now = now;
    this.#touchedAt = now();
  }

  /** What it leases must be kept. */
  get live(): boolean {
    return this.#state === "open" && this.#now() - this.#touchedAt < LEASE_IDLE_MS;
  }

  get revoked(): boolean {
    return this.#state === "revoked";
  }

  /** @throws {session/aborted} where what it leased is gone */
  touch(): void {
    if (this.#state === "revoked")
      throw new AppError("session/aborted", `answer read within ${LEASE_IDLE_MS} ms expected, got none and its memory was needed`);
    this.#touchedAt = this.#now();
  }

  close(): void {
    if (this.#state === "open") this.#state = "closed";
  }

  revoke(): void {
    if (this.#state === "open") this.#state = "revoked";
  }
}
