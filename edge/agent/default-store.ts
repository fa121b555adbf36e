/** The defaults of each version with those that it has inherited, in the agent's SQLite: every head has them, and records are long. */
import { z } from "zod";
import { inheritDefaults } from "../../shared/learned-defaults.ts";
import { type PolicyVersion, ServedDefault } from "../../shared/policy.ts";

const TABLES = `CREATE TABLE IF NOT EXISTS defaults (
  line TEXT NOT NULL, version INTEGER NOT NULL, defaults TEXT NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID`;

const Defaults = z.array(ServedDefault);

export class DefaultStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Keeps what a version has from the one that it was learned over and what it has learned itself; where a deletion has changed either, again. */
  put({ line, version, defaults }: PolicyVersion, before: PolicyVersion): void {
    const { policyDigest, adapter } = before;
    const stood = { line: before.line, version: before.version, policyDigest, adapter };
    const all = inheritDefaults(this.read(before.line, before.version), defaults, stood);
    if (all.length === 0) this.#sql.exec("DELETE FROM defaults WHERE line = ? AND version = ?", line, version);
    else this.#sql.exec("INSERT OR REPLACE INTO defaults VALUES (?, ?, ?)", line, version, JSON.stringify(all));
  }

  /** Newest first. */
  read(line: string, version: number): ServedDefault[] {
    const query = "SELECT defaults FROM defaults WHERE line = ? AND version = ?";
    const [row] = this.#sql.exec<{ defaults: string }>(query, line, version).toArray();
    return row === undefined ? [] : Defaults.parse(JSON.parse(row.defaults));
  }
}
