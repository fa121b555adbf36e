/** The notes of an agent's lines in its object's SQLite. */
import { addColumn } from "../sqlite.ts";
import type { StoredNote } from "./notes.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS notes (
    position INTEGER PRIMARY KEY AUTOINCREMENT, note_id TEXT NOT NULL UNIQUE, line TEXT NOT NULL, user TEXT NOT NULL,
    scope TEXT NOT NULL, tool TEXT NOT NULL, parameter TEXT NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL, event_id TEXT NOT NULL, turn_id TEXT NOT NULL,
    uses INTEGER NOT NULL, last_used_at TEXT, created_at TEXT NOT NULL, learned_by INTEGER, absorbed_by INTEGER, dropped INTEGER NOT NULL, corrected TEXT);
  CREATE INDEX IF NOT EXISTS notes_line_user ON notes (line, user);
  CREATE INDEX IF NOT EXISTS notes_line_scope ON notes (line, scope) WHERE scope = 'agent';
  CREATE INDEX IF NOT EXISTS notes_event ON notes (event_id);
`;

type NoteRow = {
  note_id: string;
  line: string;
  user: string;
  scope: "user" | "agent";
  tool: string;
  parameter: string;
  value: string;
  text: string;
  event_id: string;
  turn_id: string;
  uses: number;
  last_used_at: string | null;
  created_at: string;
  learned_by: number | null;
  absorbed_by: number | null;
  dropped: number;
  corrected: string | null;
};

export class NoteStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
    addColumn(this.#sql, { table: "notes", column: "corrected", add: "ALTER TABLE notes ADD COLUMN corrected TEXT" });
  }

  /** Whether it was new: a hint gives one note, however often its judgement is told. */
  insert(note: Omit<StoredNote, "uses" | "lastUsedAt" | "learnedBy" | "absorbedBy" | "dropped">): boolean {
    const { noteId, line, user, scope, tool, parameter, value, text, eventId, turnId, createdAt, corrected } = note;
    const query = `INSERT INTO notes (note_id, line, user, scope, tool, parameter, value, text, event_id, turn_id, uses, created_at, dropped, corrected)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?) ON CONFLICT (note_id) DO NOTHING RETURNING 1`;
    const values = [noteId, line, user, scope, tool, parameter, value, text, eventId, turnId, createdAt, corrected];
    return this.#sql.exec(query, ...values).toArray().length > 0;
  }

  /** Whether a line has notes at all, in force or not. */
  any(line: string): boolean {
    return this.#sql.exec("SELECT 1 FROM notes WHERE line = ? AND dropped = 0 LIMIT 1", line).toArray().length > 0;
  }

  /** Oldest first: what a user gave and what is for everybody, or all of the line. */
  read(line: string, user?: string): StoredNote[] {
    const rows =
      user === undefined
        ? this.#sql.exec<NoteRow>("SELECT * FROM notes WHERE line = ? ORDER BY position", line)
        : // Two indexed reads: an OR would read every user's.
          this.#sql.exec<NoteRow>(
            `SELECT * FROM notes WHERE line = ?1 AND user = ?2
             UNION ALL SELECT * FROM notes WHERE line = ?1 AND scope = 'agent' AND user <> ?2 ORDER BY position`,
            line,
            user,
          );
    return rows.toArray().map(toNote);
  }

  find(line: string, noteId: string): StoredNote | undefined {
    const [row] = this.#sql.exec<NoteRow>("SELECT * FROM notes WHERE line = ? AND note_id = ?", line, noteId).toArray();
    return row === undefined ? undefined : toNote(row);
  }

  drop(noteId: string): void {
    this.#sql.exec("UPDATE notes SET dropped = 1 WHERE note_id = ?", noteId);
  }

  /** Returns how many there were. */
  eraseUser(line: string, user: string): number {
    return this.#sql.exec("DELETE FROM notes WHERE line = ? AND user = ? RETURNING 1", line, user).toArray().length;
  }

  setLearned(line: string, eventId: string, version: number | null): void {
    this.#sql.exec("UPDATE notes SET learned_by = ? WHERE line = ? AND event_id = ?", version, line, eventId);
  }

  setAbsorbed(noteId: string, version: number): void {
    this.#sql.exec("UPDATE notes SET absorbed_by = ? WHERE note_id = ?", version, noteId);
  }

  addUse(noteId: string, at: string): void {
    this.#sql.exec("UPDATE notes SET uses = uses + 1, last_used_at = ? WHERE note_id = ?", at, noteId);
  }
}

function toNote({ note_id, event_id, turn_id, last_used_at, created_at, learned_by, absorbed_by, dropped, ...row }: NoteRow): StoredNote {
  const { line, user, scope, tool, parameter, value, corrected, text, uses } = row;
  return {
    ...{ noteId: note_id, line, user, scope, tool, parameter, value, corrected, text, eventId: event_id, turnId: turn_id, uses },
    ...{ lastUsedAt: last_used_at, createdAt: created_at, learnedBy: learned_by, absorbedBy: absorbed_by, dropped: dropped === 1 },
  };
}
