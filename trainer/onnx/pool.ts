/** Shared memory that is used again: V8 does not count it, and so is slow to collect it. */
import { sharedFloats } from "./memory.ts";

export class SharedPool {
  /** The smallest first. */
  readonly #free: Float32Array[] = [];

  /** At least `length` floats that nobody else has, with whatever is left in them. */
  take(length: number): Float32Array {
    const place = this.#free.findIndex((each) => each.length >= length);
    const [found] = place < 0 ? [] : this.#free.splice(place, 1);
    if (found !== undefined) return found;
    // What is too small now is too small again: there are never more than were taken at once.
    this.#free.pop();
    return sharedFloats(length);
  }

  /** Runs `use`, and takes back what that has taken. */
  async lend<Result>(use: (take: (length: number) => Float32Array) => Promise<Result>): Promise<Result> {
    const taken: Float32Array[] = [];
    try {
      return await use((length) => {
        const values = this.take(length);
        taken.push(values);
        return values;
      });
    } finally {
      this.give(taken);
    }
  }

  give(values: readonly Float32Array[]): void {
    this.#free.push(...values);
    this.#free.sort((a, b) => a.length - b.length);
  }
}
