/** The cases of an agent's suite in its object's SQLite. */
import { SuiteCase } from "../../shared/suite.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS suite (
    position INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, case_id TEXT NOT NULL, source TEXT NOT NULL, user TEXT,
    version INTEGER, record TEXT NOT NULL, UNIQUE (line, case_id));
  CREATE INDEX IF NOT EXISTS suite_user ON suite (line, user) WHERE user IS NOT NULL;
`;

/** Most cases of corrections, and most that people wrote: each is answered twice for every candidate. */
export const MOST_CASES = 100;

type Row = { position: number; record: string };

export class SuiteStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Oldest first. */
  read(line: string): SuiteCase[] {
    return this.#sql
      .exec<Row>("SELECT position, record FROM suite WHERE line = ? ORDER BY position", line)
      .toArray()
      .map(({ record }) => SuiteCase.parse(JSON.parse(record)));
  }

  count(line: string, source: SuiteCase["source"]): number {
    return this.#sql.exec<{ cases: number }>("SELECT count(*) AS cases FROM suite WHERE line = ? AND source = ?", line, source).one().cases;
  }

  /** A case that is there already becomes the newest. */
  put(line: string, suiteCase: SuiteCase): void {
    const { caseId, source, user, version } = suiteCase;
    this.drop(line, caseId);
    this.#sql.exec(
      "INSERT INTO suite (line, case_id, source, user, version, record) VALUES (?, ?, ?, ?, ?, ?)",
      ...[line, caseId, source, user, version, JSON.stringify(suiteCase)],
    );
  }

  /** Returns whether it was there. */
  drop(line: string, caseId: string): boolean {
    return this.#sql.exec("DELETE FROM suite WHERE line = ? AND case_id = ? RETURNING 1", line, caseId).toArray().length > 0;
  }

  /** Returns how many there were. */
  eraseUser(line: string, user: string): number {
    return this.#sql.exec("DELETE FROM suite WHERE line = ? AND user = ? RETURNING 1", line, user).toArray().length;
  }

  /** Keeps the newest cases of corrections. */
  trim(line: string): void {
    this.#sql.exec(
      `DELETE FROM suite WHERE line = ?1 AND source = 'correction' AND position NOT IN (
        SELECT position FROM suite WHERE line = ?1 AND source = 'correction' ORDER BY position DESC LIMIT ?2)`,
      ...[line, MOST_CASES],
    );
  }
}
