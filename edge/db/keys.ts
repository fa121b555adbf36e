/** API keys: found by the hash of the key that was presented. */
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { keys } from "./schema.ts";

export type KeyRow = typeof keys.$inferSelect;

export async function findKey(database: D1Database, hash: string): Promise<KeyRow | undefined> {
  return drizzle(database).select().from(keys).where(eq(keys.hash, hash)).get();
}
