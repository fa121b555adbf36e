/** Groups examples of like length into token batches, so that little of a row is padding. */
import type { TokenBatch } from "../engine/batch.ts";
import type { Example } from "./examples.ts";

/** Rows and length of each bucket; about 4,096 tokens each, so that one batch costs about the same as another. */
export const BUCKETS = [
  { length: 256, rows: 16 },
  { length: 384, rows: 10 },
  { length: 512, rows: 8 },
  { length: 640, rows: 6 },
  { length: 768, rows: 5 },
  { length: 896, rows: 4 },
  { length: 1024, rows: 4 },
] as const;
/** In tokens. */
export const LONGEST_EXAMPLE = Math.max(...BUCKETS.map(({ length }) => length));

// Calls and replies are less than a third of most rows. What does not fit is the least weighty.
const TARGET_SHARE = 0.35;

export class Batcher {
  readonly #targetShare: number;
  readonly #waiting = new Map<number, Example[]>(BUCKETS.map(({ length }) => [length, []]));

  /** @param targetShare of a batch's tokens that are learned, at most */
  constructor({ targetShare = TARGET_SHARE }: { targetShare?: number } = {}) {
    this.#targetShare = targetShare;
  }

  /** Adds an example; returns a batch when its bucket is full. @throws Error when the example is longer than any bucket. */
  add(example: Example): TokenBatch | undefined {
    const bucket = BUCKETS.find(({ length }) => example.tokens.length <= length);
    if (bucket === undefined) throw new Error(`example of ${example.tokens.length} tokens is longer than the longest bucket`);
    const waiting = this.#waiting.get(bucket.length) ?? [];
    waiting.push(example);
    if (waiting.length < bucket.rows) return undefined;
    this.#waiting.set(bucket.length, []);
    return toBatch(waiting, bucket, this.#targetShare);
  }
}

/** Right-padded rows and the weightiest targets, as many as the bucket has places. */
export function toBatch(
  examples: readonly Example[],
  { length, rows }: { length: number; rows: number },
  targetShare = TARGET_SHARE,
): TokenBatch {
  const tokens = new Int32Array(rows * length);
  const targets: { position: number; token: number; weight: number }[] = [];
  examples.forEach((example, row) => {
    tokens.set(example.tokens, row * length);
    example.weights.forEach((weight, index) => {
      // The hidden state one place earlier predicts the token.
      if (weight > 0 && index > 0) targets.push({ position: row * length + index - 1, token: example.tokens[index] ?? 0, weight });
    });
  });
  const places = Math.round(rows * length * targetShare);
  if (targets.length > places) targets.sort((a, b) => b.weight - a.weight || a.position - b.position);
  const kept = targets.slice(0, places);
  const column = (value: (target: (typeof targets)[number]) => number): number[] => [
    ...kept.map(value),
    ...new Array<number>(places - kept.length).fill(0),
  ];
  return {
    rows,
    length,
    tokens,
    positions: Int32Array.from(column(({ position }) => position)),
    targets: Int32Array.from(column(({ token }) => token)),
    weights: Float32Array.from(column(({ weight }) => weight)),
  };
}
