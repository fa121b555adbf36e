/** How long a call may be silent, and who has given it up: one signal for both, that begins anew whenever something comes. */

export class Patience {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #reader: AbortSignal | undefined;
  readonly #give = (): void => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timedOut = false;

  /** @param reader whoever waits for the answer; once it fires the call ends */
  constructor(timeoutMs: number, reader?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#reader = reader;
    if (reader?.aborted === true) this.#controller.abort();
    reader?.addEventListener("abort", this.#give);
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** The reader has gone. */
  get given(): boolean {
    return this.#reader?.aborted === true;
  }

  get over(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Something came: the silence begins anew. */
  touch(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#controller.abort();
    }, this.#timeoutMs);
  }

  /** Ends the call, whatever of it is still under way. */
  end(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#reader?.removeEventListener("abort", this.#give);
    this.#controller.abort();
  }
}
