/** API keys: found by the hash of the key that was presented. What is done with them is audited in the same transaction. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch } from "./batch.ts";
import { auditStatement, type NewMove } from "./deployment-audit.ts";
import { keys } from "./schema.ts";

export type KeyRow = typeof keys.$inferSelect;

/** A key, what made it, what made that, and so on, revoked ones among them; none where there is no such key. */
export async function keyLine(database: D1Database, { by, is }: { by: "hash" | "id"; is: string }): Promise<KeyRow[]> {
  const line = sql`${keys.id} IN (WITH RECURSIVE line (id, maker) AS (
    SELECT id, created_by FROM keys WHERE ${keys[by]} = ${is}
    UNION SELECT keys.id, keys.created_by FROM keys JOIN line ON keys.id = line.maker) SELECT id FROM line)`;
  const rows = await drizzle(database).select().from(keys).where(line);
  const found: KeyRow[] = [];
  for (let key = rows.find((row) => row[by] === is); key !== undefined; key = makerOf(key, rows)) found.push(key);
  return found;
}

function makerOf({ createdBy }: KeyRow, rows: readonly KeyRow[]): KeyRow | undefined {
  return rows.find(({ id }) => id === createdBy);
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
