/** What a rollback would do, worked out and said before it is asked for, and what it did. Pure. */
import type { ListedVersion, Promoted, RolledBack, Unchanged } from "./api.ts";
import { count } from "./count.ts";
import { eventIdOf } from "./hint-id.ts";
import type { Note } from "./note.ts";

export type Lineal = Pick<ListedVersion, "version" | "parent" | "status" | "events" | "hints">;

export type Left = {
  /** Versions that answer or are in flight and are not among `to` and its ancestors. */
  readonly versions: readonly Lineal[];
  /** Ids of the events that they alone had learned from. */
  readonly events: ReadonlySet<string>;
  readonly hints: ReadonlySet<string>;
  /** Of these, and of those that only versions that answer again had learned from, the ones that are barred already. */
  readonly barred: ReadonlySet<string>;
};

/** @param barred ids of the line's quarantined events */
export function whatIsLeft(versions: readonly Lineal[], to: number, barred: ReadonlySet<string> = new Set()): Left {
  const byNumber = new Map(versions.map((each) => [each.version, each]));
  const ancestors = (from: number): Set<number> => {
    const seen = new Set<number>();
    for (let at = byNumber.get(from); at !== undefined && !seen.has(at.version); at = byNumber.get(at.parent)) seen.add(at.version);
    return seen;
  };
  // Each correction of an event is learned by itself; barred and counted is the event.
  const hintIdsOf = (version: number): string[] => byNumber.get(version)?.events.map(({ eventId }) => eventId) ?? [];
  const kept = ancestors(to);
  const tips = versions.filter(({ status }) => ["stable", "canary", "candidate"].includes(status));
  const used = new Set(tips.flatMap(({ version }) => [...ancestors(version)]));
  const left = [...used].filter((version) => !kept.has(version)).toSorted((a, b) => a - b);
  const eventsOnlyOf = (some: readonly number[], others: readonly number[]): string[] => {
    const elsewhere = new Set(others.flatMap(hintIdsOf));
    return some
      .flatMap(hintIdsOf)
      .filter((hintId) => !elsewhere.has(hintId))
      .map(eventIdOf);
  };
  const events = new Set(eventsOnlyOf(left, [...kept]));
  const again = eventsOnlyOf(
    [...kept].filter((version) => !used.has(version)),
    [...kept].filter((version) => used.has(version)),
  );
  const records = left.flatMap((version) => byNumber.get(version) ?? []);
  return {
    versions: records,
    events,
    hints: new Set(records.flatMap(({ hints }) => hints)),
    barred: new Set([...events, ...again].filter((eventId) => barred.has(eventId))),
  };
}

/** What would come of it, in sentences: which version would answer, and what of those that no longer would. */
export function previewOf(left: Left, { stable, to }: { stable: number; to: number }): string {
  const answers = stable === to ? `Version ${to} will go on answering.` : `Version ${to} will answer, and version ${stable} no longer.`;
  if (left.versions.length === 0) return `${answers} No version in use will be taken back.`;
  const taken = left.versions.map(({ version }) => version);
  return `${answers} Taken back will be ${listed(taken)}, with ${count(left.events.size, "event")} that nothing else has learned from.`;
}

/** What answers a rollback or a promotion. */
export type Moved = RolledBack | Promoted | Unchanged;

/** What a move did, in sentences. */
export function movedTexts(moved: Moved): string[] {
  if (moved.status === "unchanged") return [`Version ${moved.stable} answers already; nothing was changed.`];
  const { from, to } = moved;
  const answers = from === to ? `Version ${to} goes on answering` : `Version ${to} answers now, ${from} no longer`;
  if (moved.status === "promoted") return [`${answers}.`];
  const left = moved.versions.length === 0 ? "none" : listed(moved.versions);
  const stays = barredText(moved.barred);
  return [
    `${answers}. Left: ${left}.`,
    `${count(moved.quarantined, "event")} quarantined, ${moved.reopened} to be learned from again.`,
    ...(stays === undefined ? [] : [stays]),
  ];
}

function listed(versions: readonly number[]): string {
  return versions.map((version) => `version ${version}`).join(", ");
}

/** What becomes of these events, as it will be. */
export function fateOf(quarantine: boolean): string {
  return quarantine
    ? "No version will learn from that again until somebody lets it back in."
    : "The trainer will learn from it again at once, starting at the version gone back to.";
}

/** Those of the notes that versions which are left had learned from, and that were not dropped. */
export function notesOf<Listed extends Pick<Note, "learnedBy" | "status">>({ versions }: Left, notes: readonly Listed[]): Listed[] {
  const gone = new Set(versions.map(({ version }) => version));
  const isLive = ({ status }: Pick<Note, "status">): boolean => status === "inForce" || status === "absorbed";
  return notes.filter((note) => note.learnedBy !== null && gone.has(note.learnedBy) && isLive(note));
}

/** What becomes of these notes. */
export function fateOfNotes(notes: number, quarantine: boolean): string {
  return quarantine
    ? `${count(notes, "note")} will go out of force, too, for whoever gave ${notes === 1 ? "it" : "them"}:`
    : `${count(notes, "note")} will be in force until ${notes === 1 ? "it is" : "they are"} learned again:`;
}

/** What no rollback changes, forward or back; undefined where nothing is barred. */
export function barredText(events: number): string | undefined {
  if (events === 0) return undefined;
  const [were, stay] = events === 1 ? ["was", "stays"] : ["were", "stay"];
  const places = "under Audit in the dashboard, or by POST …/quarantine/release";
  return `${count(events, "event")} that these versions had learned from ${were} barred from learning before, and ${stay} so until let back in: ${places}. Events of deleted users stay barred for good.`;
}
