/** Patterns as one deterministic automaton over the characters of a text, made whole: every state of it leads to an end. */
import type { Alphabet } from "./alphabet.ts";
import { type Before, type Language, Languages } from "./language.ts";
import { refused } from "./pattern.ts";
import type { Node } from "./pattern-node.ts";
import { WORD } from "./code-points.ts";

export type TextAutomaton = {
  readonly alphabet: Alphabet;
  /** 0 is where texts begin; none where no text fits. */
  readonly states: number;
  /** [state, letter] → state, −1 where nothing can fit any more. */
  readonly next: Int16Array;
  /** By state, 1 where a text may end. */
  readonly ends: Uint8Array;
  /** By state, how many characters an end is away at least. */
  readonly distances: Uint16Array;
};

/** Of one schema's text: `.{1,4000}` by itself is counted by its length, in one. */
export const MOST_STATES = 4_000;
const MOST_CELLS = 400_000; // of two bytes each
const CELLS_PER_STEP = 128;

type Reached = { readonly language: Language; readonly before: Before };

/** Texts that fit all nodes. @throws {input/unsupported} where that takes more states than there may be, and what `spend` throws */
export function automatonOf(nodes: readonly Node[], spend: (steps: number) => void): TextAutomaton {
  const languages = new Languages(nodes, spend);
  const { alphabet } = languages;
  const word = alphabet.membersOf(WORD);
  const numbers = new Map<string, number>();
  const reached: Reached[] = [];
  const numberOf = (language: Language, before: Before): number => {
    const key = `${language.id} ${before}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (reached.length >= MOST_STATES)
      throw refused(`patterns that ${MOST_STATES} states can tell the texts of expected, got more: fewer or smaller counts need fewer`);
    if ((reached.length + 1) * alphabet.size > MOST_CELLS)
      throw refused(
        `patterns whose states by characters are ${MOST_CELLS} at most expected, got more: of ${alphabet.size} kinds of characters each`,
      );
    numbers.set(key, reached.length);
    reached.push({ language, before });
    return reached.length - 1;
  };
  const after = (letter: number): Before => {
    if (languages.seesWords) return word[letter] === 1 ? "word" : "other";
    return languages.seesStart ? "other" : "nothing";
  };
  numberOf(languages.start, "nothing");
  const next: number[] = [];
  for (const { language, before } of reached)
    for (let letter = 0; letter < alphabet.size; letter += 1) {
      const following = languages.after(language, letter, before);
      next.push(following.kind === "none" ? -1 : numberOf(following, after(letter)));
    }
  const ends = Uint8Array.from(reached, ({ language, before }) => (languages.mayEnd(language, before) ? 1 : 0));
  spend(next.length / CELLS_PER_STEP);
  return trimmed({ alphabet, states: reached.length, next: Int16Array.from(next), ends });
}

/** Without the states that no end can be reached from. */
function trimmed({ alphabet, states, next, ends }: Omit<TextAutomaton, "distances">): TextAutomaton {
  const distances = distancesOf(states, next, ends);
  const kept = Array.from(distances.keys()).filter((state) => distances[state] !== FAR);
  if (distances[0] === FAR) return { alphabet, states: 0, next: new Int16Array(0), ends: new Uint8Array(0), distances: new Uint16Array(0) };
  const numbers = new Map(kept.map((state, index) => [state, index]));
  const { size } = alphabet;
  const rows = kept.flatMap((state) => Array.from(next.subarray(state * size, (state + 1) * size), (to) => numbers.get(to) ?? -1));
  return {
    alphabet,
    states: kept.length,
    next: Int16Array.from(rows),
    ends: Uint8Array.from(kept, (state) => ends[state] ?? 0),
    distances: Uint16Array.from(kept, (state) => distances[state] ?? 0),
  };
}

const FAR = 0xffff;

/** Breadth first, from the ends. */
function distancesOf(states: number, next: Int16Array, ends: Uint8Array): Uint16Array {
  const from: number[][] = Array.from({ length: states }, () => []);
  const size = next.length / states;
  next.forEach((to, cell) => {
    const state = Math.floor(cell / size);
    if (to >= 0 && from[to]?.at(-1) !== state) from[to]?.push(state);
  });
  const distances = new Uint16Array(states).fill(FAR);
  let edge = Array.from(ends.keys()).filter((state) => ends[state] === 1);
  for (let distance = 0; edge.length > 0; distance += 1) {
    for (const state of edge) distances[state] = distance;
    edge = [...new Set(edge.flatMap((state) => from[state] ?? []))].filter((state) => distances[state] === FAR);
  }
  return distances;
}
