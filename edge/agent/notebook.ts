/** The notes of an agent's lines: kept by note-store.ts, judged by notes.ts against the version that is stable. */
import { invariant } from "../../shared/assert.ts";
import type { Actor } from "../../shared/api.ts";
import type { Note } from "../../shared/note.ts";
import { isOfOneUser } from "../../shared/wording.ts";
import { judgeNotes, overflowing, placesOf } from "./notes.ts";
import type { Lineage } from "./lineage.ts";
import type { Lines } from "./lines.ts";
import type { AbsorbResult, GivenNote } from "./port.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

export class Notebook {
  readonly #store: AgentStore;
  readonly #lines: Lines;
  readonly #lineage: Lineage;

  constructor(store: AgentStore, lines: Lines, lineage: Lineage) {
    this.#store = store;
    this.#lines = lines;
    this.#lineage = lineage;
  }

  /** Newest first: what a user gave and what is for everybody, or all of the line. The line must exist. */
  read(line: string, user?: string): Note[] {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    const serving = this.#store.readAncestry(line, state.stable);
    const inFlight = state.canary === null ? serving : this.#store.readAncestry(line, tipOf(state));
    const notes = this.#store.notes.read(line, user);
    const isAbsorbed = notes.some(({ absorbedBy }) => absorbedBy !== null); // whose state alone depends on what was learned
    return judgeNotes(notes, { serving, inFlight, learned: isAbsorbed ? this.#store.defaults.read(line, state.stable).defaults : [] });
  }

  find(line: string, noteId: string): Note | undefined {
    const kept = this.#store.readLine(line) === undefined ? undefined : this.#store.notes.find(line, noteId);
    return kept === undefined ? undefined : this.read(line, kept.user).find((note) => note.noteId === noteId);
  }

  /** Puts a note in force; what no longer fits goes. Returns whether it was new. */
  give(line: string, given: GivenNote, scope: Note["scope"]): boolean {
    if (!this.#store.notes.insert({ ...given, scope, line })) return false;
    for (const note of overflowing(this.read(line, given.user), { user: given.user, scope })) this.drop(note);
    return true;
  }

  /** Puts notes in force, and into the audit trail those that are new. @param options.scope of those that are not about one user alone */
  remember(line: string, given: readonly GivenNote[], { scope, actor }: { scope: Note["scope"]; actor: Actor }): void {
    for (const note of given)
      if (this.give(line, note, isOfOneUser(note.parameter) ? "user" : scope))
        this.#lines.touch(line, "notes", { actor, reason: `${note.noteId} given` });
  }

  /** Takes a note away because somebody says so, and what it was to teach; undefined where there is none. */
  forget(line: string, noteId: string, actor: Actor): Note | undefined {
    const note = this.find(line, noteId);
    if (note === undefined) return note;
    for (const { eventId } of this.drop(note)) this.#lineage.withdraw(line, eventId);
    if (note.status === "dropped") return note;
    this.#lines.touch(line, "notes", { actor, reason: `${noteId} dropped` });
    return { ...note, status: "dropped" };
  }

  /** Takes a note out of force where the stable version does without it. */
  absorb(line: string, noteId: string, { version, actor }: { version: number; actor: Actor }): AbsorbResult | undefined {
    const note = this.find(line, noteId);
    if (note === undefined) return undefined;
    const { stable } = this.#lines.state(line);
    if (version !== stable) return { status: "stale", stable };
    if (note.status !== "inForce") return { status: "absorbed" };
    this.#store.notes.setAbsorbed(noteId, version);
    this.#lines.touch(line, "notes", { actor, reason: `${noteId} absorbed by version ${version}` });
    return { status: "absorbed" };
  }

  /** Takes a note away with those that it superseded, and returns them: what was corrected away must not come back. */
  drop(note: Note): Note[] {
    const places = placesOf(note);
    const notes = this.read(note.line, note.user);
    const older = notes.slice(notes.findIndex(({ noteId }) => noteId === note.noteId));
    const gone = older.filter((each) => placesOf(each).some((place) => places.includes(place)));
    for (const { noteId } of gone) this.#store.notes.drop(noteId);
    return gone;
  }
}
