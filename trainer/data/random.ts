/** Seeded random numbers for contexts: mulberry32, the same stream on every machine. */
import { at } from "../../shared/assert.ts";

export type Random = {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, below). */
  integer(below: number): number;
  pick<T>(values: readonly T[]): T;
  /** A new array in random order. */
  shuffle<T>(values: readonly T[]): T[];
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  function integer(below: number): number {
    return Math.floor(next() * below);
  }
  return {
    next,
    integer,
    pick: (values) => at(values, integer(values.length)),
    shuffle: (values) => {
      const order = [...values];
      for (let last = order.length - 1; last > 0; last -= 1) {
        const other = integer(last + 1);
        const kept = at(order, last);
        order[last] = at(order, other);
        order[other] = kept;
      }
      return order;
    },
  };
}
