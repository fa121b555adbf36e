/** Where each version stands in the graph of its line. Pure. */
import type { ListedVersion } from "../shared/api.ts";

export type Node = Pick<ListedVersion, "version" | "parent" | "status">;

/** Children go on in their parent's row; every further child begins a row of its own. */
export function rowsOf(versions: readonly Node[]): Map<number, number> {
  const rows = new Map<number, number>();
  const continued = new Set<number>();
  let last = 0;
  for (const { version, parent } of versions.toSorted((a, b) => a.version - b.version)) {
    const above = rows.get(parent);
    const follows = version > 0 && above !== undefined && !continued.has(parent);
    if (follows) continued.add(parent);
    rows.set(version, follows ? above : rows.size === 0 ? 0 : (last += 1));
  }
  return rows;
}
