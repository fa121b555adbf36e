/** Entries by a key, in the order in which they come. */
export function groupBy<T>(entries: readonly T[], keyOfEntry: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const group = groups.get(keyOfEntry(entry));
    if (group === undefined) groups.set(keyOfEntry(entry), [entry]);
    else group.push(entry);
  }
  return groups;
}
