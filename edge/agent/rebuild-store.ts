/** Which lines have to be learned again without a deleted user, in the agent's SQLite. */
import { z } from "zod";

const TABLES = `
  CREATE TABLE IF NOT EXISTS rebuilds (
    line TEXT PRIMARY KEY, from_version INTEGER NOT NULL, users TEXT NOT NULL, requested_at TEXT NOT NULL) WITHOUT ROWID;
`;

const Users = z.array(z.string());

export type Rebuild = { readonly from: number; readonly users: readonly string[]; readonly requestedAt: string };
type Row = { from_version: number; users: string; requested_at: string };

export class RebuildStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  read(line: string): Rebuild | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM rebuilds WHERE line = ?", line).toArray();
    if (row === undefined) return undefined;
    return { from: row.from_version, users: Users.parse(JSON.parse(row.users)), requestedAt: row.requested_at };
  }

  put(line: string, { from, users, requestedAt }: Rebuild): void {
    this.#sql.exec("INSERT OR REPLACE INTO rebuilds VALUES (?, ?, ?, ?)", line, from, JSON.stringify(users), requestedAt);
  }

  drop(line: string): void {
    this.#sql.exec("DELETE FROM rebuilds WHERE line = ?", line);
  }
}
