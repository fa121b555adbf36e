/** Those who wait for the event log to grow. Held in memory: a lost notice costs its waiter one wait. */
export class Waiters {
  #highest = 0;
  /** What wakes each of them, and what its reader has. */
  readonly #waiting = new Map<() => void, number>();

  /** The log holds events up to `seq`. */
  notify(seq: number): void {
    this.#highest = Math.max(this.#highest, seq);
    for (const [wake, after] of this.#waiting) if (seq > after) wake();
  }

  /** Resolves with the highest `seq` told of, once it is above `after` or `waitMs` have passed. */
  async wait(after: number, waitMs: number): Promise<number> {
    if (this.#highest <= after) await this.#noticeAbove(after, waitMs);
    return this.#highest;
  }

  #noticeAbove(after: number, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#waiting.set(wake, after);
    });
  }
}
