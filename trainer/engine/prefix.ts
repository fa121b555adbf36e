/** What precedes an answer, with its keys and values: how it is stored, shortened, and laid out for graphs that go on from there. */
import { at, invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";

/** What is known of how something begins: as many tokens as are shared with another. */
export type Beginning = { readonly head: Prefix | undefined; readonly shared: number };
/**
 * Tokens whose keys and values are known. The first `shared` of them are where `head` has them; `keys` and `values` hold what
 * follows: per layer [J, n, K], of which as many rows of each head count as there are tokens beyond those.
 */
export type Prefix = Beginning & {
  readonly tokens: Int32Array;
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
};

/** The first n rows that one row's tokens take in [S·B, J·K] → [J, n, K]. */
export function gatherRow(
  all: Float32Array | undefined,
  { row, rows, length, kvHeadCount, headDim }: { row: number; rows: number; length: number } & HeadSizes,
): Float32Array {
  invariant(all !== undefined, "keys and values expected");
  const own = new Float32Array(kvHeadCount * length * headDim);
  for (let head = 0; head < kvHeadCount; head += 1)
    for (let time = 0; time < length; time += 1) {
      const from = ((time * rows + row) * kvHeadCount + head) * headDim;
      own.set(all.subarray(from, from + headDim), (head * length + time) * headDim);
    }
  return own;
}

type HeadSizes = Pick<ModelConfig, "kvHeadCount" | "headDim">;

/** A layer's keys or values of a prefix, head first → the slots before `end` of row b of `all` [B·J, P, K]. */
export function placePrefix(
  all: Float32Array,
  prefix: Prefix,
  {
    part,
    layer,
    row,
    slots,
    end: last,
    kvHeadCount,
    headDim,
  }: { part: "keys" | "values"; layer: number; row: number; slots: number; end: number } & HeadSizes,
): void {
  let end = last;
  for (let each: Prefix | undefined = prefix, length = prefix.tokens.length; each !== undefined; each = each.head) {
    const before = Math.min(length, each.shared);
    const own = at(each[part], layer);
    const stored = own.length / (kvHeadCount * headDim);
    const count = length - before;
    for (let head = 0; head < kvHeadCount; head += 1)
      all.set(
        own.subarray(head * stored * headDim, (head * stored + count) * headDim),
        ((row * kvHeadCount + head) * slots + end - count) * headDim,
      );
    end -= count;
    length = before;
  }
}

/** What is known of `tokens` where they begin those of `prefix`. */
export function shorten(prefix: Prefix, tokens: Int32Array): Prefix | undefined {
  if (!begins(tokens, prefix.tokens)) return undefined;
  return tokens.length === prefix.tokens.length ? prefix : { ...prefix, tokens };
}

export function begins(tokens: Int32Array, longer: Int32Array): boolean {
  if (tokens.length > longer.length) return false;
  // From the end: conversations under the same instructions and tools part late.
  for (let index = tokens.length - 1; index >= 0; index -= 1) if (tokens[index] !== longer[index]) return false;
  return true;
}

export function bytesOf({ keys, values }: Prefix): number {
  return [...keys, ...values].reduce((sum, each) => sum + each.byteLength, 0);
}

/** Where two lists of tokens part. */
export function partAt(tokens: Int32Array, other: Int32Array): number {
  const length = Math.min(tokens.length, other.length);
  for (let index = 0; index < length; index += 1) if (tokens[index] !== other[index]) return index;
  return length;
}
