/** Those who wait for the event log to grow. Held in memory: a lost notice costs its waiter one wait. */
export class Waiters {
  #highest = 0;
  readonly #waiting = new Set<() => void>();

  /** The log holds events up to `seq`. */
  notify(seq: number): void {
    this.#highest = Math.max(this.#highest, seq);
    for (const wake of this.#waiting) wake();
  }

  /** Resolves with the highest `seq` told of, once it is above `after` or `waitMs` have passed. */
  async wait(after: number, waitMs: number): Promise<number> {
    if (this.#highest <= after) await this.#nextNotice(waitMs);
    return this.#highest;
  }

  #nextNotice(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#waiting.add(wake);
    });
  }
}
