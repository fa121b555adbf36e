/** The notes of an agent's lines in its object's SQLite. */
import type { StoredNote } from "./notes.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS notes (
    position INTEGER PRIMARY KEY AUTOINCREMENT, note_id TEXT NOT NULL UNIQUE, line TEXT NOT NULL, user TEXT, tool TEXT NOT NULL,
    parameter TEXT NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL, event_id TEXT NOT NULL, turn_id TEXT NOT NULL,
    uses INTEGER NOT NULL, last_used_at TEXT, created_at TEXT NOT NULL, learned_by INTEGER, absorbed_by INTEGER, dropped INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS notes_line_user ON notes (line, user);
`;

type NoteRow = {
  note_id: string;
  line: string;
  user: string | null;
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
};

export class NoteStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Whether it was new: the judgement of one event gives one note, however often it is told. */
  insert(
    note: Pick<StoredNote, "noteId" | "line" | "user" | "tool" | "parameter" | "value" | "text" | "eventId" | "turnId" | "createdAt">,
  ): boolean {
    const { noteId, line, user, tool, parameter, value, text, eventId, turnId, createdAt } = note;
    return (
      this.#sql.exec(
        `INSERT INTO notes (note_id, line, user, tool, parameter, value, text, event_id, turn_id, uses, created_at, dropped)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0) ON CONFLICT (note_id) DO NOTHING`,
        ...[noteId, line, user, tool, parameter, value, text, eventId, turnId, createdAt],
      ).rowsWritten > 0
    );
  }

  /** Whether a line has notes at all, in force or not. */
  any(line: string): boolean {
    return this.#sql.exec("SELECT 1 FROM notes WHERE line = ? AND dropped = 0 LIMIT 1", line).toArray().length > 0;
  }

  /** Oldest first: a user's and everybody's, or all of the line. */
  read(line: string, user?: string): StoredNote[] {
    const rows =
      user === undefined
        ? this.#sql.exec<NoteRow>("SELECT * FROM notes WHERE line = ? ORDER BY position", line)
        : this.#sql.exec<NoteRow>("SELECT * FROM notes WHERE line = ? AND (user = ? OR user IS NULL) ORDER BY position", line, user);
    return rows.toArray().map(toNote);
  }

  drop(noteId: string): void {
    this.#sql.exec("UPDATE notes SET dropped = 1 WHERE note_id = ?", noteId);
  }

  setLearned(eventId: string, version: number): void {
    this.#sql.exec("UPDATE notes SET learned_by = ? WHERE event_id = ?", version, eventId);
  }

  setAbsorbed(noteId: string, version: number): void {
    this.#sql.exec("UPDATE notes SET absorbed_by = ? WHERE note_id = ?", version, noteId);
  }

  addUse(noteId: string, at: string): void {
    this.#sql.exec("UPDATE notes SET uses = uses + 1, last_used_at = ? WHERE note_id = ?", at, noteId);
  }
}

function toNote({ note_id, event_id, turn_id, last_used_at, created_at, learned_by, absorbed_by, dropped, ...row }: NoteRow): StoredNote {
  const { line, user, tool, parameter, value, text, uses } = row;
  return {
    ...{ noteId: note_id, line, user, tool, parameter, value, text, eventId: event_id, turnId: turn_id, uses },
    ...{ lastUsedAt: last_used_at, createdAt: created_at, learnedBy: learned_by, absorbedBy: absorbed_by, dropped: dropped === 1 },
  };
}
