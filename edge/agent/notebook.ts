/** The notes of an agent's lines: kept by note-store.ts, judged by notes.ts against the version that is stable. */
import type { LearningSettings } from "../../shared/agent.ts";
import { invariant } from "../../shared/assert.ts";
import type { Note } from "../../shared/note.ts";
import { judgeNotes, overflowing } from "./notes.ts";
import type { GivenNote } from "./port.ts";
import type { AgentStore } from "./store.ts";

export class Notebook {
  readonly #store: AgentStore;

  constructor(store: AgentStore) {
    this.#store = store;
  }

  /** Newest first: a user's and everybody's, or all of the line. The line must exist. */
  read(line: string, user?: string): Note[] {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    return judgeNotes(this.#store.notes.read(line, user), this.#store.readAncestry(line, state.stable));
  }

  find(line: string, noteId: string): Note | undefined {
    if (this.#store.readLine(line) === undefined) return undefined;
    return this.read(line).find((note) => note.noteId === noteId);
  }

  /** Puts a note in force; what no longer fits goes. Returns whether it was new. */
  give(line: string, given: GivenNote, { notes }: Pick<LearningSettings, "notes">): boolean {
    const user = notes === "agent" ? null : given.user;
    if (!this.#store.notes.insert({ ...given, user, line })) return false;
    for (const { noteId } of overflowing(this.read(line, given.user), user)) this.#store.notes.drop(noteId);
    return true;
  }
}
