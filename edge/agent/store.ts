/** An AgentObject's SQLite: its settings, its lines, their versions, and the audit trail. What a deletion does not take stays for good. */
import type { AuditPart, AuditRow, ListedVersion } from "../../shared/api.ts";
import { z } from "zod";
import { Agent, type AgentSettings } from "../../shared/agent.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { PolicyVersion, RefusedEvent, ServedPolicy, SHARED_LINE } from "../../shared/policy.ts";
import { VERSION_STATUSES, type VersionStatus } from "../../shared/release.ts";
import { addColumn, hasTable } from "../sqlite.ts";
import { CreditStore } from "./credit-store.ts";
import { DefaultStore } from "./default-store.ts";
import { EngineStore } from "./engine-store.ts";
import { EvidenceStore } from "./evidence-store.ts";
import { LeaseStore } from "./lease-store.ts";
import { NoteStore } from "./note-store.ts";
import type { AuditPage, LinePage, Page } from "./port.ts";
import { QuarantineStore } from "./quarantine-store.ts";
import { RebuildStore } from "./rebuild-store.ts";
import type { LineState } from "./release.ts";
import { StandStore } from "./stand-store.ts";
import { SuiteStore } from "./suite-store.ts";
import { TrialStore } from "./trial-store.ts";

/** Parts of the audit trail, each with an index of its own: what people and versions did is drowned by what trainers and edge note down. */
const AUDITED: Readonly<Record<AuditPart, string>> = {
  people:
    "((actor >= 'admin:' AND actor < 'admin;') OR move NOT IN ('advance', 'create', 'engine', 'notes', 'quarantine', 'share', 'suite'))",
  refused: "refused <> '[]'",
};

const TABLES = `
  CREATE TABLE IF NOT EXISTS agent (id INTEGER PRIMARY KEY CHECK (id = 0), record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS lines (
    line TEXT PRIMARY KEY, stable INTEGER NOT NULL, latest INTEGER NOT NULL, cursor INTEGER NOT NULL, revision INTEGER NOT NULL,
    in_flight TEXT NOT NULL DEFAULT '{"canary":null,"waiting":[]}');
  CREATE TABLE IF NOT EXISTS versions (
    line TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'superseded',
    PRIMARY KEY (line, version)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, move TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT,
    from_version INTEGER, to_version INTEGER, cursor INTEGER NOT NULL, refused TEXT NOT NULL, created_at TEXT NOT NULL,
    versions TEXT NOT NULL DEFAULT '[]', changes TEXT NOT NULL DEFAULT '[]');
  CREATE INDEX IF NOT EXISTS audit_people ON audit (id) WHERE ${AUDITED.people};
  CREATE INDEX IF NOT EXISTS audit_refused ON audit (id) WHERE ${AUDITED.refused};
`;

/** What objects of earlier releases lack. */
const ADDED_COLUMNS = [
  {
    table: "lines",
    column: "in_flight",
    add: `ALTER TABLE lines ADD COLUMN in_flight TEXT NOT NULL DEFAULT '{"canary":null,"waiting":[]}'`,
  },
  {
    table: "versions",
    column: "status",
    add: `ALTER TABLE versions ADD COLUMN status TEXT NOT NULL DEFAULT 'superseded';
      UPDATE versions SET status = 'stable' WHERE EXISTS (SELECT 1 FROM lines WHERE lines.line = versions.line AND stable = version)`,
  },
  { table: "audit", column: "versions", add: "ALTER TABLE audit ADD COLUMN versions TEXT NOT NULL DEFAULT '[]'" },
  { table: "audit", column: "changes", add: "ALTER TABLE audit ADD COLUMN changes TEXT NOT NULL DEFAULT '[]'" },
];

const InFlight = z.object({
  canary: z.object({ version: z.number(), share: z.number(), since: z.string(), askedAt: z.string().nullable() }).nullable(),
  waiting: z.array(z.number()),
});

const Versions = z.array(z.number());
const Refused = z.array(RefusedEvent);
const Changes = z.array(z.object({ setting: z.string(), before: z.string().nullable(), after: z.string().nullable() }));

