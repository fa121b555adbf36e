/** The tables of a session's own SQLite. Times are epoch milliseconds. */
import { addColumn, hasTable } from "../sqlite.ts";

const TABLES = [
  // Exactly one row: whose session it is, what it has counted, and since when it is closed.
  `CREATE TABLE session (
    session_id TEXT PRIMARY KEY, agent TEXT NOT NULL, line TEXT NOT NULL, key_id TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,
    active_at INTEGER NOT NULL, closed_at INTEGER,
    generations INTEGER NOT NULL DEFAULT 0, replays INTEGER NOT NULL DEFAULT 0, aborted INTEGER NOT NULL DEFAULT 0, ambiguous INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 1)`,
  // A turn from the moment it opens. Texts are null where the request said that nothing is to be stored.
  `CREATE TABLE turns (
    turn_index INTEGER PRIMARY KEY, turn_id TEXT NOT NULL UNIQUE, turn_kind TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL,
    request_digest TEXT NOT NULL, idempotency_key TEXT, transcript_digest TEXT NOT NULL,
    policy_line TEXT NOT NULL DEFAULT 'shared', policy_version INTEGER NOT NULL, policy_digest TEXT NOT NULL, seed INTEGER NOT NULL, created_at INTEGER NOT NULL,
    request TEXT,
    answer_digest TEXT, message_digest TEXT, next_digest TEXT, recorded INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0, registered INTEGER NOT NULL DEFAULT 1)`,
  // Retries: turns of one body or one key.
  `CREATE INDEX turns_request ON turns (request_digest)`,
  `CREATE INDEX turns_idempotency ON turns (idempotency_key) WHERE idempotency_key IS NOT NULL`,
  // Recovery and registration: almost always empty.
  `CREATE INDEX turns_open ON turns (state) WHERE state = 'open'`,
  `CREATE INDEX turns_unregistered ON turns (registered) WHERE registered = 0`,
  // Recorded answers, for retries: deltas a line each, in parts because a row holds 2 MB.
  `CREATE TABLE records (turn_id TEXT NOT NULL, part INTEGER NOT NULL, deltas TEXT NOT NULL, PRIMARY KEY (turn_id, part))`,
  // Events that the log does not have yet, in the order in which they happened.
  `CREATE TABLE outbox (position INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE, event TEXT NOT NULL)`,
];

/** Whether anything was ever stored: an object that was only asked after must not come to exist. */
export function hasTables(sql: SqlStorage): boolean {
  return hasTable(sql, "session");
}

/** Gives a session of before there were personal lines what it lacks. */
export function upgradeTables(sql: SqlStorage): void {
  if (!hasTables(sql)) return;
  addColumn(sql, { table: "turns", column: "policy_line", add: "ALTER TABLE turns ADD COLUMN policy_line TEXT NOT NULL DEFAULT 'shared'" });
}

export function createTables(sql: SqlStorage): void {
  for (const statement of TABLES) sql.exec(statement);
}
