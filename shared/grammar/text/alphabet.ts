/** The characters that a pattern does not tell apart, as one letter each: what its automaton reads. */
import { type CodePoints, LAST_POINT } from "./code-points.ts";

export class Alphabet {
  /** How many letters there are. */
  readonly size: number;
  /** Where each interval of code points begins, ascending from 0, up to the next one. */
  readonly #starts: Uint32Array;
  readonly #letters: Uint16Array;
  readonly #members: ReadonlyMap<CodePoints, Uint8Array>;

  /** Of every set that is asked for later on. */
  constructor(sets: readonly CodePoints[]) {
    const bounds = new Set([0, ...sets.flatMap((points) => points.flatMap(([from, to]) => [from, to + 1]))]);
    bounds.delete(LAST_POINT + 1);
    this.#starts = Uint32Array.from(bounds).sort();
    this.#letters = new Uint16Array(this.#starts.length);
    // One set after the other tells some of the letters apart that there are.
    let size = 1;
    for (const points of sets) size = this.#tellApart(points, size);
    this.size = size;
    this.#members = new Map(sets.map((points) => [points, this.#lettersOf(points)]));
  }

  letterOf(point: number): number {
    return this.#letters[this.#intervalOf(point)] ?? 0;
  }

  /** The letters of a range of code points, each once for every interval. */
  *lettersWithin(from: number, to: number): Generator<number> {
    for (let index = this.#intervalOf(from); index < this.#starts.length && (this.#starts[index] ?? 0) <= to; index += 1)
      yield this.#letters[index] ?? 0;
  }

  /** By letter, 1 where it is in the set. */
  membersOf(points: CodePoints): Uint8Array {
    return this.#members.get(points) ?? this.#lettersOf(points);
  }

  /** The last interval that begins no later. */
  #intervalOf(point: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= point) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #isIn(points: CodePoints): Uint8Array {
    const isIn = new Uint8Array(this.#starts.length);
    let range = 0;
    for (const [index, start] of this.#starts.entries()) {
      while ((points[range]?.[1] ?? Infinity) < start) range += 1;
      isIn[index] = (points[range]?.[0] ?? Infinity) <= start ? 1 : 0;
    }
    return isIn;
  }

  #tellApart(points: CodePoints, size: number): number {
    const isIn = this.#isIn(points);
    const split = new Map<number, number>();
    for (const [index, inside] of isIn.entries()) {
      const key = 2 * (this.#letters[index] ?? 0) + inside;
      if (!split.has(key)) split.set(key, split.size);
      this.#letters[index] = split.get(key) ?? 0;
    }
    return Math.max(size, split.size);
  }

  #lettersOf(points: CodePoints): Uint8Array {
    const members = new Uint8Array(this.size);
    for (const [index, inside] of this.#isIn(points).entries()) if (inside === 1) members[this.#letters[index] ?? 0] = 1;
    return members;
  }
}
