/** Which notes of a line are in force, and which of them a request gets. Pure. */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { Note, NoteStatus, PromptNote } from "../../shared/note.ts";

/** A note as it is kept; what has become of it depends on the version that is stable. */
export type StoredNote = Omit<Note, "status"> & { readonly dropped: boolean };

/** Most notes in force for one user, and most for everybody: beyond it the least used goes. */
export const MOST_IN_FORCE = 50;
const MOST_IN_PROMPT = 4; // a small policy reads a few

/**
 * Every note with what has become of it, newest first.
 * @param notes oldest first
 * @param ancestry the stable version and those it descends from
 */
export function judgeNotes(notes: readonly StoredNote[], ancestry: ReadonlySet<number>): Note[] {
  const taken = new Set<string>();
  return notes.toReversed().map(({ dropped, ...note }) => {
    const status = dropped ? "dropped" : standing(note, ancestry);
    if (status === "dropped" || status === "rolledBack") return { ...note, status };
    const key = JSON.stringify([note.user, note.tool, note.parameter]);
    if (taken.has(key)) return { ...note, status: "superseded" };
    taken.add(key);
    return { ...note, status };
  });
}

function standing({ learnedBy, absorbedBy }: Omit<StoredNote, "dropped">, ancestry: ReadonlySet<number>): NoteStatus {
  if (learnedBy !== null && !ancestry.has(learnedBy)) return "rolledBack";
  return absorbedBy !== null && ancestry.has(absorbedBy) ? "absorbed" : "inForce";
}

/** Those in force for the user, the most used first, and of equals the newest. */
export function notesFor(notes: readonly Note[], user: string): Note[] {
  return notes.filter((note) => note.status === "inForce" && (note.user === null || note.user === user)).sort(byUse);
}

/**
 * What goes so that a user's notes, or everybody's, stay within bounds: the least used, of equals the oldest, and never the newest.
 * @param notes newest first
 */
export function overflowing(notes: readonly Note[], user: string | null): Note[] {
  const [, ...older] = notes.filter((note) => note.status === "inForce" && note.user === user);
  return older
    .toReversed()
    .sort((a, b) => a.uses - b.uses)
    .slice(0, Math.max(0, older.length + 1 - MOST_IN_FORCE));
}

/** The notes about the tools at hand, as the prompt has them; the user's own before everybody's of the same argument. */
export function promptNotes(notes: readonly Note[], tools: readonly ToolDefinition[]): PromptNote[] {
  const own = new Set(notes.filter(({ user }) => user !== null).map(argumentOf));
  return notes
    .filter((note) => tools.some((tool) => hasParameter(tool, note)) && (note.user !== null || !own.has(argumentOf(note))))
    .slice(0, MOST_IN_PROMPT)
    .map(({ noteId, text }) => ({ noteId, text }));
}

function argumentOf({ tool, parameter }: Note): string {
  return JSON.stringify([tool, parameter]);
}

function hasParameter({ function: { name, parameters } }: ToolDefinition, note: Note): boolean {
  const properties = parameters?.["properties"];
  return name === note.tool && typeof properties === "object" && properties !== null && Object.hasOwn(properties, note.parameter);
}

function byUse(a: Note, b: Note): number {
  return b.uses - a.uses;
}
