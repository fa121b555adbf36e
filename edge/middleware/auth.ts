/**
 * Keys of three kinds, none of which opens another's routes. Only hashes are stored, and hashes are compared.
 * A revocation is seen within `FRESH_MS`; while D1 is down, keys that an isolate has seen go on working.
 */
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { Recent } from "../../shared/recent.ts";
import { findKey, type KeyRow } from "../db/keys.ts";
import type { KeyKind } from "../db/schema.ts";
import type { Env, Middleware } from "../env.ts";
import { logError } from "../log.ts";
import { loginOf } from "./login.ts";

const FRESH_MS = 1_000;
/** Hashes that an isolate remembers, unknown ones included, so that guessing costs no memory. */
const MAX_REMEMBERED = 1_000;

type Remembered = { row: KeyRow | undefined; checkedAt: number };
const remembered = new Recent<string, Remembered>(MAX_REMEMBERED);

/** Lets a request pass that carries a key of the kind, or, where that is `admin`, a login. @throws {auth/missing} {auth/forbidden} */
export function requireKey(kind: KeyKind): Middleware {
  return async function requireKey(context, next) {
    const header = context.req.header("authorization");
    const login = kind === "admin" && header === undefined ? await loginOf(context) : undefined;
    const row = login === undefined ? await keyOf(context.env, bearerOf(header, kind), { kind, path: context.req.path }) : live(login.key);
    const { id, name, agents, requestsPerMinute } = row;
    context.set("key", { id, kind, name, agents, requestsPerMinute });
    await next();
  };
}

/** What is known of a key that opens routes of the kind. @throws {auth/missing} {auth/forbidden} */
export async function keyOf(env: Env, key: string, { kind, path }: { kind: KeyKind; path: string }): Promise<KeyRow> {
  const row = await rowOfKey(env, key);
  if (row.kind === kind) return row;
  throw new AppError("auth/forbidden", `${path}: a key of kind ${kind} expected, got one of kind ${row.kind}`, {
    details: { code: "wrong_key_kind" },
  });
}

/** Forgets what is known of a key, so that this isolate asks again: for whoever has just changed it. */
export function forgetKey(hash: string): void {
  remembered.delete(hash);
}

function bearerOf(header: string | undefined, kind: KeyKind): string {
  const [, key] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  if (key !== undefined) return key;
  throw new AppError(
    "auth/missing",
    `authorization header: "Bearer <${kind} key>" expected, got ${header === undefined ? "none" : "another form"}`,
  );
}

async function rowOfKey(env: Env, key: string): Promise<KeyRow> {
  const hash = await sha256(key);
  const row = await lookUp(env, hash);
  return live(row !== undefined && equal(row.hash, hash) ? row : undefined);
}

/** @throws {auth/missing} where the key is unknown, revoked or expired */
function live(row: KeyRow | undefined): KeyRow {
  if (row === undefined || row.revokedAt !== null)
    throw new AppError("auth/missing", "API key: a known one that is not revoked expected, got another", {
      details: { code: "invalid_api_key" },
    });
  if (row.expiresAt !== null && row.expiresAt <= Date.now())
    throw new AppError(
      "auth/missing",
      `API key: one that has not expired expected, got one that did at ${new Date(row.expiresAt).toISOString()}`,
      { details: { code: "expired_api_key" } },
    );
  return row;
}

async function lookUp(env: Env, hash: string): Promise<KeyRow | undefined> {
  const known = remembered.get(hash);
  if (known !== undefined && Date.now() - known.checkedAt < FRESH_MS) return known.row;
  try {
    const row = await findKey(env.DB, hash);
    remembered.set(hash, { row, checkedAt: Date.now() });
    return row;
  } catch (thrown) {
    logError("keys:unreachable", thrown);
    if (known?.row !== undefined) return known.row;
    throw new AppError("upstream/unreachable", "API key: cannot be checked now, try again", { cause: thrown });
  }
}

/** Compares in a time that does not depend on where the strings differ. */
function equal(left: string, right: string): boolean {
  const encoder = new TextEncoder();
  const [a, b] = [encoder.encode(left), encoder.encode(right)];
  return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
}
