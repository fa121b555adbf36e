/** Cuts text at the first stop string. Text that could still become one is held back until it cannot. */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";
  #stopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** A stop string has been seen; nothing more is released. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Text that may be shown now. */
  push(text: string): string {
    if (this.#stopped) return "";
    const pending = this.#held + text;
    const ends = this.#stops.map((stop) => pending.indexOf(stop)).filter((at) => at >= 0);
    if (ends.length > 0) {
      this.#stopped = true;
      this.#held = "";
      return pending.slice(0, Math.min(...ends));
    }
    const safe = pending.length - this.#heldLength(pending);
    this.#held = pending.slice(safe);
    return pending.slice(0, safe);
  }

  /** What was held back, when no more text comes. */
  flush(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }

  #heldLength(text: string): number {
    return Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
  }
}

/** Length of the longest end of `text` that is a beginning of `stop`, but not all of it. */
export function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
