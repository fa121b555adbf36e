/** A rule as a deterministic automaton over bytes, made state by state as it is walked (the subset construction). */
import { mayEnd, relaxed, type Stack, stackOf, step, textsTried } from "./frames.ts";
import type { Rule } from "./rule.ts";

export type State = {
  readonly stacks: readonly (Stack | undefined)[];
  /** Nothing need follow. */
  readonly mayEnd: boolean;
  /** Nothing can follow. */
  readonly mustEnd: boolean;
  /** Whether the last byte was a quotation mark. */
  readonly quoted: boolean;
  /** Bytes written of the mark that the tokenizer puts behind some quotation marks. */
  readonly marked: number;
  /** By byte, as far as it is known; null where the byte does not fit. */
  readonly next: (State | null | undefined)[];
};

const QUOTE = 0x22;
// A state takes a few kilobytes, and of strings and numbers with limits there are many; beyond this the automaton forgets and begins anew.
const MAX_STATES = 2_000;
const MAX_KEY_CHARACTERS = 4_000_000; // of those states together
/**
 * Alternatives that are still open at one place. Of more the first are followed: whatever they let through fits, and none leads nowhere.
 */
export const MAX_STACKS = 300;

const TEXTS_PER_STEP = 64; // of a list that are looked at in the time of one step

type Stacks = ReadonlyMap<string, Stack | undefined>;

export class Automaton {
  readonly start: State;
  readonly #mark: Uint8Array;
  #states = new Map<string, State>();
  #keyCharacters = 0;
  #work = 0;

  /**
   * `mark`: bytes that stand for nothing and that the tokenizer writes between a quotation mark and a letter; empty where it has
   * none. They may stand behind a quotation mark, once.
   */
  constructor(rule: Rule, mark: Uint8Array) {
    this.#mark = mark;
    this.start = this.#state(byKey([stackOf({ kind: "rule", rule }, undefined)]), false, 0);
  }

  /** The state after a byte, undefined where it does not fit. */
  step(state: State, byte: number): State | undefined {
    const known = state.next[byte];
    if (known !== undefined) return known ?? undefined;
    const next = this.#step(state, byte);
    state.next[byte] = next ?? null;
    return next;
  }

  #step({ stacks, quoted, marked }: State, byte: number): State | undefined {
    if (marked > 0 || (quoted && byte === this.#mark[0]))
      return this.#mark[marked] === byte ? this.#state(byKey(stacks), false, (marked + 1) % this.#mark.length) : undefined;
    const next = byKey(this.#after(stacks, byte));
    return next.size === 0 ? undefined : this.#state(next, byte === QUOTE, 0);
  }

  *#after(stacks: readonly (Stack | undefined)[], byte: number): Generator<Stack | undefined> {
    for (const stack of stacks) {
      if (stack === undefined) continue;
      this.#work += 1 + textsTried(stack) / TEXTS_PER_STEP;
      const next = step(stack, byte);
      this.#work += Math.max(0, next.length - 1);
      yield* next;
    }
  }

  /** The order of stacks is part of a state: it is the same wherever a text is read, and with it which stacks are the first. */
  #state(stacks: Stacks, quoted: boolean, marked: number): State {
    const key = `${quoted}${marked}\n${[...stacks.keys()].join("\n")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const own = [...stacks.values()];
    const state: State = {
      stacks: own,
      mayEnd: marked === 0 && own.some(mayEnd),
      mustEnd: own.every((stack) => stack === undefined),
      quoted,
      marked,
      next: new Array<undefined>(256),
    };
    this.#keyCharacters += key.length;
    if (this.#states.size >= MAX_STATES || this.#keyCharacters > MAX_KEY_CHARACTERS) this.#forget();
    this.#states.set(key, state);
    return state;
  }

  /** A state from which the same texts of up to `bytes` bytes can follow; often one for many. */
  relaxed(state: State, bytes: number): State {
    const stacks = state.stacks.map((stack) => relaxed(stack, bytes));
    return stacks.every((stack, index) => stack === state.stacks[index]) ? state : this.#state(byKey(stacks), state.quoted, state.marked);
  }

  /** Steps of single alternatives that were worked out so far, each with whatever else it led to; long lists of texts counted for more. */
  get work(): number {
    return this.#work;
  }

  #forget(): void {
    // States hold each other, and the first one, from which every walk sets out, would keep them all.
    for (const { next } of this.#states.values()) next.fill(undefined);
    const [first] = this.#states;
    this.#states = new Map(first === undefined ? [] : [first]);
    this.#keyCharacters = 0;
  }
}

/** The first stacks, each once. */
function byKey(found: Iterable<Stack | undefined>): Stacks {
  const stacks = new Map<string, Stack | undefined>();
  for (const stack of found) {
    const key = stack?.key ?? "";
    if (!stacks.has(key)) stacks.set(key, stack);
    if (stacks.size === MAX_STACKS) break;
  }
  return stacks;
}
