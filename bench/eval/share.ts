/** Shares of cases with their intervals. */
import { wilson } from "../bench.ts";

/** `interval`: Wilson's, of 95 %. */
export type Share = { share: number; count: number; interval: [number, number] };

export function share(hits: readonly boolean[]): Share {
  return shareOf(hits.filter(Boolean).length, hits.length);
}

export function shareOf(hits: number, count: number): Share {
  return { share: count === 0 ? 0 : hits / count, count, interval: wilson(hits, count) };
}
