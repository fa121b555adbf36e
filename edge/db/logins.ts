/** Logins of people at the dashboard: found by the hash of what the cookie holds, together with their key. */
import { eq, lte } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { type KeyRow } from "./keys.ts";
import { keys, logins } from "./schema.ts";

export type LoginRow = typeof logins.$inferSelect;

/** The login with its key as it is now; undefined where either is gone, or the key has another secret. */
export async function findLogin(database: D1Database, hash: string): Promise<{ login: LoginRow; key: KeyRow } | undefined> {
  return drizzle(database)
    .select({ login: logins, key: keys })
    .from(logins)
    .innerJoin(keys, eq(keys.hash, logins.keyHash))
    .where(eq(logins.hash, hash))
    .get();
}

/** Takes those that have expired away with it. */
export async function insertLogin(database: D1Database, row: LoginRow): Promise<void> {
  const db = drizzle(database);
  await db.batch([db.delete(logins).where(lte(logins.expiresAt, row.createdAt)), db.insert(logins).values(row)]);
}

export async function deleteLogin(database: D1Database, hash: string): Promise<void> {
  await drizzle(database).delete(logins).where(eq(logins.hash, hash));
}
