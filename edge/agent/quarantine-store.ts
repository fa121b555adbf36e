/**
 * Which version used which event, which events are barred from learning, and which wait to be learned from again. Of several hints of one event each is used
 * and opened by itself, under its id; barred is the event as a whole, and so is what is done with.
 */
import type { QuarantinedEvent } from "../../shared/api.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import type { EventUse } from "./port.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS event_uses (
    line TEXT NOT NULL, event_id TEXT NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, user TEXT NOT NULL, turn_id TEXT NOT NULL,
    PRIMARY KEY (line, event_id, version)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS event_uses_version ON event_uses (line, version);
  CREATE INDEX IF NOT EXISTS event_uses_user ON event_uses (line, user);
  CREATE TABLE IF NOT EXISTS quarantine (
    line TEXT NOT NULL, event_id TEXT NOT NULL, turn_id TEXT NOT NULL, seq INTEGER NOT NULL, reason TEXT, actor TEXT NOT NULL,
    created_at TEXT NOT NULL, deleted INTEGER NOT NULL, PRIMARY KEY (line, event_id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS reopened (line TEXT NOT NULL, event_id TEXT NOT NULL, PRIMARY KEY (line, event_id)) WITHOUT ROWID;
`;

// An event's own id and those of its further hints.
export const OF_EVENT = "(event_id = ?2 OR (event_id > ?2 || '#' AND event_id < ?2 || '$'))";

type UseRow = { event_id: string; version: number; seq: number; user: string; turn_id: string };
type QuarantineRow = {
  event_id: string;
  turn_id: string;
  seq: number;
  reason: string | null;
  actor: string;
  created_at: string;
  deleted: number;
};

export class QuarantineStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  addUse({ line, eventId, version, seq, user, turnId }: EventUse): void {
    this.#sql.exec("INSERT OR IGNORE INTO event_uses VALUES (?, ?, ?, ?, ?, ?)", line, eventId, version, seq, user, turnId);
  }

  /** Every use of an event, or of a user's events, or all that a version was trained on; by event, then version. */
  uses(line: string, where: { eventId: string } | { user: string } | { version: number }): EventUse[] {
    const [condition, value] =
      "eventId" in where
        ? [OF_EVENT, eventIdOf(where.eventId)]
        : "user" in where
          ? ["user = ?2", where.user]
          : ["version = ?2", where.version];
    return this.#sql
      .exec<UseRow>(`SELECT * FROM event_uses WHERE line = ?1 AND ${condition} ORDER BY seq, version, event_id`, line, value)
      .toArray()
      .map(({ event_id, version, seq, user, turn_id }) => ({ line, eventId: event_id, version, seq, user, turnId: turn_id }));
  }

  /** Bars an event, for good where its user was deleted; returns whether it was not barred already. */
  bar(line: string, { eventId: of, turnId, seq, reason, actor, createdAt, forGood }: QuarantinedEvent): boolean {
    const eventId = eventIdOf(of);
    const isNew = !this.isBarred(line, eventId);
    this.#sql.exec(
      "INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET deleted = max(deleted, excluded.deleted)",
      ...[line, eventId, turnId, seq, reason, actor, createdAt, Number(forGood)],
    );
    this.close(line, eventId);
    return isNew;
  }

  /** Lets an event go; returns its place in the log where it was barred and may be let go. */
  letIn(line: string, eventId: string): number | undefined {
    const query = "DELETE FROM quarantine WHERE line = ? AND event_id = ? AND deleted = 0 RETURNING seq";
    return this.#sql.exec<{ seq: number }>(query, line, eventIdOf(eventId)).toArray()[0]?.seq;
  }

  /** By event id, after `after`. */
  read(line: string, { after = "", limit }: { after?: string | undefined; limit: number }): QuarantinedEvent[] {
    return this.#sql
      .exec<QuarantineRow>("SELECT * FROM quarantine WHERE line = ? AND event_id > ? ORDER BY event_id LIMIT ?", line, after, limit)
      .toArray()
      .map(({ event_id, turn_id, seq, reason, actor, created_at, deleted }) => ({
        eventId: event_id,
        turnId: turn_id,
        seq,
        reason,
        actor,
        createdAt: created_at,
        forGood: deleted === 1,
      }));
  }

  isBarred(line: string, eventId: string): boolean {
    return this.#sql.exec("SELECT 1 FROM quarantine WHERE line = ? AND event_id = ?", line, eventIdOf(eventId)).toArray().length > 0;
  }

  /** An event that a version has used is to be learned from again. */
  reopen(line: string, eventId: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO reopened VALUES (?, ?)", line, eventId);
  }

  close(line: string, eventId: string): void {
    this.#sql.exec(`DELETE FROM reopened WHERE line = ?1 AND ${OF_EVENT}`, line, eventIdOf(eventId));
  }

  reopened(line: string, limit: number): string[] {
    return this.#sql
      .exec<{ event_id: string }>("SELECT event_id FROM reopened WHERE line = ? ORDER BY event_id LIMIT ?", line, limit)
      .toArray()
      .map(({ event_id }) => event_id);
  }

  /** Lines that have something to learn again, at most `limit`. */
  linesReopened(limit: number): string[] {
    const query = "SELECT DISTINCT line FROM reopened ORDER BY line LIMIT ?";
    return this.#sql
      .exec<{ line: string }>(query, limit)
      .toArray()
      .map(({ line }) => line);
  }

  isReopened(line: string, eventId: string): boolean {
    return this.#sql.exec("SELECT 1 FROM reopened WHERE line = ? AND event_id = ?", line, eventId).toArray().length > 0;
  }
}
