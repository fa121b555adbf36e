/** Caps each user's share of a batch, so that no user moves the policy of many alone. */

export type Share<T> = { readonly kept: T[]; readonly dropped: T[] };

/**
 * Keeps the latest entries of each user up to `floor(cap · n)` and at least one, `cap` in (0, 1], where more than
 * one user is present: who corrects a correction means the second. One user alone keeps everything: there is nobody to
 * be crowded out. Order stays as it is.
 */
export function capShares<T>(entries: readonly T[], userOf: (entry: T) => string, cap: number): Share<T> {
  const users = new Set(entries.map(userOf));
  if (users.size <= 1) return { kept: [...entries], dropped: [] };
  const limit = Math.max(1, Math.floor(cap * entries.length));
  const taken = new Map<string, number>();
  const share: Share<T> = { kept: [], dropped: [] };
  for (const entry of entries.toReversed()) {
    const count = taken.get(userOf(entry)) ?? 0;
    (count < limit ? share.kept : share.dropped).unshift(entry);
    taken.set(userOf(entry), count + 1);
  }
  return share;
}
