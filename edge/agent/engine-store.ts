/** What an agent knows of engines, in its SQLite: the bases that were engines', the adapters that it had loaded, and their files at Workers AI. Times are epoch milliseconds. */
import { EngineSettings } from "../../shared/engine.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS engine_bases (base_digest TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS engine_adapters (
    name TEXT NOT NULL, engine TEXT NOT NULL, line TEXT NOT NULL, version INTEGER NOT NULL, policy_digest TEXT NOT NULL,
    loaded_at INTEGER NOT NULL, used_at INTEGER NOT NULL, failure TEXT,
    PRIMARY KEY (name, engine)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS engine_uploads (fine_tune TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (fine_tune, file)) WITHOUT ROWID;
`;

export type LoadedAdapter = {
  readonly name: string;
  /** Where it is loaded: the agent's engine may be another by now. */
  readonly engine: EngineSettings;
  readonly line: string;
  readonly version: number;
  readonly policyDigest: string;
  readonly loadedAt: number;
  readonly usedAt: number;
  /** Why it could not be unloaded. */
  readonly failure: string | null;
};

type Row = {
  name: string;
  engine: string;
  line: string;
  version: number;
  policy_digest: string;
  loaded_at: number;
  used_at: number;
  failure: string | null;
};

export class EngineStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  addBase(digest: string, title: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO engine_bases VALUES (?, ?)", digest, title);
  }

  /** Whether the base is, or was, one that an engine serves. */
  isBase(digest: string): boolean {
    return this.#sql.exec("SELECT 1 FROM engine_bases WHERE base_digest = ?", digest).toArray().length > 0;
  }

  /** It is there and was asked for now, so that it could not be unloaded is no failure any more; the audit has what it was. */
  putAdapter({ name, engine, line, version, policyDigest }: Omit<LoadedAdapter, "loadedAt" | "usedAt" | "failure">, now: number): void {
    this.#sql.exec(
      `INSERT INTO engine_adapters VALUES (?, ?, ?, ?, ?, ?, ?, NULL)
       ON CONFLICT (name, engine) DO UPDATE SET used_at = excluded.used_at, failure = NULL`,
      ...[name, JSON.stringify(engine), line, version, policyDigest, now, now],
    );
  }

  adapters(): LoadedAdapter[] {
    return this.#sql
      .exec<Row>("SELECT * FROM engine_adapters ORDER BY loaded_at, name")
      .toArray()
      .map(({ engine, policy_digest, loaded_at, used_at, ...row }) => ({
        ...row,
        engine: EngineSettings.parse(JSON.parse(engine)),
        policyDigest: policy_digest,
        loadedAt: loaded_at,
        usedAt: used_at,
      }));
  }

  setFailure({ name, engine }: Pick<LoadedAdapter, "name" | "engine">, failure: string): void {
    this.#sql.exec("UPDATE engine_adapters SET failure = ? WHERE name = ? AND engine = ?", failure, name, JSON.stringify(engine));
  }

  /** Unless it was asked for since. */
  dropAdapter({ name, engine, usedAt }: Pick<LoadedAdapter, "name" | "engine" | "usedAt">): void {
    this.#sql.exec("DELETE FROM engine_adapters WHERE name = ? AND engine = ? AND used_at = ?", name, JSON.stringify(engine), usedAt);
  }

  hasUpload(fineTune: string, file: string): boolean {
    return this.#sql.exec("SELECT 1 FROM engine_uploads WHERE fine_tune = ? AND file = ?", fineTune, file).toArray().length > 0;
  }

  addUpload(fineTune: string, file: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO engine_uploads VALUES (?, ?)", fineTune, file);
  }
}
