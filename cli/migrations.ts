/**
 * Applies `migrations/*.sql` to a D1 database and writes wrangler's own ledger, `d1_migrations`, so that
 * `wrangler d1 migrations apply` and this runner agree on what has been applied.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { D1Database } from "@cloudflare/workers-types";

// The statement wrangler itself creates its ledger with.
const LEDGER = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Applies what is missing, with its ledger rows in one transaction: all of it or nothing; returns the names applied. */
export async function applyMigrations(db: D1Database, folder: string): Promise<string[]> {
  await db.prepare(LEDGER).run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const missing = (await migrationNames(folder)).filter((name) => !applied.has(name));
  if (missing.length === 0) return [];
  // A file of several statements is prepared as one: each statement that Node hands to Miniflare costs a request.
  const files = await Promise.all(missing.map((name) => readFile(join(folder, name), "utf8")));
  const rows = db.prepare(`INSERT INTO d1_migrations (name) VALUES ${missing.map(() => "(?)").join(", ")}`).bind(...missing);
  await db.batch([...files.map((sql) => db.prepare(sql)), rows]);
  return missing;
}

/** Of a folder's migrations, in the order in which they apply. */
export async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder);
  return entries.filter((name) => name.endsWith(".sql")).sort();
}
