/**
 * Keys of three kinds, none of which opens another's routes. Only hashes are stored, and hashes are compared.
 * A revocation is seen within `FRESH_MS`; while D1 is down, keys that an isolate has seen go on working.
 */
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { Recent } from "../../shared/recent.ts";
import { keyLine, type KeyRow } from "../db/keys.ts";
import type { KeyKind } from "../db/schema.ts";
import type { Env, KeyLimit, Middleware } from "../env.ts";
import { logError } from "../log.ts";
import { loginOf } from "./login.ts";

const FRESH_MS = 1_000;
/** Hashes that an isolate remembers, unknown ones included, so that guessing costs no memory. */
const MAX_REMEMBERED = 1_000;

/** A key, and the limits that it is held to. */
type Known = { readonly row: KeyRow; readonly limits: readonly KeyLimit[] };
type Remembered = { known: Known | undefined; checkedAt: number };
const remembered = new Recent<string, Remembered>(MAX_REMEMBERED);

/** Lets a request pass that carries a key of the kind, or, where that is `admin`, a login. @throws {auth/missing} {auth/forbidden} */
export function requireKey(kind: KeyKind): Middleware {
  return async function requireKey(context, next) {
    const header = context.req.header("authorization");
    const login = kind === "admin" && header === undefined ? await loginOf(context) : undefined;
    const { row, limits } =
      login === undefined
        ? await keyOf(context.env, bearerOf(header, kind), { kind, path: context.req.path })
        : { row: live(login.key), limits: limitsOf(await keyLine(context.env.DB, { by: "id", is: login.key.id })) };
    const { id, name, agents } = row;
    context.set("key", { id, kind, name, agents, limits });
    await next();
  };
}

/** What is known of a key that opens routes of the kind. @throws {auth/missing} {auth/forbidden} */
export async function keyOf(env: Env, key: string, { kind, path }: { kind: KeyKind; path: string }): Promise<Known> {
  const known = await rowOfKey(env, key);
  if (known.row.kind === kind) return known;
  throw new AppError("auth/forbidden", `${path}: a key of kind ${kind} expected, got one of kind ${known.row.kind}`, {
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

async function rowOfKey(env: Env, key: string): Promise<Known> {
  const hash = await sha256(key);
  const known = await lookUp(env, hash);
  const row = live(known !== undefined && equal(known.row.hash, hash) ? known.row : undefined);
  return { row, limits: known?.limits ?? [] };
}

/**
 * Those of a key, then those of what it comes from: a key's is its own and that of all that it has made together, else making keys would be making requests.
 * Its own is the first, so that what one refuses takes nothing from the others.
 */
function limitsOf(line: readonly KeyRow[]): KeyLimit[] {
  return line.flatMap(({ id: keyId, requestsPerMinute }) => (requestsPerMinute === null ? [] : [{ keyId, requestsPerMinute }]));
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

async function lookUp(env: Env, hash: string): Promise<Known | undefined> {
  const before = remembered.get(hash);
  if (before !== undefined && Date.now() - before.checkedAt < FRESH_MS) return before.known;
  try {
    const line = await keyLine(env.DB, { by: "hash", is: hash });
    const known = line[0] && { row: line[0], limits: limitsOf(line) };
    remembered.set(hash, { known, checkedAt: Date.now() });
    return known;
  } catch (thrown) {
    logError("keys:unreachable", thrown);
    if (before?.known !== undefined) return before.known;
    throw new AppError("upstream/unreachable", "API key: cannot be checked now, try again", { cause: thrown });
  }
}

/** Compares in a time that does not depend on where the strings differ. */
function equal(left: string, right: string): boolean {
  const encoder = new TextEncoder();
  const [a, b] = [encoder.encode(left), encoder.encode(right)];
  return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
}
