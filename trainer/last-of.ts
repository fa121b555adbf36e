/** The last `count` entries of a list, in its order; none where that is 0, of which `slice(-0)` makes all. */
export function lastOf<T>(list: readonly T[], count: number): T[] {
  return list.slice(Math.max(0, list.length - count));
}
