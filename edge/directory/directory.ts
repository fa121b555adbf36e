/**
 * A shard of the directory: transcript digest → sessions, request digest → the session that answers it.
 * Entries expire after a week: who comes back later begins a new session.
 */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { type Claim, type DirectoryPort, KEEP_MS, type KnownSession } from "./port.ts";

const SWEEP_MS = 3_600_000; // entries live up to an hour longer, and a shard wakes once an hour at most

const TABLES = [
  `CREATE TABLE IF NOT EXISTS transcripts (digest TEXT NOT NULL, name TEXT NOT NULL, open INTEGER NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (digest, name))`,
  `CREATE TABLE IF NOT EXISTS claims (digest TEXT PRIMARY KEY, name TEXT NOT NULL, request_digest TEXT NOT NULL, expires_at INTEGER NOT NULL)`,
  // The sweep.
  `CREATE INDEX IF NOT EXISTS transcripts_expiry ON transcripts (expires_at)`,
  `CREATE INDEX IF NOT EXISTS claims_expiry ON claims (expires_at)`,
];

export class DirectoryObject extends DurableObject<Env> implements DirectoryPort {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    for (const statement of TABLES) this.#sql.exec(statement);
  }

  async lookup(digest: string): Promise<KnownSession[]> {
    // One or several is all that is asked, and among several the open ones count: two rows tell.
    const rows = this.#sql.exec<{ name: string; open: number }>(
      "SELECT name, open FROM transcripts WHERE digest = ? ORDER BY open DESC, expires_at LIMIT 2",
      digest,
    );
    return rows.toArray().map(({ name, open }) => ({ name, open: open === 1 }));
  }

  async register(digest: string, { name, open }: KnownSession): Promise<void> {
    this.#sql.exec(
      "INSERT OR REPLACE INTO transcripts (digest, name, open, expires_at) VALUES (?, ?, ?, ?)",
      digest,
      name,
      open ? 1 : 0,
      await this.#expiry(),
    );
  }

  async forget(digest: string, name: string): Promise<void> {
    this.#sql.exec("DELETE FROM transcripts WHERE digest = ? AND name = ?", digest, name);
  }

  async claim(digest: string, claim: Claim): Promise<Claim> {
    const held = this.#claimOf(digest);
    return held ?? this.#put(digest, claim);
  }

  async replace(digest: string, expected: string, claim: Claim): Promise<Claim> {
    const held = this.#claimOf(digest);
    return held === undefined || held.name === expected ? this.#put(digest, claim) : held;
  }

  async withdraw(digest: string, { name, requestDigest }: Claim): Promise<void> {
    this.#sql.exec("DELETE FROM claims WHERE digest = ? AND name = ? AND request_digest = ?", digest, name, requestDigest);
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const table of ["transcripts", "claims"]) this.#sql.exec(`DELETE FROM ${table} WHERE expires_at <= ?`, now);
    const [left] = this.#sql.exec("SELECT 1 FROM transcripts UNION ALL SELECT 1 FROM claims LIMIT 1").toArray();
    if (left !== undefined) await this.ctx.storage.setAlarm(now + SWEEP_MS);
  }

  #claimOf(digest: string): Claim | undefined {
    const rows = this.#sql
      .exec<{ name: string; request_digest: string }>("SELECT name, request_digest FROM claims WHERE digest = ?", digest)
      .toArray();
    return rows.map(({ name, request_digest: requestDigest }) => ({ name, requestDigest }))[0];
  }

  /** Synchronous up to the write, so that of two callers one is first. */
  async #put(digest: string, claim: Claim): Promise<Claim> {
    this.#sql.exec(
      "INSERT OR REPLACE INTO claims (digest, name, request_digest, expires_at) VALUES (?, ?, ?, ?)",
      digest,
      claim.name,
      claim.requestDigest,
      Date.now() + KEEP_MS,
    );
    await this.#expiry();
    return claim;
  }

  /** When an entry made now expires; a sweep is planned. */
  async #expiry(): Promise<number> {
    const now = Date.now();
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(now + SWEEP_MS);
    return now + KEEP_MS;
  }
}
