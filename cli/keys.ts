/** One key of each kind for a local system: plain in `keys.json` for its owner, hashed in D1 for the Worker. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { D1Database } from "@cloudflare/workers-types";
import { z } from "zod";
import { sha256 } from "../shared/digest.ts";

const KEY_KINDS = ["client", "admin", "trainer"] as const;

const LocalKeys = z.object({ client: z.string(), admin: z.string(), trainer: z.string() });
export type LocalKeys = z.infer<typeof LocalKeys>;

export function keysFile(stateFolder: string): string {
  return join(stateFolder, "keys.json");
}

/** The keys of a state folder. @throws where the file is missing or not of this shape */
export async function readKeys(stateFolder: string): Promise<LocalKeys> {
  return LocalKeys.parse(JSON.parse(await readFile(keysFile(stateFolder), "utf8")));
}

/** As they stand in the file now; undefined while it is being written. */
export function readKeysNow(stateFolder: string): LocalKeys | undefined {
  try {
    return LocalKeys.parse(JSON.parse(readFileSync(keysFile(stateFolder), "utf8")));
  } catch {
    return undefined;
  }
}

/** Reads the keys, or makes them on the first start, and makes sure that D1 knows them. */
export async function ensureKeys(stateFolder: string, db: D1Database): Promise<LocalKeys> {
  const keys = await readOrCreateKeys(stateFolder);
  const rows = await keyRows(keys, { name: "local", at: Date.now() });
  await db.batch(rows.map((row) => db.prepare(`${INSERT} (?, ?, ?, ?, ?)`).bind(...row)));
  return keys;
}

/** Reads the keys of a folder, or makes them where it has none. */
export async function readOrCreateKeys(stateFolder: string): Promise<LocalKeys> {
  return readKeys(stateFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return createKeys(stateFolder);
    throw error;
  });
}

/** The same for a database that takes SQL as text: hashes, never the keys. */
export async function keyStatements(keys: LocalKeys, named: { name: string; at: number }): Promise<string> {
  const rows = await keyRows(keys, named);
  // Ids, kinds, hashes and the name hold no quotes.
  return rows.map((row) => `${INSERT} (${row.map((value) => (typeof value === "number" ? value : `'${value}'`)).join(", ")});`).join(" ");
}

const INSERT = "INSERT OR IGNORE INTO keys (id, kind, hash, name, created_at) VALUES";

function keyRows(keys: LocalKeys, { name, at }: { name: string; at: number }): Promise<(string | number)[][]> {
  return Promise.all(
    KEY_KINDS.map(async (kind) => {
      const hash = await sha256(keys[kind]);
      return [`key_${hash.slice(0, 12)}`, kind, hash, name, at];
    }),
  );
}

async function createKeys(stateFolder: string): Promise<LocalKeys> {
  const keys: LocalKeys = { client: newKey("client"), admin: newKey("admin"), trainer: newKey("trainer") };
  const draft = `${keysFile(stateFolder)}.new`;
  await writeFile(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, keysFile(stateFolder));
  return keys;
}

function newKey(kind: (typeof KEY_KINDS)[number]): string {
  return `nsk_${kind}_${randomBytes(24).toString("base64url")}`;
}
