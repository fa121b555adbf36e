/** An AgentObject's SQLite: its settings, its lines, their versions, and the audit trail. Nothing is ever deleted. */
import { Agent } from "../../shared/agent.ts";
import { CursorAdvance } from "../../shared/events.ts";
import { PolicyVersion } from "../../shared/policy.ts";
import { NoteStore } from "./note-store.ts";
import type { AuditRow, Page } from "./port.ts";
import type { LineState } from "./release.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS agent (id INTEGER PRIMARY KEY CHECK (id = 0), record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS lines (
    line TEXT PRIMARY KEY, stable INTEGER NOT NULL, latest INTEGER NOT NULL, cursor INTEGER NOT NULL, revision INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS versions (
    line TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, move TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT,
    from_version INTEGER, to_version INTEGER, cursor INTEGER NOT NULL, refused TEXT NOT NULL, created_at TEXT NOT NULL);
`;

type LineRow = { stable: number; latest: number; cursor: number; revision: number };
type RecordRow = { record: string };
type AuditRecord = {
  id: number;
  line: string;
  move: AuditRow["move"];
  actor: string;
  reason: string | null;
  from_version: number | null;
  to_version: number | null;
  cursor: number;
  refused: string;
  created_at: string;
};

export class AgentStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly notes: NoteStore;
  #created: boolean;

  /** Writes nothing: an object asked for an agent that does not exist stays empty. */
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.notes = new NoteStore(storage.sql);
    this.#created = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'agent'").toArray().length > 0;
    // An object of before notes gets their table.
    if (this.#created) this.notes.create();
  }

  create(): void {
    this.#sql.exec(TABLES);
    this.notes.create();
    this.#created = true;
  }

  /** Runs writes that become durable together or not at all. */
  transaction<Value>(body: () => Value): Value {
    return this.#storage.transactionSync(body);
  }

  readAgent(): Agent | undefined {
    if (!this.#created) return undefined;
    const [row] = this.#sql.exec<RecordRow>("SELECT record FROM agent").toArray();
    return row === undefined ? undefined : Agent.parse(JSON.parse(row.record));
  }

  writeAgent(agent: Agent): void {
    this.#sql.exec("INSERT INTO agent VALUES (0, ?) ON CONFLICT DO UPDATE SET record = excluded.record", JSON.stringify(agent));
  }

  lines(): string[] {
    return this.#sql
      .exec<{ line: string }>("SELECT line FROM lines ORDER BY line")
      .toArray()
      .map(({ line }) => line);
  }

  readLine(line: string): LineState | undefined {
    if (!this.#created) return undefined;
    return this.#sql.exec<LineRow>("SELECT stable, latest, cursor, revision FROM lines WHERE line = ?", line).toArray()[0];
  }

  writeLine(line: string, { stable, latest, cursor, revision }: LineState): void {
    this.#sql.exec("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?)", line, stable, latest, cursor, revision);
  }

  readVersion(line: string, version: number): PolicyVersion | undefined {
    if (!this.#created) return undefined;
    const [row] = this.#sql.exec<RecordRow>("SELECT record FROM versions WHERE line = ? AND version = ?", line, version).toArray();
    return row === undefined ? undefined : PolicyVersion.parse(JSON.parse(row.record));
  }

  /** The version and those it descends from. */
  readAncestry(line: string, version: number): Set<number> {
    const query = `WITH RECURSIVE ancestry (version) AS (
        SELECT ?2 UNION SELECT json_extract(record, '$.parent') FROM versions JOIN ancestry USING (version) WHERE line = ?1)
      SELECT version FROM ancestry`;
    return new Set(
      this.#sql
        .exec<{ version: number }>(query, line, version)
        .toArray()
        .map((row) => row.version),
    );
  }

  /** Newest first, below `before`. */
  readVersions(line: string, { before = Number.MAX_SAFE_INTEGER, limit }: Page): PolicyVersion[] {
    if (!this.#created) return [];
    const query = "SELECT record FROM versions WHERE line = ? AND version < ? ORDER BY version DESC LIMIT ?";
    return this.#sql
      .exec<RecordRow>(query, line, before, limit)
      .toArray()
      .map(({ record }) => PolicyVersion.parse(JSON.parse(record)));
  }

  insertVersion(version: PolicyVersion): void {
    this.#sql.exec("INSERT INTO versions VALUES (?, ?, ?)", version.line, version.version, JSON.stringify(version));
  }

  insertAudit({ line, move, actor, reason, from, to, cursor, refused, createdAt }: Omit<AuditRow, "id">): void {
    const values = [line, move, actor, reason, from, to, cursor, JSON.stringify(refused), createdAt];
    this.#sql.exec("INSERT INTO audit VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ...values);
  }

  /** Newest first, below `before`. */
  readAudit({ before = Number.MAX_SAFE_INTEGER, limit }: Page): AuditRow[] {
    if (!this.#created) return [];
    return this.#sql
      .exec<AuditRecord>("SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit)
      .toArray()
      .map(({ from_version, to_version, refused, created_at, ...row }) => ({
        ...row,
        from: from_version,
        to: to_version,
        refused: CursorAdvance.shape.refused.parse(JSON.parse(refused)),
        createdAt: created_at,
      }));
  }
}
