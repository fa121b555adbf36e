/** The lease of an agent in its SQLite, and in memory who else asks for it. */
import type { LeaseAnswer } from "../../shared/lease.ts";
import { addColumn } from "../sqlite.ts";
import { endLease, grant, type KeyedRequest, leaseFault, NO_LEASE, type LeaseState } from "./lease.ts";

const TABLES = `CREATE TABLE IF NOT EXISTS lease (
  id INTEGER PRIMARY KEY CHECK (id = 0), token INTEGER NOT NULL, holder TEXT, ends_at INTEGER NOT NULL, key TEXT)`;

/** A trainer that asked in vain counts as waiting for so many leases' time. */
const WAITING_LEASES = 2;

type LeaseRow = { token: number; holder: string | null; ends_at: number; key: string | null };

export class LeaseStore {
  readonly #sql: SqlStorage;
  /** Trainers that asked in vain, by key and name, until when they count. A restart forgets them; they ask again within seconds. */
  readonly #waiting = new Map<string, { readonly key: string; readonly until: number }>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
    addColumn(this.#sql, { table: "lease", column: "key", add: "ALTER TABLE lease ADD COLUMN key TEXT" });
  }

  take(request: KeyedRequest, now: number): LeaseAnswer {
    const { next, answer } = grant(this.#read(), request, now);
    if (answer.status === "taken") {
      this.#waiting.set(idOf(request), { key: request.key, until: now + WAITING_LEASES * request.ttlMs });
      return answer;
    }
    this.#write(next);
    this.#waiting.delete(idOf(request));
    for (const [id, { until }] of this.#waiting) if (until <= now) this.#waiting.delete(id);
    return { ...answer, waiting: this.#waitingFor(request.key) };
  }

  last(): LeaseState {
    return this.#read();
  }

  /** No lease up to this one is given any more. */
  skip(token: number): void {
    this.#write({ ...NO_LEASE, token });
  }

  /** Whether it was the current one. */
  end(token: number, key: string): boolean {
    const state = this.#read();
    const next = endLease(state, token, key);
    if (next !== state) this.#write(next);
    return next !== state;
  }

  fault(token: number, key: string): string | undefined {
    return leaseFault(this.#read(), token, key);
  }

  /** Another key counts once: who made up names would have the holder give its other agents away. */
  #waitingFor(key: string): number {
    return new Set([...this.#waiting].map(([id, asked]) => (asked.key === key ? id : asked.key))).size;
  }

  #read(): LeaseState {
    const [row] = this.#sql.exec<LeaseRow>("SELECT token, holder, ends_at, key FROM lease").toArray();
    return row === undefined ? NO_LEASE : { token: row.token, holder: row.holder, key: row.key, endsAt: row.ends_at };
  }

  #write({ token, holder, key, endsAt }: LeaseState): void {
    const columns = "(id, token, holder, ends_at, key)";
    this.#sql.exec(`INSERT OR REPLACE INTO lease ${columns} VALUES (0, ?, ?, ?, ?)`, token, holder, endsAt, key);
  }
}

function idOf({ key, holder }: KeyedRequest): string {
  return JSON.stringify([key, holder]);
}
