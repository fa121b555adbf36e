/** What a rollback would leave, worked out before it is asked for. Pure. */
import type { ListedVersion } from "./api.ts";

export type Lineal = Pick<ListedVersion, "version" | "parent" | "status" | "events" | "hints">;

/** What a rollback leaves: versions that answer or are in flight and are not among `to` and its ancestors, and what they alone had learned from. */
export function whatIsLeft(versions: readonly Lineal[], to: number): { versions: Lineal[]; events: Set<string>; hints: Set<string> } {
  const byNumber = new Map(versions.map((each) => [each.version, each]));
  const ancestors = (from: number): Set<number> => {
    const seen = new Set<number>();
    for (let at = byNumber.get(from); at !== undefined && !seen.has(at.version); at = byNumber.get(at.parent)) seen.add(at.version);
    return seen;
  };
  const kept = ancestors(to);
  const used = versions.filter(({ status }) => ["stable", "canary", "candidate"].includes(status));
  const left = [...new Set(used.flatMap(({ version }) => [...ancestors(version)]))].filter((version) => !kept.has(version));
  const records = left.flatMap((version) => byNumber.get(version) ?? []).toSorted((a, b) => a.version - b.version);
  const known = new Set([...kept].flatMap((version) => byNumber.get(version)?.events.map(({ eventId }) => eventId) ?? []));
  const events = new Set(records.flatMap((each) => each.events.map(({ eventId }) => eventId)).filter((eventId) => !known.has(eventId)));
  return { versions: records, events, hints: new Set(records.flatMap(({ hints }) => hints)) };
}
