/** The defaults of each version with those that it has inherited, in the agent's SQLite: every head has them, and records are long. */
import { z } from "zod";
import { inheritDefaults } from "../../shared/learned-defaults.ts";
import { type PolicyVersion, ServedDefault, VersionFiles } from "../../shared/policy.ts";
import { versionFor } from "../../shared/reach.ts";

const TABLES = `CREATE TABLE IF NOT EXISTS defaults (
  line TEXT NOT NULL, version INTEGER NOT NULL, defaults TEXT NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID`;

/** Newest first; what was kept before it was known who answers for which tool is the list alone. */
const Kept = z.object({ defaults: z.array(ServedDefault), outside: VersionFiles.nullable() });
const StoredDefaults = z.union([Kept, z.array(ServedDefault).transform((defaults) => ({ defaults, outside: null }))]);
export type KeptDefaults = z.infer<typeof Kept>;

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
    const bound = filesOf(before);
    const stood = { bound, ...this.read(before.line, before.version) };
    const learned = { before: (tool: string): VersionFiles => versionFor(tool, stood), by: filesOf(made), reach };
    const defaults = inheritDefaults(stood.defaults, made.defaults, learned);
    const outside = reach === "everything" ? null : (stood.outside ?? bound);
    if (defaults.length === 0) this.#sql.exec("DELETE FROM defaults WHERE line = ? AND version = ?", line, version);
    else this.#sql.exec("INSERT OR REPLACE INTO defaults VALUES (?, ?, ?)", line, version, JSON.stringify({ defaults, outside }));
  }

  read(line: string, version: number): KeptDefaults {
    const query = "SELECT defaults FROM defaults WHERE line = ? AND version = ?";
    const [row] = this.#sql.exec<{ defaults: string }>(query, line, version).toArray();
    return row === undefined ? { defaults: [], outside: null } : StoredDefaults.parse(JSON.parse(row.defaults));
  }
}

function filesOf({ line, version, policyDigest, adapter }: PolicyVersion): VersionFiles {
  return { line, version, policyDigest, adapter };
}