/** Of the rows of a page, in UTF-16 units: 100 of the largest that come in are more than an object may answer at once. */
const MOST_PAGE = 12_000_000;

type LineRow = { stable: number; latest: number; cursor: number; revision: number; in_flight: string };
type RecordRow = { record: string };
type VersionRow = RecordRow & { status: VersionStatus };
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
  versions: string;
  changes: string;
};

export class AgentStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly notes: NoteStore;
  readonly quarantine: QuarantineStore;
  readonly trials: TrialStore;
  readonly suite: SuiteStore;
  readonly evidence: EvidenceStore;
  readonly rebuilds: RebuildStore;
  readonly lease: LeaseStore;
  readonly credits: CreditStore;
  readonly defaults: DefaultStore;
  readonly engines: EngineStore;
  readonly stands: StandStore;
  #created: boolean;

  /** Writes nothing: an object asked for an agent that does not exist stays empty. */
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.notes = new NoteStore(storage.sql);
    this.quarantine = new QuarantineStore(storage.sql);
    this.trials = new TrialStore(storage.sql);
    this.suite = new SuiteStore(storage.sql);
    this.evidence = new EvidenceStore(storage.sql);
    this.rebuilds = new RebuildStore(storage.sql);
    this.lease = new LeaseStore(storage.sql);
    this.credits = new CreditStore(storage.sql);
    this.defaults = new DefaultStore(storage.sql);
    this.engines = new EngineStore(storage.sql);
    this.stands = new StandStore(storage.sql);
    this.#created = hasTable(this.#sql, "agent");
    if (this.#created) this.create();
  }

  /** Whatever is missing comes to exist: an object of an earlier release gets what came after it. */
  create(): void {
    this.#sql.exec(TABLES);
    for (const column of ADDED_COLUMNS) addColumn(this.#sql, column);
    // Every head asks which versions were taken back, and their records are long.
    this.#sql.exec("CREATE INDEX IF NOT EXISTS versions_status ON versions (line, status)");
    const known = hasTable(this.#sql, "event_uses");
    const parts = [
      this.notes,
      this.quarantine,
      this.trials,
      this.suite,
      this.evidence,
      this.rebuilds,
      this.lease,
      this.credits,
      this.defaults,
      this.engines,
      this.stands,
    ];
    for (const part of parts) part.create();
    // Of versions from before uses were kept, their records tell.
    if (!known) for (const line of this.lines()) for (const version of this.allVersions(line)) this.#addUses(version);
    this.#created = true;
  }

  #addUses({ line, version, events }: PolicyVersion): void {
    for (const { eventId, seq, user, turnId } of events) this.quarantine.addUse({ line, eventId, version, seq, user, turnId });
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

  /** Whether these are the agent's settings; undefined: whether it has none yet. */
  hasSettings(settings: AgentSettings | undefined): boolean {
    const known = this.readAgent()?.settings;
    return known === undefined || settings === undefined ? known === settings : canonicalJson(known) === canonicalJson(settings);
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

  /** Whether any line has a canary. */
  hasCanary(): boolean {
    return this.#sql.exec("SELECT 1 FROM lines WHERE json_extract(in_flight, '$.canary') IS NOT NULL LIMIT 1").toArray().length > 0;
  }

  /** The shared line, and those that have learned something, by name after `after`. */
  pageOfLines({ after = "", limit }: LinePage): (LineState & { line: string })[] {
    const query = `SELECT line FROM lines WHERE line > ?1 AND (line = ?3 OR EXISTS (
      SELECT 1 FROM versions WHERE versions.line = lines.line AND version > 0 AND status <> 'deleted')) ORDER BY line LIMIT ?2`;
    const names = this.#sql.exec<{ line: string }>(query, after, limit, SHARED_LINE).toArray();
    return names.flatMap(({ line }) => {
      const state = this.readLine(line);
      return state === undefined ? [] : [{ line, ...state }];
    });
  }

  readLine(line: string): LineState | undefined {
    if (!this.#created) return undefined;
    const query = "SELECT stable, latest, cursor, revision, in_flight FROM lines WHERE line = ?";
    const [row] = this.#sql.exec<LineRow>(query, line).toArray();
    if (row === undefined) return undefined;
    const { in_flight, ...state } = row;
    return { ...state, ...InFlight.parse(JSON.parse(in_flight)) };
  }

  writeLine(line: string, { stable, latest, cursor, revision, canary, waiting }: LineState): void {
    const inFlight = JSON.stringify({ canary, waiting });
    this.#sql.exec("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?, ?)", line, stable, latest, cursor, revision, inFlight);
  }

  readVersion(line: string, version: number): PolicyVersion | undefined {
    if (!this.#created) return undefined;
    const [row] = this.#sql.exec<RecordRow>("SELECT record FROM versions WHERE line = ? AND version = ?", line, version).toArray();
    return row === undefined ? undefined : PolicyVersion.parse(JSON.parse(row.record));
  }

  /** What a version answers with, without the rest of its record, which is long: asked for every request of a user who has one. */
  readServed(line: string, version: number): Omit<ServedPolicy, "onEngine"> | undefined {
    const fields = ["policyDigest", "baseDigest", "adapter"].map((name) => `'${name}', json_extract(record, '$.${name}')`);
    const query = `SELECT json_object(${fields.join(", ")}) AS record FROM versions WHERE line = ? AND version = ?`;
    const [row] = this.#sql.exec<RecordRow>(query, line, version).toArray();
    return row === undefined ? undefined : ServedPolicy.omit({ onEngine: true }).parse({ line, version, ...JSON.parse(row.record) });
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
  readVersions(line: string, { before = Number.MAX_SAFE_INTEGER, limit }: Page): ListedVersion[] {
    if (!this.#created) return [];
    const query = "SELECT record, status FROM versions WHERE line = ? AND version < ? ORDER BY version DESC LIMIT ?";
    return pageOf(this.#sql.exec<VersionRow>(query, line, before, limit), ({ record }) => record.length).map(({ record, status }) => ({
      ...PolicyVersion.parse(JSON.parse(record)),
      status,
    }));
  }

  /** A version as people are shown it. */
  readListed(line: string, version: number): ListedVersion | undefined {
    const found = this.readVersion(line, version);
    const status = found === undefined ? undefined : this.readStatus(line, version); // of an agent that is not, there are no rows to ask
    return found === undefined || status === undefined ? undefined : { ...found, status };
  }

  readStatus(line: string, version: number): VersionStatus | undefined {
    const query = "SELECT status FROM versions WHERE line = ? AND version = ?";
    const [row] = this.#sql.exec<{ status: string }>(query, line, version).toArray();
    return VERSION_STATUSES.find((status) => status === row?.status);
  }

  /** The versions that have one of the statuses, ascending. */
  versionsThatAre(line: string, ...statuses: readonly VersionStatus[]): number[] {
    const query = `SELECT version FROM versions WHERE line = ? AND status IN (${statuses.map(() => "?").join(", ")}) ORDER BY version`;
    return this.#sql
      .exec<{ version: number }>(query, line, ...statuses)
      .toArray()
      .map(({ version }) => version);
  }

  /** All versions of a line, ascending: for what has to look at each of them. */
  allVersions(line: string): PolicyVersion[] {
    return this.#sql
      .exec<RecordRow>("SELECT record FROM versions WHERE line = ? ORDER BY version", line)
      .toArray()
      .map(({ record }) => PolicyVersion.parse(JSON.parse(record)));
  }

  /** A version is immutable, but for what a deletion takes out of its record. */
  replaceRecord(line: string, version: PolicyVersion): void {
    this.#sql.exec("UPDATE versions SET record = ? WHERE line = ? AND version = ?", JSON.stringify(version), line, version.version);
  }

  /** Takes the reasons, which may quote, out of the audit rows of events. */
  eraseRefusals(eventIds: ReadonlySet<string>): void {
    for (const { id, refused } of this.#sql
      .exec<{ id: number; refused: string }>("SELECT id, refused FROM audit WHERE refused <> '[]'")
      .toArray()) {
      const entries = Refused.parse(JSON.parse(refused));
      const isErased = ({ eventId }: (typeof entries)[number]): boolean => eventIds.has(eventIdOf(eventId));
      if (!entries.some(isErased)) continue;
      const erased = entries.map((entry) => (isErased(entry) ? { ...entry, detail: "" } : entry));
      this.#sql.exec("UPDATE audit SET refused = ? WHERE id = ?", JSON.stringify(erased), id);
    }
  }

  /** Digests of the weights that no version has any more but deleted ones. */
  lostWeights(): string[] {
    const query = `
      SELECT json_extract(record, '$.adapter.weightsDigest') AS digest FROM versions WHERE status = 'deleted'
      EXCEPT SELECT json_extract(record, '$.adapter.weightsDigest') FROM versions WHERE status <> 'deleted'`;
    const rows = this.#sql.exec<{ digest: string | null }>(query).toArray();
    return rows.flatMap(({ digest }) => digest ?? []);
  }

  /** Digests of the weights of every version. */
  allWeights(): string[] {
    const query = "SELECT DISTINCT json_extract(record, '$.adapter.weightsDigest') AS digest FROM versions";
    const rows = this.#sql.exec<{ digest: string | null }>(query).toArray();
    return rows.flatMap(({ digest }) => digest ?? []);
  }

  /** Its tables are gone: there is no agent. */
  forget(): void {
    this.#created = false;
  }

  /** Whether a version has these weights that is not deleted. */
  hasWeights(digest: string): boolean {
    const query = "SELECT 1 FROM versions WHERE status <> 'deleted' AND json_extract(record, '$.adapter.weightsDigest') = ? LIMIT 1";
    return this.#sql.exec(query, digest).toArray().length > 0;
  }

  insertVersion(version: PolicyVersion, status: VersionStatus): void {
    this.#sql.exec("INSERT INTO versions VALUES (?, ?, ?, ?)", version.line, version.version, JSON.stringify(version), status);
  }

  setStatus(line: string, version: number, status: VersionStatus): void {
    this.#sql.exec("UPDATE versions SET status = ? WHERE line = ? AND version = ?", status, line, version);
  }

  insertAudit({ line, move, actor, reason, from, to, cursor, createdAt, ...lists }: Omit<AuditRow, "id">): void {
    const [refused, versions, changes] = [lists.refused, lists.versions, lists.changes].map((list) => JSON.stringify(list));
    const values = [line, move, actor, reason, from, to, cursor, refused, createdAt, versions, changes];
    this.#sql.exec("INSERT INTO audit VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ...values);
  }

  /** Newest first, below `before`: of everything, or of a part, of one line or one version. */
  readAudit({ before = Number.MAX_SAFE_INTEGER, limit, only, line, version }: AuditPage): AuditRow[] {
    if (!this.#created) return [];
    const wanted = [
      ["id < ?", before],
      ...(only === undefined ? [] : [[AUDITED[only]]]),
      ...(line === undefined ? [] : [["line = ?", line]]),
      ...(version === undefined ? [] : [["EXISTS (SELECT 1 FROM json_each(versions) WHERE value = ?)", version]]),
    ] as const;
    const where = wanted.map(([condition]) => condition).join(" AND ");
    const query = `SELECT * FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`;
    const rows = this.#sql.exec<AuditRecord>(query, ...wanted.flatMap(([, ...values]) => values), limit);
    return pageOf(rows, ({ refused }) => refused.length).map(({ from_version, to_version, created_at, ...row }) => ({
      ...row,
      from: from_version,
      to: to_version,
      versions: Versions.parse(JSON.parse(row.versions)),
      refused: Refused.parse(JSON.parse(row.refused)),
      changes: Changes.parse(JSON.parse(row.changes)),
      createdAt: created_at,
    }));
  }
}

/** The first rows, one at least, that are together no longer than a page; whoever wants more asks for what is before the last. */
function pageOf<Row>(rows: Iterable<Row>, lengthOf: (row: Row) => number): Row[] {
  const page: Row[] = [];
  let length = 0;
  for (const row of rows) {
    length += lengthOf(row);
    if (page.length > 0 && length > MOST_PAGE) break;
    page.push(row);
  }
  return page;
}
