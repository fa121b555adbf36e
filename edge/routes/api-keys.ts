/** /api/keys: who may ask, for which agents, how often, until when, and who made it so. A key is shown once, when it is made. */
import { z } from "zod";
import type { ListedKey, RevokedKey } from "../../shared/api.ts";
import { AppError } from "../../shared/errors.ts";
import { sha256 } from "../../shared/digest.ts";
import type { NewMove } from "../db/deployment-audit.ts";
import { insertKey, keysMadeBy, readKey, readKeys, revokeKeys, rotateKey, type KeyRow } from "../db/keys.ts";
import { KEY_KINDS, type KeyKind } from "../db/schema.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { forgetKey } from "../middleware/auth.ts";
import { randomHex } from "../session/identity.ts";
import { AgentPattern, covers } from "../scope.ts";
import { actorOf, found, queryOf } from "./params.ts";
import type { Context } from "hono";

const SECRET_BYTES = 24;
const ID_DIGITS = 12;
const MOST_DETAIL = 500; // characters of a key's agents in the audit

export const KeyRequest = z.strictObject({
  kind: z.enum(KEY_KINDS),
  name: z.string().min(1).max(100),
  /** Names of agents, or beginnings of names followed by `*`; left out: every agent that the asking key reaches. */
  agents: z.array(AgentPattern).min(1).max(100).optional(),
  expiresAt: z.iso.datetime().optional(),
  requestsPerMinute: z.number().int().min(1).max(1_000_000).optional(),
});

/** `made=true`: with the key, all that it has made, and what those have made. */
export const RevokeQuery = z.strictObject({ made: z.enum(["true", "false"]).default("false") });

export function mountKeys(app: App): void {
  app.get("/api/keys", async (context) => {
    const rows = await readKeys(context.env.DB);
    return context.json({ keys: rows.filter((row) => covers(context.var.key.agents, row.agents)).map(toListed) });
  });

  app.post("/api/keys", async (context) => {
    const request = await parseJson(context.req.raw, KeyRequest);
    const secret = newSecret(request.kind);
    const row = await newRow(context, request, secret);
    await insertKey(context.env.DB, row, moveOf(context, "makeKey", row));
    return context.json({ ...toListed(row), key: secret }, 201);
  });

  app.post("/api/keys/:key/rotate", async (context) => {
    const row = await requireKeyRow(context);
    if (row.revokedAt !== null)
      throw new AppError("input/invalid", `key ${row.id}: one that is not revoked expected; make a new one in its place`);
    await requireWithin(context, row);
    const secret = newSecret(row.kind);
    const rotated = { hash: await sha256(secret), rotatedAt: Date.now() };
    await rotateKey(context.env.DB, row.id, rotated, moveOf(context, "rotateKey", row));
    forgetKey(row.hash);
    return context.json({ ...toListed({ ...row, ...rotated }), key: secret });
  });

  app.delete("/api/keys/:key", async (context) => {
    const row = await requireKeyRow(context);
    const { made } = queryOf(context, RevokeQuery);
    const also = made === "true" ? await keysMadeBy(context.env.DB, row.id) : [];
    const revoked = await revoke(context, [row, ...also]);
    const isOwn = ({ id }: KeyRow): boolean => id === row.id;
    const own = toListed(found(revoked.all.find(isOwn), `key ${row.id}`));
    const others = revoked.now.filter((each) => !isOwn(each));
    return context.json({ ...own, also: others.map(toListed) } satisfies RevokedKey);
  });
}

