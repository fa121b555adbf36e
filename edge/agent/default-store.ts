/** What each version has learned and inherited, and who answers beside it, in the agent's SQLite: every head has them, and records are long. */
import { z } from "zod";
import { inheritKept } from "../../shared/learned-defaults.ts";
import { KeptDefaults, type PolicyVersion, ServedDefault, type VersionFiles } from "../../shared/policy.ts";

const TABLES = `CREATE TABLE IF NOT EXISTS defaults (
  line TEXT NOT NULL, version INTEGER NOT NULL, defaults TEXT NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID`;

/** What was kept before versions answered beside each other is the list of defaults alone. */
const Stored = z.union([KeptDefaults, z.array(ServedDefault).transform((defaults) => ({ defaults, answering: null }))]);

export class DefaultStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Keeps what a version has from the one that it was learned over and what it has learned itself; where a deletion has changed either, again. */
  put(made: PolicyVersion, before: PolicyVersion): void {
    const { line, version, reach } = made;
    const known = this.read(before.line, before.version);
    const kept = inheritKept({ bound: filesOf(before), ...known }, { by: filesOf(made), learned: made.defaults, reach });
    if (kept.defaults.length === 0 && kept.answering === null)
      this.#sql.exec("DELETE FROM defaults WHERE line = ? AND version = ?", line, version);
    else this.#sql.exec("INSERT OR REPLACE INTO defaults VALUES (?, ?, ?)", line, version, JSON.stringify(kept));
  }

  read(line: string, version: number): KeptDefaults {
    const query = "SELECT defaults FROM defaults WHERE line = ? AND version = ?";
    const [row] = this.#sql.exec<{ defaults: string }>(query, line, version).toArray();
    return row === undefined ? { defaults: [], answering: null } : Stored.parse(JSON.parse(row.defaults));
  }
}

function filesOf({ line, version, policyDigest, adapter }: PolicyVersion): VersionFiles {
  return { line, version, policyDigest, adapter };
}
