/** API keys: found by the hash of the key that was presented. */
import { desc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
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

export async function insertKey(database: D1Database, row: KeyRow): Promise<void> {
  await drizzle(database).insert(keys).values(row);
}

/** The key gets another secret and stays who it is: its users and sessions go on. */
export async function rotateKey(database: D1Database, id: string, { hash, rotatedAt }: { hash: string; rotatedAt: number }): Promise<void> {
  await drizzle(database).update(keys).set({ hash, rotatedAt }).where(eq(keys.id, id));
}

export async function revokeKey(database: D1Database, id: string, revokedAt: number): Promise<void> {
  await drizzle(database).update(keys).set({ revokedAt }).where(eq(keys.id, id));
}
