/** One key of each kind for a local system: plain in `keys.json` for its owner, hashed in D1 for the Worker. */
import { randomBytes } from "node:crypto";
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

/** Reads the keys, or makes them on the first start, and makes sure that D1 knows them. */
export async function ensureKeys(stateFolder: string, db: D1Database): Promise<LocalKeys> {
  const keys = await readKeys(stateFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return createKeys(stateFolder);
    throw error;
  });
  await db.batch(await Promise.all(KEY_KINDS.map((kind) => insertKey(db, kind, keys[kind]))));
  return keys;
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

async function insertKey(db: D1Database, kind: string, key: string) {
  const hash = await sha256(key);
  return db
    .prepare("INSERT OR IGNORE INTO keys (id, kind, hash, name, created_at) VALUES (?, ?, ?, ?, ?)")
    .bind(`key_${hash.slice(0, 12)}`, kind, hash, "local", Date.now());
}
