/** The lease of an agent in its SQLite, and in memory who else asks for it. */
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import { endLease, grant, leaseFault, NO_LEASE, type LeaseState } from "./lease.ts";

const TABLES = `CREATE TABLE IF NOT EXISTS lease (
  id INTEGER PRIMARY KEY CHECK (id = 0), token INTEGER NOT NULL, holder TEXT, ends_at INTEGER NOT NULL)`;

/** A trainer that asked in vain counts as waiting for so many leases' time. */
const WAITING_LEASES = 2;

type LeaseRow = { token: number; holder: string | null; ends_at: number };

export class LeaseStore {
  readonly #sql: SqlStorage;
  /** Trainers that asked in vain, by name, until when they count. A restart forgets them; they ask again within seconds. */
  readonly #waiting = new Map<string, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  take(request: LeaseRequest, now: number): LeaseAnswer {
    const { next, answer } = grant(this.#read(), request, now);
    if (answer.status === "taken") {
      this.#waiting.set(request.holder, now + WAITING_LEASES * request.ttlMs);
      return answer;
    }
    this.#write(next);
    this.#waiting.delete(request.holder);
    for (const [name, until] of this.#waiting) if (until <= now) this.#waiting.delete(name);
    return { ...answer, waiting: this.#waiting.size };
  }

  /** Whether it was the current one. */
  end(token: number): boolean {
    const state = this.#read();
    const next = endLease(state, token);
    if (next !== state) this.#write(next);
    return next !== state;
  }

  fault(token: number): string | undefined {
    return leaseFault(this.#read(), token);
  }

  #read(): LeaseState {
    const [row] = this.#sql.exec<LeaseRow>("SELECT token, holder, ends_at FROM lease").toArray();
    return row === undefined ? NO_LEASE : { token: row.token, holder: row.holder, endsAt: row.ends_at };
  }

  #write({ token, holder, endsAt }: LeaseState): void {
    this.#sql.exec("INSERT OR REPLACE INTO lease VALUES (0, ?, ?, ?)", token, holder, endsAt);
  }
}
