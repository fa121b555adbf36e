/** Texts of some length that an automaton lets through: what may follow at each place of one, so that none leads nowhere. */
import { refused } from "./pattern.ts";
import type { TextAutomaton } from "./text-automaton.ts";

const MOST_CELLS = 1_000_000; // of a byte each, for lengths that are not long enough yet
const CELLS_PER_STEP = 128;

export class HeldText {
  readonly minLength: number;
  readonly maxLength: number;
  readonly #automaton: TextAutomaton;
  /** By how much a text is too short yet, from 1: 1 for each state from which one of a right length can follow. Behind its last row all are as that. */
  readonly #short: readonly Uint8Array[];
  readonly #farthest: number;
  #unbounded: HeldText | undefined;

  /** `spend` is told of steps. @throws {input/unsupported} where lengths and states are too many beside each other */
  constructor(automaton: TextAutomaton, { least, most }: { least: number; most: number }, spend: (steps: number) => void) {
    this.#automaton = automaton;
    this.minLength = least;
    this.maxLength = most;
    this.#farthest = automaton.distances.reduce((farthest, distance) => Math.max(farthest, distance), 0);
    this.#short = least > 0 && least <= most ? this.#rowsOfShort(spend) : [];
  }

  /** Whether any text is let through. */
  get isPossible(): boolean {
    return this.#automaton.states > 0 && this.minLength <= this.maxLength && this.lives(0, 0);
  }

  /** The state after a character; undefined where no text of a right length follows. `length`: of the text with it. */
  after(state: number, point: number, length: number): number | undefined {
    const { alphabet, next } = this.#automaton;
    const to = next[state * alphabet.size + alphabet.letterOf(point)] ?? -1;
    return to >= 0 && this.lives(to, length) ? to : undefined;
  }

  /** The states after any character of a range of code points; undefined stands for none. */
  afterAny(state: number, [from, to]: readonly [number, number], length: number): ReadonlySet<number | undefined> {
    const { alphabet, next } = this.#automaton;
    const found = new Set<number | undefined>();
    for (const letter of alphabet.lettersWithin(from, to)) {
      const after = next[state * alphabet.size + letter] ?? -1;
      found.add(after >= 0 && this.lives(after, length) ? after : undefined);
    }
    return found;
  }

  mayEnd(state: number, length: number): boolean {
    return this.#automaton.ends[state] === 1 && length >= this.minLength && length <= this.maxLength;
  }

  /** Whether an end can follow a text of that length. */
  lives(state: number, length: number): boolean {
    const short = this.minLength - length;
    if (short <= 0) return (this.#automaton.distances[state] ?? Infinity) <= this.maxLength - length;
    return this.#short[Math.min(short, this.#short.length) - 1]?.[state] === 1;
  }

  /** A length as far as it decides anything. */
  counted(length: number): number {
    return Math.min(length, this.maxLength === Infinity ? this.minLength : this.maxLength);
  }

  /** Whether no limit decides anything for so many characters more. */
  isFree(length: number, characters: number): boolean {
    return length >= this.minLength && length + characters + this.#farthest <= this.maxLength;
  }

  /** The same without limits. */
  get unbounded(): HeldText {
    this.#unbounded ??=
      this.minLength === 0 && this.maxLength === Infinity ? this : new HeldText(this.#automaton, { least: 0, most: Infinity }, () => {});
    return this.#unbounded;
  }

  #rowsOfShort(spend: (steps: number) => void): readonly Uint8Array[] {
    const { states, next } = this.#automaton;
    const size = states === 0 ? 0 : next.length / states;
    const rows: Uint8Array[] = [];
    let row = Uint8Array.from(this.#automaton.distances, (distance) => (distance <= this.maxLength - this.minLength ? 1 : 0));
    for (let short = 1; short <= this.minLength; short += 1) {
      spend(next.length / CELLS_PER_STEP);
      const last = row;
      row = last.map((_, state) => (next.subarray(state * size, (state + 1) * size).some((to) => to >= 0 && last[to] === 1) ? 1 : 0));
      if (short > 1 && row.every((lives, state) => lives === last[state])) break; // and so is every row behind it
      rows.push(row);
      if (rows.length * states > MOST_CELLS)
        throw refused(
          `a pattern and a least length expected whose states by lengths are ${MOST_CELLS} at most, got ${states} by ${this.minLength}`,
        );
    }
    return rows;
  }
}
