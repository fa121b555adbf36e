/**
 * When a server is left alone, and when a signal is that it fails on while it answers others: such a signal would hold up all behind it for
 * good, so after some failures it is given up.
 */

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_TOLD_PAUSE_MS = 600_000; // that a Retry-After may ask for

/** A pause in which nobody asks, twice as long with each failure after it. */
export class Outage {
  #since = Number.NEGATIVE_INFINITY;
  #until = Number.NEGATIVE_INFINITY;
  #pauses = 0;

  /** When the server may be asked again, ms. */
  get until(): number {
    return this.#until;
  }

  /** Votes go out side by side: one that was asked before the pause began tells of the same outage, and makes it longer only where the server asks for it. */
  extend({ askedAt, now, toldMs = 0 }: { askedAt: number; now: number; toldMs?: number | undefined }): void {
    const told = now + Math.min(toldMs, LONGEST_TOLD_PAUSE_MS);
    this.#until = Math.max(this.#until, told);
    if (askedAt <= this.#since) return;
    this.#until = Math.max(this.#until, now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#pauses));
    this.#since = now;
    this.#pauses += 1;
  }

  /** Something was answered. */
  end(): void {
    this.#since = Number.NEGATIVE_INFINITY;
    this.#pauses = 0;
  }
}

const MOST_FAILURES = 5;
const OTHERS_FIRST_MS = 4_000; // two steps of a loop that waits for its judge: others are asked in between

type Failing = {
  /** Asked in vain, each time after others were answered. */
  failures: number;
  /** How many had been answered by then. */
  answered: number;
  until: number;
};

/** Signals by event that one server fails on. A failure counts where the server has answered others since the one before: else it is away. */
export class FailingSignals {
  readonly #signals = new Map<string, Failing>();
  #answered = 0;

  /** When the signal may be asked about again, ms. */
  until(eventId: string): number {
    return this.#signals.get(eventId)?.until ?? Number.NEGATIVE_INFINITY;
  }

  answered(eventId: string): void {
    this.#answered += 1;
    this.#signals.delete(eventId);
  }

  /** Lets others go first once the server may be asked again, longer with each failure; true where the signal is to be given up. */
  failed(eventId: string, serverUntil: number): boolean {
    const { failures: before = 0, answered = -1 } = this.#signals.get(eventId) ?? {};
    const failures = this.#answered > answered ? before + 1 : before;
    if (failures >= MOST_FAILURES) return this.#signals.delete(eventId);
    this.#signals.set(eventId, { failures, answered: this.#answered, until: serverUntil + OTHERS_FIRST_MS * 2 ** (failures - 1) });
    return false;
  }
}
