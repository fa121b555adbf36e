/** The cases of an agent's suite in its object's SQLite: what people wrote, and of each version what it has learned. */
import { Expectation, SuiteCase } from "../../shared/suite.ts";
import { hasTable } from "../sqlite.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS suite_cases (
    position INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, case_id TEXT NOT NULL, source TEXT NOT NULL, user TEXT,
    version INTEGER, record TEXT NOT NULL, UNIQUE (line, case_id, version));
  CREATE INDEX IF NOT EXISTS suite_cases_user ON suite_cases (line, user) WHERE user IS NOT NULL;
`;

/** The table of earlier releases, which knew of a case only the last version that learned it. */
const TAKE_OVER = `
  INSERT INTO suite_cases SELECT position, line, case_id, source, user, version, record FROM suite;
  DROP TABLE suite;
`;

/** Most cases of corrections, and most that people wrote: each is answered twice for every candidate. */
export const MOST_CASES = 100;
/** Of what people wrote, as JSON: trainer and dashboard are told of all cases at once, and a call between objects carries 32 MiB. */
export const MOST_CHARACTERS = 8_388_608;

type Row = { position: number; version: number | null; record: string };
type LearnedRow = { position: number; version: number; expect: string };

/** What a version has learned, by its place in the order of learning. */
export type KeptCase = { readonly position: number; readonly version: number; readonly expect: Expectation };

export class SuiteStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
    if (hasTable(this.#sql, "suite")) this.#sql.exec(TAKE_OVER);
  }

  /** Oldest first: what people wrote and what any of the versions has learned, once for each that has. */
  read(line: string, versions: ReadonlySet<number>): SuiteCase[] {
    return this.#sql
      .exec<Row>("SELECT position, version, record FROM suite_cases WHERE line = ? ORDER BY position", line)
      .toArray()
      .filter(({ version }) => version === null || versions.has(version))
      .map(({ record }) => SuiteCase.parse(JSON.parse(record)));
  }

  /** All that was learned, oldest first. */
  learned(line: string): KeptCase[] {
    const query = `SELECT position, version, json_extract(record, '$.expect') AS expect FROM suite_cases
      WHERE line = ? AND source = 'correction' ORDER BY position`;
    return this.#sql
      .exec<LearnedRow>(query, line)
      .toArray()
      .map(({ expect, ...row }) => ({ ...row, expect: Expectation.parse(JSON.parse(expect)) }));
  }

  count(line: string, source: SuiteCase["source"]): number {
    const query = "SELECT count(*) AS cases FROM suite_cases WHERE line = ? AND source = ?";
    return this.#sql.exec<{ cases: number }>(query, line, source).one().cases;
  }

  /** Characters of what people wrote, but for one case. */
  writtenCharacters(line: string, besides: string): number {
    const query =
      "SELECT coalesce(sum(length(record)), 0) AS characters FROM suite_cases WHERE line = ? AND source = 'person' AND case_id <> ?";
    return this.#sql.exec<{ characters: number }>(query, line, besides).one().characters;
  }

  isWritten(line: string, caseId: string): boolean {
    const query = "SELECT 1 FROM suite_cases WHERE line = ? AND case_id = ? AND source = 'person'";
    return this.#sql.exec(query, line, caseId).toArray().length > 0;
  }

  /** A case that the version has learned already, or a person has written, becomes the newest. */
  put(line: string, suiteCase: SuiteCase): void {
    const { caseId, source, user, version } = suiteCase;
    this.#sql.exec("DELETE FROM suite_cases WHERE line = ? AND case_id = ? AND version IS ?", line, caseId, version);
    this.#sql.exec(
      "INSERT INTO suite_cases (line, case_id, source, user, version, record) VALUES (?, ?, ?, ?, ?, ?)",
      ...[line, caseId, source, user, version, JSON.stringify(suiteCase)],
    );
  }

  /** Whoever wrote or learned it. Returns whether it was there. */
  drop(line: string, caseId: string): boolean {
    return this.#sql.exec("DELETE FROM suite_cases WHERE line = ? AND case_id = ? RETURNING 1", line, caseId).toArray().length > 0;
  }

  forget(cases: readonly KeptCase[]): void {
    for (const { position } of cases) this.#sql.exec("DELETE FROM suite_cases WHERE position = ?", position);
  }

  /** Returns how many there were, however many versions had learned them. */
  eraseUser(line: string, user: string): number {
    const query = "DELETE FROM suite_cases WHERE line = ? AND user = ? RETURNING case_id";
    const rows = this.#sql.exec<{ case_id: string }>(query, line, user).toArray();
    return new Set(rows.map(({ case_id }) => case_id)).size;
  }
}