/** A key as it was asked for, within what the asking key may. @throws {auth/forbidden} {input/invalid} naming what is over */
async function newRow(context: Context<AppEnv>, request: z.infer<typeof KeyRequest>, secret: string): Promise<KeyRow> {
  const own = context.var.key.agents;
  const agents = request.agents ?? own;
  if (!covers(own, agents === null ? null : [...agents]))
    throw new AppError("auth/forbidden", `agents: within ${own?.join(", ")} expected, got ${request.agents?.join(", ")}`, {
      details: { param: "agents" },
    });
  const expiresAt = request.expiresAt === undefined ? null : Date.parse(request.expiresAt);
  if (expiresAt !== null && expiresAt <= Date.now())
    throw new AppError("input/invalid", `expiresAt: a time to come expected, got ${request.expiresAt}`, {
      details: { param: "expiresAt" },
    });
  const asking = await readKey(context.env.DB, context.var.key.id);
  return {
    id: `key_${randomHex(ID_DIGITS)}`,
    kind: request.kind,
    hash: await sha256(secret),
    name: request.name,
    agents: agents === null ? null : [...agents],
    // No key makes another that lasts longer or may more than itself.
    expiresAt: lesser(expiresAt, asking?.expiresAt ?? null),
    requestsPerMinute: lesser(request.requestsPerMinute ?? null, asking?.requestsPerMinute ?? null),
    createdAt: Date.now(),
    rotatedAt: null,
    revokedAt: null,
    createdBy: context.var.key.id,
  };
}

/** Revokes those that are not yet. @returns `all` as they stand since, newest first, and of them those that were revoked `now` @throws {input/invalid} where the asking key is among them */
async function revoke(context: Context<AppEnv>, rows: readonly KeyRow[]): Promise<{ all: KeyRow[]; now: KeyRow[] }> {
  if (rows.some(({ id }) => id === context.var.key.id))
    throw new AppError(
      "input/invalid",
      `key ${rows[0]?.id}: another than the asking one${rows.length > 1 ? ", and than the one that made it," : ""} expected, lest nobody be left to ask`,
    );
  const open = rows.filter(({ revokedAt }) => revokedAt === null);
  await revokeKeys(
    context.env.DB,
    open.map((each) => moveOf(context, "revokeKey", each)),
  );
  for (const { hash } of open) forgetKey(hash);
  const all = (await readKeys(context.env.DB)).filter(({ id }) => rows.some((each) => each.id === id));
  return { all, now: all.filter(({ id }) => open.some((each) => each.id === id)) };
}

/** For the audit: what a key is, by its fields. */
function moveOf(context: Context<AppEnv>, move: NewMove["move"], { id, kind, name, agents }: KeyRow): NewMove {
  const reach = agents === null ? "every agent" : agents.join(", ").slice(0, MOST_DETAIL);
  return { move, actor: actorOf(context), subject: id, detail: `${kind} key ${name} of ${reach}`, agents, createdAt: Date.now() };
}

/** The key named in the path. @throws {input/notFound} also for one that is out of the asking key's scope */
async function requireKeyRow(context: Context<AppEnv>): Promise<KeyRow> {
  const { key: id } = parseWith(z.object({ key: z.string().min(1).max(100) }), context.req.param());
  const row = await readKey(context.env.DB, id);
  if (row !== undefined && covers(context.var.key.agents, row.agents)) return row;
  throw new AppError("input/notFound", `key ${id}: not found`);
}

/** Whoever rotates a key has its secret: one that lasts longer, or may more, is not to be had that way. @throws {auth/forbidden} */
async function requireWithin({ env, var: { key } }: Context<AppEnv>, row: KeyRow): Promise<void> {
  const asking = await readKey(env.DB, key.id);
  const [ends, limit] = [asking?.expiresAt ?? null, asking?.requestsPerMinute ?? null];
  if (lesser(ends, row.expiresAt) === row.expiresAt && lesser(limit, row.requestsPerMinute) === row.requestsPerMinute) return;
  throw new AppError("auth/forbidden", `key ${row.id}: one that lasts no longer and may no more than the asking one expected`);
}

/** Null is no bound. */
function lesser(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function toListed({ id, kind, name, agents, requestsPerMinute, createdAt, expiresAt, rotatedAt, revokedAt, createdBy }: KeyRow): ListedKey {
  const shown = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
  return {
    ...{ id, kind, name, agents, requestsPerMinute },
    createdAt: shown(createdAt),
    expiresAt: shown(expiresAt),
    rotatedAt: shown(rotatedAt),
    revokedAt: shown(revokedAt),
    createdBy,
  };
}

function newSecret(kind: KeyKind): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const text = btoa(String.fromCharCode(...bytes));
  return `nsk_${kind}_${text.replaceAll("+", "-").replaceAll("/", "_")}`;
}
