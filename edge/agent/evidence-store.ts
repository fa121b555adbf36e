/** Who has corrected which argument to what, in the agent's SQLite: what a default for everybody is weighed by. */
import { topicsOf } from "../../shared/aspects.ts";
import type { Evidence } from "../../shared/influence.ts";
import { addColumn } from "../sqlite.ts";
import { OF_EVENT } from "./quarantine-store.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS evidence (
    position INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, event_id TEXT NOT NULL, user TEXT NOT NULL, key_id TEXT,
    tool TEXT NOT NULL, parameter TEXT NOT NULL, value TEXT NOT NULL, at INTEGER NOT NULL, learned_by INTEGER,
    dropped INTEGER NOT NULL DEFAULT 0, UNIQUE (line, event_id));
  CREATE INDEX IF NOT EXISTS evidence_line_at ON evidence (line, at);
  CREATE INDEX IF NOT EXISTS evidence_line_user ON evidence (line, user, position);
`;

/**
 * Newest corrections that are looked at: of a user, of a key, and in all. Whoever floods pushes out his own, not the others'.
 * What is no correction of an argument counts by itself: many rewards of a user hide none of his corrections.
 */
const MOST_READ = { user: 20, key: 500, all: 5_000 } as const;

const MOST_LATER = 100; // the last word on a topic is among them, unless it was followed by as many on others

type Row = {
  event_id: string;
  user: string;
  key_id: string | null;
  tool: string;
  parameter: string;
  value: string;
  learned_by: number | null;
  /** 1: somebody has dropped its note. */
  dropped: number;
};

export class EvidenceStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
    addColumn(this.#sql, {
      table: "evidence",
      column: "dropped",
      add: "ALTER TABLE evidence ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0",
    });
  }

  add(line: string, { eventId, user, keyId, tool, parameter, value }: Evidence, at: number): void {
    this.#sql.exec(
      `INSERT INTO evidence (line, event_id, user, key_id, tool, parameter, value, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      ...[line, eventId, user, keyId, tool, parameter, value, at],
    );
  }

  setLearned(line: string, eventId: string, version: number): void {
    this.#sql.exec("UPDATE evidence SET learned_by = ? WHERE line = ? AND event_id = ?", version, line, eventId);
  }

  /** Its note was dropped: it counts for nobody any more, told again or not. */
  drop(line: string, eventId: string): void {
    this.#sql.exec("UPDATE evidence SET dropped = 1 WHERE line = ? AND event_id = ?", line, eventId);
  }

  isDropped(line: string, eventId: string): boolean {
    return this.#sql.exec("SELECT 1 FROM evidence WHERE line = ? AND event_id = ? AND dropped = 1", line, eventId).toArray().length > 0;
  }

  /** Returns how many there were. */
  eraseUser(line: string, user: string): number {
    return this.#sql.exec("DELETE FROM evidence WHERE line = ? AND user = ? RETURNING 1", line, user).toArray().length;
  }

  /** Ids under which an event is evidence: its own, and those of its further hints. */
  idsOf(line: string, eventId: string): string[] {
    const query = `SELECT event_id FROM evidence WHERE line = ?1 AND ${OF_EVENT} ORDER BY position`;
    return this.#sql
      .exec<Pick<Row, "event_id">>(query, line, eventId)
      .toArray()
      .map(({ event_id }) => event_id);
  }

  find(line: string, eventId: string): Evidence | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM evidence WHERE line = ? AND event_id = ?", line, eventId).toArray();
    return row === undefined ? undefined : toEvidence(row);
  }

  /** What its user said after it of arguments, or aspects, of the same name, oldest first. */
  after(line: string, { eventId, user, parameter }: Evidence): Evidence[] {
    const query = `
      SELECT * FROM evidence WHERE line = ?1 AND user = ?2 AND parameter = ?3
        AND position > (SELECT position FROM evidence WHERE line = ?1 AND event_id = ?4) ORDER BY position DESC LIMIT ?5`;
    return this.#sql.exec<Row>(query, line, user, parameter, eventId, MOST_LATER).toArray().toReversed().map(toEvidence);
  }

  /**
   * What was said since a time, was not dropped, and no version of `inUse` has learned, oldest first; of what a user said of one topic the
   * last only: it takes back what was said before.
   */
  open(line: string, { since, inUse }: { since: number; inUse: ReadonlySet<number> }): Evidence[] {
    const newest = (of: string): string => `row_number() OVER (PARTITION BY ${of} ORDER BY position DESC)`;
    const query = `
      SELECT * FROM (
        SELECT *, ${newest("key_id")} AS of_key
        FROM (SELECT *, ${newest("key_id, user, tool = '' OR parameter = ''")} AS of_user FROM evidence WHERE line = ? AND at >= ?) WHERE of_user <= ?)
      WHERE of_key <= ? ORDER BY position DESC LIMIT ?`;
    const last = new Map<string, Row>();
    const kept: Row[] = [];
    for (const row of this.#sql.exec<Row>(query, line, since, MOST_READ.user, MOST_READ.key, MOST_READ.all).toArray()) {
      const topics = topicsOf(row).map((topic) => JSON.stringify([row.user, topic]));
      const later = topics.flatMap((topic) => last.get(topic) ?? []);
      // The same said again is said once more; what another one of its topics has replaced was taken back.
      if (later.every((each) => each.tool === row.tool && each.value === row.value)) kept.push(row);
      for (const topic of topics) if (!last.has(topic)) last.set(topic, row);
    }
    return kept
      .filter(({ learned_by, dropped }) => dropped === 0 && (learned_by === null || !inUse.has(learned_by)))
      .toReversed()
      .map(toEvidence);
  }
}

function toEvidence({ event_id, key_id, user, tool, parameter, value }: Row): Evidence {
  return { eventId: event_id, user, keyId: key_id, tool, parameter, value };
}
