/** A rule over tokens: which of a vocabulary's tokens may come next (arXiv:2307.09702, by walking the vocabulary's trie). */
import { invariant } from "../assert.ts";
import { AppError } from "../errors.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { Automaton, type State } from "./automaton.ts";
import type { Rule } from "./rule.ts";
import { buildTrie, type TrieNode } from "./token-trie.ts";

export type TokenMask = { readonly kind: "allow" | "ban"; readonly ids: readonly number[] };

const MOST_WORK = 400_000; // steps for one mask: a second at most; a schema that people write takes hundreds

const tries = new WeakMap<Vocabulary, TrieNode>();
const NO_MARK = new Uint8Array(0);

export class TokenGrammar {
  readonly start: State;
  readonly #vocabulary: Vocabulary;
  readonly #automaton: Automaton;
  readonly #trie: TrieNode;
  readonly #endId: number;
  readonly #masks = new WeakMap<State, TokenMask>();

  /** `endId`: the special token that stands where the text may end. */
  constructor(rule: Rule, { vocabulary, endId }: { vocabulary: Vocabulary; endId: number }) {
    this.#vocabulary = vocabulary;
    this.#endId = endId;
    this.#automaton = new Automaton(rule, markOf(vocabulary));
    this.start = this.#automaton.start;
    const trie = tries.get(vocabulary) ?? buildTrie(vocabulary);
    tries.set(vocabulary, trie);
    this.#trie = trie;
  }

  /** Steps that its masks have taken so far, for whichever answer. */
  get work(): number {
    return this.#automaton.work;
  }

  /** What can come next: plain tokens that fit, and the end where the text may end. The shorter of two lists, ascending. */
  mask(state: State): TokenMask {
    const known = this.#masks.get(state);
    if (known !== undefined) return known;
    const alike = this.#automaton.relaxed(state, this.#vocabulary.longestBytes);
    const mask = alike === state ? this.#makeMask(state) : this.mask(alike);
    this.#masks.set(state, mask);
    return mask;
  }

  #makeMask(state: State): TokenMask {
    const allowed = state.mayEnd ? [this.#endId] : [];
    this.#collect(this.#trie, state, { ids: allowed, until: this.#automaton.work + MOST_WORK });
    if (allowed.length === 0)
      throw new AppError("input/invalid", "tools, response_format: schemas that some text fits expected, got one that none does");
    return shortest(allowed, this.#vocabulary.size);
  }

  /** The state after a token that was allowed. */
  accept(state: State, id: number): State {
    let next: State | undefined = state;
    for (const byte of this.#vocabulary.bytesOf(id)) next = next && this.#automaton.step(next, byte);
    invariant(next !== undefined, `a token that the grammar allows expected, got ${id}`);
    return next;
  }

  #collect(node: TrieNode, state: State, found: { readonly ids: number[]; readonly until: number }): void {
    for (const id of node.ids) found.ids.push(id);
    if (this.#automaton.work > found.until)
      throw new AppError("input/invalid", "tools, response_format: schemas with fewer alternatives that begin alike expected");
    for (const [byte, child] of node.children) {
      const next = this.#automaton.step(state, byte);
      if (next !== undefined) this.#collect(child, next, found);
    }
  }
}

function shortest(allowed: readonly number[], size: number): TokenMask {
  if (allowed.length <= size / 2) return { kind: "allow", ids: allowed.toSorted((a, b) => a - b) };
  const kept = new Set(allowed);
  return { kind: "ban", ids: Array.from({ length: size }, (_, id) => id).filter((id) => !kept.has(id)) };
}

/** Takes away, in place, every logit that the mask does not let through. */
export function applyMask(logits: Float32Array, { kind, ids }: TokenMask): void {
  if (kind === "ban") {
    for (const id of ids) logits[id] = -Infinity;
    return;
  }
  const kept = ids.map((id) => logits[id] ?? -Infinity);
  logits.fill(-Infinity);
  ids.forEach((id, index) => (logits[id] = kept[index] ?? -Infinity));
}

/** The mask with one token more. */
export function alsoAllowing({ kind, ids }: TokenMask, id: number): TokenMask {
  return kind === "allow" ? { kind, ids: [...ids, id] } : { kind, ids: ids.filter((each) => each !== id) };
}

/** The literal that the tokenizer puts in and takes out again. One that JSON may hold itself cannot be told from text, so it is not written. */
function markOf({ erased }: Vocabulary): Uint8Array {
  const marks = erased.map((literal) => new TextEncoder().encode(literal));
  return marks.find(([first]) => first !== undefined && first < 0x20) ?? NO_MARK;
}
