/**
 * Logins by cookie, for the dashboard alone. The cookie is HttpOnly and SameSite=Strict; what changes something has to carry
 * `x-csrf-token` besides, which only a page of this origin can have read (OWASP, "Cross-Site Request Forgery Prevention", the
 * synchronizer token pattern, with the token derived from the login).
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Login } from "../../shared/api.ts";
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import type { KeyRow } from "../db/keys.ts";
import { deleteLogin, findLogin, insertLogin } from "../db/logins.ts";
import type { AppEnv } from "../env.ts";
import { randomHex, scopedUser } from "../session/identity.ts";

const COOKIE = "nextstate_login";
const TOKEN_DIGITS = 64;
const LASTS_MS = 12 * 3_600_000;
const READS = new Set(["GET", "HEAD"]);

type LoggedIn = { readonly key: KeyRow; readonly login: Login };

/** The key that the cookie stands for; undefined where there is no cookie. @throws {auth/missing} {auth/forbidden} */
export async function loginOf(context: Context<AppEnv>): Promise<LoggedIn | undefined> {
  const token = getCookie(context, cookieOf(context.req.url).name);
  if (token === undefined) return undefined;
  const found = await findLogin(context.env.DB, await sha256(token));
  if (found === undefined || found.login.expiresAt <= Date.now() || found.key.revokedAt !== null)
    throw new AppError("auth/missing", "login: one that has not ended expected; log in again with an admin key", {
      details: { code: "login_ended" },
    });
  const csrf = await csrfOf(token);
  const given = context.req.header("x-csrf-token");
  if (!READS.has(context.req.method) && given !== csrf)
    throw new AppError(
      "auth/forbidden",
      `x-csrf-token: the one that GET /api/login tells expected, got ${given === undefined ? "none" : "another"}`,
      {
        details: { code: "csrf" },
      },
    );
  return { key: found.key, login: await toLogin(found.key, csrf, found.login.expiresAt) };
}

export async function beginLogin(context: Context<AppEnv>, key: KeyRow): Promise<Login> {
  const token = randomHex(TOKEN_DIGITS);
  const createdAt = Date.now();
  const expiresAt = Math.min(createdAt + LASTS_MS, key.expiresAt ?? Number.POSITIVE_INFINITY);
  await insertLogin(context.env.DB, { hash: await sha256(token), keyHash: key.hash, createdAt, expiresAt });
  const { name, ...attributes } = cookieOf(context.req.url);
  setCookie(context, name, token, { ...attributes, maxAge: Math.ceil((expiresAt - createdAt) / 1_000) });
  return toLogin(key, await csrfOf(token), expiresAt);
}

export async function endLogin(context: Context<AppEnv>): Promise<void> {
  const { name, ...attributes } = cookieOf(context.req.url);
  const token = getCookie(context, name);
  if (token !== undefined) await deleteLogin(context.env.DB, await sha256(token));
  deleteCookie(context, name, attributes);
}

/** Over https, `__Host-`: no other host of the domain, and nobody on the way, can have set it (RFC 6265bis §4.1.3). */
export function cookieOf(url: string) {
  const secure = new URL(url).protocol === "https:";
  return { name: secure ? `__Host-${COOKIE}` : COOKIE, httpOnly: true, sameSite: "Strict", path: "/", secure } as const;
}

async function toLogin({ id, name, agents }: KeyRow, csrf: string, expiresAt: number): Promise<Login> {
  return { key: { id, name, agents }, user: await scopedUser(id, undefined), csrf, expiresAt: new Date(expiresAt).toISOString() };
}

function csrfOf(token: string): Promise<string> {
  return sha256(`csrf\n${token}`);
}
