/** Which lines have to be learned again without a deleted user, in the agent's SQLite. */
import { z } from "zod";

const TABLES = `CREATE TABLE IF NOT EXISTS rebuilds (line TEXT PRIMARY KEY, versions TEXT NOT NULL) WITHOUT ROWID`;

const Versions = z.array(z.number());

export class RebuildStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** The versions that deleted users had a part in and that go with the rebuild; empty where none is due. */
  read(line: string): Set<number> {
    const [row] = this.#sql.exec<{ versions: string }>("SELECT versions FROM rebuilds WHERE line = ?", line).toArray();
    return new Set(row === undefined ? [] : Versions.parse(JSON.parse(row.versions)));
  }

  put(line: string, versions: ReadonlySet<number>): void {
    this.#sql.exec("INSERT OR REPLACE INTO rebuilds VALUES (?, ?)", line, JSON.stringify([...versions]));
  }

  drop(line: string): void {
    this.#sql.exec("DELETE FROM rebuilds WHERE line = ?", line);
  }
}
