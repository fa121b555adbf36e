/** What canary and stable version did side by side, and how busy a line is, in the agent's SQLite. */
import type { Arm, Sample } from "../../shared/api.ts";
import { invariant } from "../../shared/assert.ts";
import type { Audience } from "../../shared/influence.ts";
import { SMALL_CIRCLE } from "../../shared/small-circle.ts";
import type { TurnFact } from "./port.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS trials (
    line TEXT NOT NULL, turn_id TEXT NOT NULL, version INTEGER NOT NULL, session_id TEXT NOT NULL,
    failed INTEGER NOT NULL, invalid INTEGER NOT NULL, tokens INTEGER NOT NULL, score REAL, PRIMARY KEY (line, turn_id)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS trials_session ON trials (line, session_id);
  CREATE TABLE IF NOT EXISTS seen_users (
    line TEXT NOT NULL, user TEXT NOT NULL, key_id TEXT, last_at INTEGER NOT NULL, PRIMARY KEY (line, user)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_users_last ON seen_users (line, last_at);
  CREATE TABLE IF NOT EXISTS turn_days (line TEXT NOT NULL, day INTEGER NOT NULL, turns INTEGER NOT NULL, PRIMARY KEY (line, day)) WITHOUT ROWID;
`;

const DAY_MS = 86_400_000;
const MEASURES = ["score", "failed", "invalid", "tokens"] as const;
type SeenTurn = Pick<TurnFact, "user" | "keyId" | "createdAt">;
type SampleRow = { version: number } & Record<`${(typeof MEASURES)[number]}_${"count" | "sum" | "squares"}`, number>;

export class TrialStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Counts a turn towards how busy the line is, and its user among those whom it serves. */
  countTurn(line: string, fact: SeenTurn): void {
    this.countUser(line, fact);
    this.#sql.exec(
      "INSERT INTO turn_days VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET turns = turns + 1",
      ...[line, Math.floor(Date.parse(fact.createdAt) / DAY_MS)],
    );
  }

  countUser(line: string, { user, keyId, createdAt }: SeenTurn): void {
    this.#sql.exec(
      "INSERT INTO seen_users VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at)",
      ...[line, user, keyId, Date.parse(createdAt)],
    );
  }

  /** Whom the line served since a time. A user is one key's. */
  audience(line: string, since: number): Omit<Audience, "trusted"> {
    const query = "SELECT count(*) AS users FROM seen_users WHERE line = ? AND last_at >= ? GROUP BY key_id";
    const perKey = this.#sql
      .exec<{ users: number }>(query, line, since)
      .toArray()
      .map(({ users }) => users);
    const large = perKey.filter((users) => users >= SMALL_CIRCLE).length;
    const small = perKey.length - large;
    return { users: perKey.reduce((sum, users) => sum + users, 0), keys: large + (small >= SMALL_CIRCLE ? small : 0) };
  }

  eraseUser(line: string, user: string): void {
    this.#sql.exec("DELETE FROM seen_users WHERE line = ? AND user = ?", line, user);
  }

  /** Turns of the busier of today and yesterday (UTC). */
  turnsPerDay(line: string, now: number): number {
    const query = "SELECT coalesce(max(turns), 0) AS turns FROM turn_days WHERE line = ? AND day >= ?";
    return this.#sql.exec<{ turns: number }>(query, line, Math.floor(now / DAY_MS) - 1).one().turns;
  }

  /** A turn under the trial. Only conversations that began while the canary answered count: only those were drawn by lot. */
  addTurn(line: string, { turnId, version, sessionId, turnIndex, failed, invalid, tokens }: TurnFact): void {
    const known = this.#sql.exec("SELECT 1 FROM trials WHERE line = ? AND session_id = ? LIMIT 1", line, sessionId).toArray().length > 0;
    if (turnIndex > 0 && !known) return;
    const values = [line, turnId, version, sessionId, Number(failed), Number(invalid), tokens];
    this.#sql.exec("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING", ...values);
  }

  /** The judged reward of a turn under the trial, −1 to 1. */
  judge(line: string, turnId: string, reward: number): void {
    this.#sql.exec("UPDATE trials SET score = ? WHERE line = ? AND turn_id = ?", (reward + 1) / 2, line, turnId);
  }

  arm(line: string, version: number): Arm {
    const sums = MEASURES.map(
      (name) => `count(${name}) AS ${name}_count, total(${name}) AS ${name}_sum, total(${name} * ${name}) AS ${name}_squares`,
    );
    const query = `SELECT ${sums.join(", ")} FROM (
      SELECT avg(score) AS score, avg(failed) AS failed, avg(invalid) AS invalid, avg(CASE WHEN failed THEN NULL ELSE tokens END) AS tokens
      FROM trials WHERE line = ? AND version = ? GROUP BY session_id)`;
    const [row] = this.#sql.exec<SampleRow>(query, line, version).toArray();
    invariant(row !== undefined, "an aggregate has a row");
    const sample = (name: (typeof MEASURES)[number]): Sample =>
      toSample({ count: row[`${name}_count`], sum: row[`${name}_sum`], squares: row[`${name}_squares`] });
    return { score: sample("score"), failed: sample("failed"), invalid: sample("invalid"), tokens: sample("tokens") };
  }

  /** Ends a trial. */
  clear(line: string): void {
    this.#sql.exec("DELETE FROM trials WHERE line = ?", line);
  }
}

/** Mean and unbiased variance of what was measured, from its sum and the sum of its squares. */
export function toSample({ count, sum, squares }: { count: number; sum: number; squares: number }): Sample {
  if (count === 0) return { count: 0, mean: 0, variance: 0 };
  const mean = sum / count;
  return { count, mean, variance: count < 2 ? 0 : Math.max(0, (squares - count * mean * mean) / (count - 1)) };
}
