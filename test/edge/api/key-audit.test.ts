/** Who made which key, what was done with keys, and the end of what a key had made. */
import { expect, it } from "vitest";
import { call, type Answer } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

type Made = { id: string; key: string; name: string };

async function as(key: string, route: string, body?: unknown): Promise<Answer> {
  const [method = "GET", path] = route.split(" ");
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${edge.url}${path}`, { method, headers: bearer(key), ...sent });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

async function make(by: string, request: object): Promise<Made> {
  const { status, body } = await as(by, "POST /api/keys", { kind: "admin", ...request });
  expect(status).toBe(201);
  return body;
}

const told = async (by: string, query = ""): Promise<unknown[]> =>
  (await as(by, `GET /api/audit${query}`)).body.audit.map(({ move, actor, subject, detail }: Record<string, string>) => [
    move,
    actor,
    subject,
    detail,
  ]);
const revoked = async (): Promise<string[]> =>
  (await call(edge, "admin", "GET /api/keys")).body.keys
    .filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt !== null)
    .map(({ name }: Made) => name);

it("says who made a key, gave it another secret and revoked it", async () => {
  const maker = await make(edge.keys.admin, { name: "maker" });
  const made = await make(maker.key, { name: "made", kind: "client", agents: ["acme-*"] });
  await as(maker.key, `POST /api/keys/${made.id}/rotate`);
  await as(maker.key, `DELETE /api/keys/${made.id}`);
  await as(maker.key, `DELETE /api/keys/${made.id}`);
  const { keys } = (await call(edge, "admin", "GET /api/keys")).body;
  const own = keys.find(({ name, kind }: { name: string; kind: string }) => name === "local" && kind === "admin");
  expect(own.createdBy).toBe(null);
  const madeBy = Object.fromEntries(keys.map(({ name, createdBy }: { name: string; createdBy: string }) => [name, createdBy]));
  expect(madeBy).toMatchObject({ maker: own.id, made: maker.id });
  const detail = "client key made of acme-*";
  expect(await told(edge.keys.admin)).toEqual([
    ["revokeKey", `admin:${maker.id}`, made.id, detail],
    ["rotateKey", `admin:${maker.id}`, made.id, detail],
    ["makeKey", `admin:${maker.id}`, made.id, detail],
    ["makeKey", `admin:${own.id}`, maker.id, "admin key maker of every agent"],
  ]);
  expect(JSON.stringify(await told(edge.keys.admin))).not.toContain(made.key);
});

it("tells a tenant of keys within its own reach alone, page by page", async () => {
  const tenant = await make(edge.keys.admin, { name: "tenant", agents: ["ten-*"] });
  const first = await make(tenant.key, { name: "first" });
  await make(edge.keys.admin, { name: "wide", agents: ["ten-*", "other"] });
  const second = await make(tenant.key, { name: "second", agents: ["ten-a"] });
  const { audit } = (await as(tenant.key, "GET /api/audit?limit=2")).body;
  expect(audit.map(({ subject }: { subject: string }) => subject)).toEqual([second.id, first.id]);
  const rest = (await as(tenant.key, `GET /api/audit?limit=2&before=${audit[1].id}`)).body.audit;
  expect(rest.map(({ subject }: { subject: string }) => subject)).toEqual([tenant.id]);
});

it("revokes with a key all that it has made, and what those have made, where that is asked for", async () => {
  const top = await make(edge.keys.admin, { name: "top" });
  const middle = await make(top.key, { name: "middle" });
  const bottom = await make(middle.key, { name: "bottom", kind: "client" });
  const beside = await make(edge.keys.admin, { name: "beside" });
  const self = await as(bottom.key, "GET /api/keys");
  expect(self.status).toBe(403);
  const own = await as(middle.key, `DELETE /api/keys/${top.id}?made=true`);
  expect([own.status, own.body.error.message]).toEqual([
    400,
    `key ${top.id}: another than the asking one, and than the one that made it, expected, lest nobody be left to ask`,
  ]);
  const alone = await as(edge.keys.admin, `DELETE /api/keys/${top.id}`);
  expect([alone.status, alone.body.also]).toEqual([200, []]);
  expect((await as(middle.key, "GET /api/keys")).status).toBe(200);
  expect((await as(edge.keys.admin, `DELETE /api/keys/${top.id}?made=yes`)).status).toBe(400);
  const all = await as(edge.keys.admin, `DELETE /api/keys/${top.id}?made=true`);
  expect(all.body.also.map(({ name, revokedAt }: { name: string; revokedAt: string }) => [name, revokedAt])).toEqual([
    ["bottom", expect.any(String)],
    ["middle", expect.any(String)],
  ]);
  expect(all.body.revokedAt).toBe(alone.body.revokedAt);
  for (const each of [middle, bottom]) expect((await as(each.key, "GET /v1/models")).status).toBe(401);
  expect((await as(beside.key, "GET /api/keys")).status).toBe(200);
  expect(await revoked()).toEqual(expect.arrayContaining(["top", "middle", "bottom"]));
  expect(await revoked()).not.toContain("beside");
});

it("says what a change of settings changed, over the API", async () => {
  await call(edge, "admin", "PUT /api/agents/changed", { instructions: "Be brief." });
  await call(edge, "admin", "PATCH /api/agents/changed", { instructions: "Be kind.", learning: { votes: 5 } });
  await call(edge, "admin", "POST /api/agents/changed/pause");
  const { audit } = (await call(edge, "admin", "GET /api/agents/changed/audit?only=people")).body;
  expect(audit.map(({ move, changes }: { move: string; changes: unknown }) => [move, changes])).toEqual([
    ["settings", [{ setting: "learning.enabled", before: "true", after: "false" }]],
    [
      "settings",
      [
        { setting: "instructions", before: '"Be brief."', after: '"Be kind."' },
        { setting: "learning.votes", before: expect.any(String), after: "5" },
      ],
    ],
    ["create", []],
  ]);
});
