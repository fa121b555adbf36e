/** Keys that people make: shown once, scoped, expiring, limited, rotated and revoked at once; tenants that try each other's doors. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, manifestOf, putAgent, type Answer } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));

type Made = { id: string; key: string };

async function make(request: object, by: string = edge.keys.admin): Promise<Made> {
  const { status, body } = await as(by, "POST /api/keys", { name: "test", ...request });
  expect(status).toBe(201);
  return body;
}

async function as(key: string, route: string, body?: unknown): Promise<Answer> {
  const [method = "GET", path] = route.split(" ");
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${edge.url}${path}`, { method, headers: bearer(key), ...sent });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const ask = (key: string, model: string): Promise<Answer> =>
  as(key, "POST /v1/chat/completions", { model, messages: [{ role: "user", content: "Hello" }], max_tokens: 1 });

describe("a key", () => {
  it("with a hundred agents, or one of the longest beginning, lists them", async () => {
    await putAgent(edge, "listed-agent");
    const agents = [...Array.from({ length: 99 }, (_, index) => `agent-${index}`), "listed-agent"];
    for (const scope of [agents, [`${"listed-agent".padEnd(62, "-x")}*`, "listed-*"]]) {
      const admin = await make({ kind: "admin", agents: scope });
      const { status, body } = await as(admin.key, "GET /api/agents");
      expect([status, body.agents.map(({ agent }: { agent: string }) => agent)]).toEqual([200, ["listed-agent"]]);
      const client = await make({ kind: "client", agents: scope });
      expect((await as(client.key, "GET /v1/models")).status).toBe(200);
    }
  });

  it("that ends, or has a limit, rotates none that does not", async () => {
    const bound = await make({ kind: "admin", requestsPerMinute: 60, expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    const free = await make({ kind: "admin" });
    expect((await as(bound.key, `POST /api/keys/${free.id}/rotate`)).status).toBe(403);
    expect((await as(free.key, `POST /api/keys/${bound.id}/rotate`)).status).toBe(200);
  });

  it("is shown once, is listed without its secret, and opens what its kind opens", async () => {
    const made = await make({ kind: "client", name: "app" });
    expect(made.key).toMatch(/^nsk_client_/);
    expect((await as(made.key, "GET /v1/models")).status).toBe(200);
    expect((await as(made.key, "GET /api/keys")).status).toBe(403);
    const { body } = await as(edge.keys.admin, "GET /api/keys");
    const listed = body.keys.find(({ id }: Made) => id === made.id);
    expect(listed).toEqual({
      ...{ id: made.id, kind: "client", name: "app", agents: null, requestsPerMinute: null },
      ...{ createdAt: expect.any(String), expiresAt: null, rotatedAt: null, revokedAt: null, createdBy: expect.stringMatching(/^key_/) },
    });
    expect(JSON.stringify(body)).not.toContain(made.key);
  });

  it("is dead at once when it is revoked, and its old secret when it is rotated", async () => {
    const made = await make({ kind: "client" });
    expect((await as(made.key, "GET /v1/models")).status).toBe(200);
    const rotated = await as(edge.keys.admin, `POST /api/keys/${made.id}/rotate`);
    expect([rotated.status, rotated.body.id]).toEqual([200, made.id]);
    expect((await as(made.key, "GET /v1/models")).status).toBe(401);
    expect((await as(rotated.body.key, "GET /v1/models")).status).toBe(200);
    expect((await as(edge.keys.admin, `DELETE /api/keys/${made.id}`)).body.revokedAt).not.toBeNull();
    expect((await as(rotated.body.key, "GET /v1/models")).status).toBe(401);
    expect((await as(edge.keys.admin, `POST /api/keys/${made.id}/rotate`)).status).toBe(400);
  });

  it("keeps its users when it is rotated: a conversation goes on", async () => {
    await putAgent(edge, "kept");
    const made = await make({ kind: "client" });
    const first = await ask(made.key, "kept");
    const { body } = await as(edge.keys.admin, `POST /api/keys/${made.id}/rotate`);
    const second = await as(body.key, "POST /v1/chat/completions", {
      model: "kept",
      messages: [{ role: "user", content: "Hello" }, first.body.choices[0].message, { role: "user", content: "And now?" }],
      max_tokens: 1,
    });
    expect(second.headers.get("x-session-id")).toBe(first.headers.get("x-session-id"));
  });

  it("expires", async () => {
    const made = await make({ kind: "client", expiresAt: new Date(Date.now() + 1_500).toISOString() });
    expect((await as(made.key, "GET /v1/models")).status).toBe(200);
    await expect.poll(async () => (await as(made.key, "GET /v1/models")).body.error?.code, { timeout: 10_000 }).toBe("expired_api_key");
    const past = await as(edge.keys.admin, "POST /api/keys", { kind: "client", name: "late", expiresAt: "2020-01-01T00:00:00Z" });
    expect([past.status, past.body.error.param]).toEqual([400, "expiresAt"]);
  });

  it("is held to its limit with a 429 that says when to come back", async () => {
    const made = await make({ kind: "client", requestsPerMinute: 3 });
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1) statuses.push((await as(made.key, "GET /v1/models")).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const { body, headers } = await as(made.key, "GET /v1/models");
    expect(body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limit_exceeded" });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(10);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(20);
    expect((await as(edge.keys.client, "GET /v1/models")).status).toBe(200);
  });

  it("shares its limit with all that it has made, and they theirs with nobody above", async () => {
    const maker = await make({ kind: "admin", requestsPerMinute: 6 });
    const clients = [await make({ kind: "client" }, maker.key), await make({ kind: "client", requestsPerMinute: 5 }, maker.key)];
    const statuses: number[] = [];
    for (const { key } of [...clients, ...clients, ...clients]) statuses.push((await as(key, "GET /v1/models")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    const { body } = await as(clients[0]?.key ?? "", "GET /v1/models");
    expect(body.error.message).toContain(`at most 6 requests a minute expected of key ${maker.id} and all that it has made`);
    expect((await as(edge.keys.client, "GET /v1/models")).status).toBe(200);
  });

  it("takes nothing of its maker's limit by what its own refuses", async () => {
    const maker = await make({ kind: "admin", requestsPerMinute: 10 });
    const flooding = await make({ kind: "client", requestsPerMinute: 1 }, maker.key);
    const other = await make({ kind: "client" }, maker.key);
    for (let request = 0; request < 12; request += 1) await as(flooding.key, "GET /v1/models");
    expect((await as(other.key, "GET /v1/models")).status).toBe(200);
  });

  it("makes none that lasts longer or may more than itself", async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const limited = await make({ kind: "admin", expiresAt: soon, requestsPerMinute: 50 });
    const { body } = await as(limited.key, "POST /api/keys", { kind: "admin", name: "child", requestsPerMinute: 5_000 });
    expect(body).toMatchObject({ expiresAt: soon, requestsPerMinute: 50 });
  });

  it("does not revoke itself, and says what it cannot do", async () => {
    const { body } = await as(edge.keys.admin, "GET /api/keys");
    const own = body.keys.find(({ kind, name }: { kind: string; name: string }) => kind === "admin" && name === "local");
    expect((await as(edge.keys.admin, `DELETE /api/keys/${own.id}`)).status).toBe(400);
    expect((await as(edge.keys.admin, "DELETE /api/keys/key_nobody")).status).toBe(404);
    expect((await as(edge.keys.admin, "POST /api/keys", { kind: "root", name: "x" })).body.error.param).toBe("kind");
  });
});

describe("two tenants", () => {
  const keys: Record<"admin" | "client" | "trainer", Record<"acme" | "umbra", string>> = {
    admin: { acme: "", umbra: "" },
    client: { acme: "", umbra: "" },
    trainer: { acme: "", umbra: "" },
  };

  beforeAll(async () => {
    for (const tenant of ["acme", "umbra"] as const) {
      keys.admin[tenant] = (await make({ kind: "admin", agents: [`${tenant}-*`] })).key;
      for (const kind of ["client", "trainer"] as const) keys[kind][tenant] = (await make({ kind }, keys.admin[tenant])).key;
      await as(keys.admin[tenant], `PUT /api/agents/${tenant}-desk`, { instructions: `Secret of ${tenant}.` });
    }
    const adapter = await putAdapter(edge, "acme");
    const manifest = manifestOf({ agent: "acme-desk", baseDigest: edge.baseDigest, adapter });
    await as(keys.trainer.acme, "POST /trainer/v1/agents/acme-desk/lines/shared/versions", { parent: 0, manifest });
    await ask(keys.client.acme, "acme-desk");
  });

  it("serve their own", async () => {
    expect((await ask(keys.client.acme, "acme-desk")).status).toBe(200);
    expect((await as(keys.admin.acme, "GET /api/agents/acme-desk/versions")).body.latest).toBe(1);
    const { body } = await as(keys.admin.umbra, "GET /api/agents");
    expect(body.agents.map(({ agent }: { agent: string }) => agent)).toEqual(["umbra-desk"]);
  });

  it("do not see that the other's agents exist, by any route", async () => {
    const routes = (await as(keys.admin.umbra, "GET /api/openapi.json")).body.paths as Record<string, Record<string, object>>;
    const tried: [string, number][] = [];
    for (const [path, methods] of Object.entries(routes))
      for (const method of Object.keys(methods)) {
        if (!path.startsWith("/api/agents/{agent}")) continue;
        const target = path.replace("{agent}", "acme-desk").replace(/\{\w+\}/g, "1");
        const known = (await as(keys.admin.umbra, `${method.toUpperCase()} ${target}`, method === "get" ? undefined : {})).status;
        tried.push([`${method} ${path}`, known]);
      }
    expect(tried.length).toBeGreaterThan(20);
    expect(tried.filter(([, status]) => status !== 404)).toEqual([]);
    expect((await as(keys.admin.acme, "GET /api/agents/acme-desk")).body.settings.instructions).toBe("Secret of acme.");
  });

  it("do not get the other's answers, models, log, versions or keys", async () => {
    expect((await ask(keys.client.umbra, "acme-desk")).body.error.code).toBe("model_not_found");
    const { body: models } = await as(keys.client.umbra, "GET /v1/models");
    expect(models.data.map(({ id }: { id: string }) => id)).toEqual(["umbra-desk"]);
    expect((await as(keys.client.umbra, "GET /v1/models/acme-desk")).status).toBe(404);
    for (const route of [
      "GET /trainer/v1/feed?agent=acme-desk",
      "GET /trainer/v1/turns?agent=acme-desk&session=s",
      "GET /trainer/v1/agents/acme-desk/lines/shared/head",
      "GET /trainer/v1/agents/acme-desk/lines/shared/versions/1",
      "GET /trainer/v1/agents/acme-desk/lines/shared/suite",
    ])
      expect((await as(keys.trainer.umbra, route)).status).toBe(404);
    expect((await as(keys.trainer.umbra, "GET /trainer/v1/agents")).body.agents.map(({ agent }: { agent: string }) => agent)).toEqual([
      "umbra-desk",
    ]);
    const { body: listed } = await as(keys.admin.umbra, "GET /api/keys");
    expect(new Set(listed.keys.flatMap(({ agents }: { agents: string[] }) => agents))).toEqual(new Set(["umbra-*"]));
    expect((await as(keys.admin.umbra, "POST /api/keys", { kind: "admin", name: "x", agents: ["acme-*"] })).status).toBe(403);
    expect((await as(keys.admin.umbra, "POST /api/keys", { kind: "client", name: "x", agents: ["umbra*"] })).status).toBe(403);
    const { body: all } = await call(edge, "admin", "GET /api/keys");
    const acme = all.keys.find(({ agents }: { agents: string[] | null }) => agents?.[0] === "acme-*");
    expect((await as(keys.admin.umbra, `DELETE /api/keys/${acme.id}`)).status).toBe(404);
    expect((await as(keys.admin.umbra, "GET /api/stats")).body.agents).toEqual([]);
  });

  it("do not continue each other's conversations, though the words are the same", async () => {
    const mine = await ask(keys.client.acme, "acme-desk");
    const session = mine.headers.get("x-session-id") ?? "";
    const taken = await fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(keys.client.umbra, { "x-session-id": session }),
      body: JSON.stringify({ model: "umbra-desk", messages: [{ role: "user", content: "Hello" }], max_tokens: 1 }),
    });
    expect([taken.status, taken.headers.get("x-session-id") === session]).toEqual([200, false]);
    const feedback = await as(keys.client.umbra, "POST /v1/feedback", { completion_id: mine.body.id, score: -1 });
    expect(feedback.status).toBe(404);
  });
});

it("a key of some agents makes so many, and takes nobody else's room", async () => {
  const { key } = await make({ kind: "admin", agents: ["many-*"] });
  const names = Array.from({ length: 100 }, (_, index) => `('many-${index}', 0)`);
  const database = await edge.getD1();
  await database.prepare(`INSERT INTO agents (name, created_at) VALUES ${names.join(", ")}`).run();
  const refused = await as(key, "PUT /api/agents/many-more", {});
  expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringMatching(/at most 100 agents/) } } });
  const narrower = await make({ kind: "admin", agents: ["many-more*"] }, key);
  const nested = await make({ kind: "admin", agents: ["many-more"] }, narrower.key);
  for (const below of [narrower, nested])
    expect(await as(below.key, "PUT /api/agents/many-more", {})).toMatchObject({ status: 400, body: refused.body });
  expect((await as(edge.keys.admin, "PUT /api/agents/more", {})).status).toBe(200);
  await database.prepare("DELETE FROM agents WHERE name LIKE 'many-%'").run();
  expect((await as(key, "PUT /api/agents/many-more", {})).status).toBe(200);
});
