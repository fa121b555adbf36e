/** API keys: found by the hash of the key that was presented. What is done with them is audited in the same transaction. */
import { and, asc, desc, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch } from "./batch.ts";
import { auditStatement, type NewMove } from "./deployment-audit.ts";
import { keys } from "./schema.ts";

export type KeyRow = typeof keys.$inferSelect;

export async function findKey(database: D1Database, hash: string): Promise<KeyRow | undefined> {
  return drizzle(database).select().from(keys).where(eq(keys.hash, hash)).get();
}

export async function readKey(database: D1Database, id: string): Promise<KeyRow | undefined> {
  return drizzle(database).select().from(keys).where(eq(keys.id, id)).get();
}

/** Newest first. */
export async function readKeys(database: D1Database): Promise<KeyRow[]> {
  return drizzle(database).select().from(keys).orderBy(desc(keys.createdAt), keys.id);
}

export async function insertKey(database: D1Database, row: KeyRow, audit: NewMove): Promise<void> {
  await runBatch(database, [drizzle(database).insert(keys).values(row), auditStatement(database, audit)]);
}

/** The key gets another secret and stays who it is: its users and sessions go on. */
export async function rotateKey(
  database: D1Database,
  id: string,
  { hash, rotatedAt }: { hash: string; rotatedAt: number },
  audit: NewMove,
): Promise<void> {
  const rotated = drizzle(database).update(keys).set({ hash, rotatedAt }).where(eq(keys.id, id));
  await runBatch(database, [rotated, auditStatement(database, audit)]);
}

/** Revokes keys, one audit row for each; one that was revoked before stays so since then. */
export async function revokeKeys(database: D1Database, moves: readonly (NewMove & { readonly subject: string })[]): Promise<void> {
  const statements = moves.flatMap((move) => {
    const own = and(eq(keys.id, move.subject), isNull(keys.revokedAt));
    return [drizzle(database).update(keys).set({ revokedAt: move.createdAt }).where(own), auditStatement(database, move)];
  });
  if (statements.length > 0) await runBatch(database, statements);
}

/** What a key has made, and what those have made, and so on; newest first. */
export async function keysMadeBy(database: D1Database, id: string): Promise<KeyRow[]> {
  const made = sql`${keys.id} IN (WITH RECURSIVE made (id) AS (
    SELECT id FROM keys WHERE created_by = ${id} UNION SELECT keys.id FROM keys JOIN made ON keys.created_by = made.id) SELECT id FROM made)`;
  return drizzle(database).select().from(keys).where(made).orderBy(desc(keys.createdAt), keys.id);
}

/** The keys that a key comes from, revoked ones among them: what made it, what made that, and so on; oldest first. */
export async function makersOf(database: D1Database, { createdBy }: Pick<KeyRow, "createdBy">): Promise<KeyRow[]> {
  if (createdBy === null) return [];
  const above = sql`${keys.id} IN (WITH RECURSIVE above (id) AS (
    SELECT ${createdBy} UNION SELECT keys.created_by FROM keys JOIN above ON keys.id = above.id) SELECT id FROM above)`;
  return drizzle(database).select().from(keys).where(above).orderBy(asc(keys.createdAt), keys.id);
}
