/** Over which version of the shared line each version of a personal line was learned, in the agent's SQLite. */
import { SHARED_LINE } from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS stands (line TEXT NOT NULL, version INTEGER NOT NULL, over INTEGER NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS stands_over ON stands (over);
`;

/** A version whose ground was taken away, and what it becomes. */
export type LostStand = { readonly line: string; readonly version: number; readonly over: number; readonly becomes: VersionStatus };

export class StandStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  add(line: string, version: number, over: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO stands VALUES (?, ?, ?)", line, version, over);
  }

  /** Undefined for the bare versions that lines begin with. */
  overOf(line: string, version: number): number | undefined {
    return this.#sql.exec<{ over: number }>("SELECT over FROM stands WHERE line = ? AND version = ?", line, version).toArray()[0]?.over;
  }

  /** The versions of personal lines that were learned over one of the shared line, by line and ascending. */
  standingOn(over: number): { line: string; version: number }[] {
    return this.#sql
      .exec<{ line: string; version: number }>("SELECT line, version FROM stands WHERE over = ? ORDER BY line, version", over)
      .toArray();
  }

  /** Versions in use, or to be used again, over versions of the shared line that were taken back or deleted; ordered by line. */
  lost(): LostStand[] {
    const query = `
      SELECT stands.line, stands.version, stands.over, ground.status AS becomes
      FROM versions AS ground JOIN stands ON stands.over = ground.version
      JOIN versions AS own ON own.line = stands.line AND own.version = stands.version
      WHERE ground.line = ? AND ground.status IN ('rolledBack', 'deleted') AND own.status <> 'deleted' AND own.status <> ground.status
      ORDER BY stands.line, stands.version`;
    return this.#sql
      .exec<{ line: string; version: number; over: number; becomes: string }>(query, SHARED_LINE)
      .toArray()
      .map((row) => ({ ...row, becomes: row.becomes === "deleted" ? "deleted" : "rolledBack" }));
  }
}
