/** /api: agents, versions, rollback, audit, events, and what every route does with bad input. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, judgement, lineage, manifestOf, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));

/** Publishes the agent's next version from its stable one; returns the manifest. */
async function publish(agent: string, content: string, toSeq: number) {
  const { body: head } = await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/shared/head`);
  const adapter = await putAdapter(edge, content);
  const events = toSeq > head.cursor ? [lineage(`event-${toSeq}`, toSeq)] : [];
  const manifest = manifestOf({ agent, baseDigest: edge.baseDigest, parent: head.stable, adapter, fromSeq: head.cursor, toSeq, events });
  const { body } = await call(edge, "trainer", `POST /trainer/v1/agents/${agent}/lines/shared/versions`, { parent: head.stable, manifest });
  expect(body.status).toBe("published");
  return manifest;
}

const head = async (agent: string) => (await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/shared/head`)).body;
const rollback = (agent: string, body: unknown) => call(edge, "admin", `POST /api/agents/${agent}/rollback`, body);

describe("agents", () => {
  it("exist from their first put, with version 0 on the base", async () => {
    const { status, body } = await call(edge, "admin", "PUT /api/agents/first", { instructions: "Be brief." });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: "first", settings: { instructions: "Be brief.", learning: { minSignals: 1 } } });
    expect(await head("first")).toMatchObject({
      stable: 0,
      latest: 0,
      parent: 0,
      cursor: 0,
      adapter: null,
      baseDigest: edge.baseDigest,
      stablePolicyDigest: edge.baseDigest,
      settings: { instructions: "Be brief." },
    });
    const { body: listed } = await call(edge, "admin", "GET /api/agents");
    expect(listed.agents.map(({ agent }: { agent: string }) => agent)).toContain("first");
  });

  it("are listed by name, page by page", async () => {
    for (const name of ["page-c", "page-a", "page-b"]) await putAgent(edge, name);
    const page = async (query: string) => {
      const { status, body } = await call(edge, "admin", `GET /api/agents?${query}`);
      expect(status).toBe(200);
      return body.agents.map(({ agent }: { agent: string }) => agent);
    };
    expect(await page("after=page&limit=2")).toEqual(["page-a", "page-b"]);
    expect((await page("after=page-b&limit=2"))[0]).toBe("page-c");
    expect(await page("after=zzz")).toEqual([]);
    expect((await call(edge, "admin", "GET /api/agents?limit=101")).status).toBe(400);
    expect((await call(edge, "admin", "GET /api/agents?befor=page")).status).toBe(400);
  });

  it("change their settings without another version, and readers of the head can tell", async () => {
    await putAgent(edge, "settings");
    const before = await head("settings");
    await putAgent(edge, "settings", { instructions: "New." });
    const after = await head("settings");
    expect(after).toMatchObject({ stable: 0, latest: 0, settings: { instructions: "New." } });
    expect(after.revision).toBeGreaterThan(before.revision);
  });

  it("keep what several change at once, whoever comes last", async () => {
    await putAgent(edge, "contended");
    const patch = (settings: object) => call(edge, "admin", "PATCH /api/agents/contended", settings);
    const changes = await Promise.all([
      patch({ instructions: "Be brief." }),
      patch({ maxToolSteps: 3 }),
      call(edge, "admin", "POST /api/agents/contended/pause"),
      patch({ learning: { scope: "personal" } }),
      patch({ learning: { notes: "off" } }),
    ]);
    expect(changes.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { settings } = (await call(edge, "admin", "GET /api/agents/contended")).body;
    expect(settings).toMatchObject({
      instructions: "Be brief.",
      maxToolSteps: 3,
      learning: { enabled: false, scope: "personal", notes: "off" },
    });
  });

  it("are refused instructions under which nothing could be answered", async () => {
    for (const instructions of ["Be nice. ".repeat(600), "Be nice. ".repeat(100_000)]) {
      const { status, body } = await call(edge, "admin", "PUT /api/agents/wordy", { instructions });
      expect([status, body.error.param]).toEqual([400, "instructions"]);
      expect(body.error.message).toMatch(/at most 2048 tokens of context expected.*got.*\d+ with a first word/);
    }
    expect((await call(edge, "admin", "PUT /api/agents/wordy", { instructions: "Be nice. ".repeat(60) })).status).toBe(200);
    const engine = { kind: "openai", flavour: "vllm", url: "https://engine.example.com", model: "m" };
    expect((await call(edge, "admin", "PATCH /api/agents/wordy", { engine, instructions: "Be nice. ".repeat(600) })).status).toBe(200);
    expect((await call(edge, "admin", "PATCH /api/agents/wordy", { engine: null })).body.error.param).toBe("instructions");
  });

  it("are refused instructions that leave no room beside the agent's tools", async () => {
    const parameters = { type: "object", properties: {} };
    const toolOf = (name: string) => ({ type: "function", function: { name, description: "Looks. ".repeat(150), parameters } });
    const set = (settings: object) => call(edge, "admin", "PATCH /api/agents/handy", settings);
    await putAgent(edge, "handy");
    expect((await set({ tools: [toolOf("a")], instructions: "Be nice. ".repeat(60) })).status).toBe(200);
    const { status, body } = await set({ tools: ["a", "b", "c"].map(toolOf) });
    expect([status, body.error.param]).toEqual([400, "tools"]);
    expect(body.error.message).toMatch(/got \d+ with a first word of a user's and the agent's tools/);
    expect((await set({ instructions: "Be nice. ".repeat(160) })).body.error.param).toBe("instructions");
    expect((await set({ tools: ["a", "b", "c"].map(toolOf), instructions: "Be brief." })).body.error.param).toBe("tools");
  });

  it("trust keys of clients alone, and go on trusting one that is revoked", async () => {
    const keyOf = async (kind: string): Promise<string> => (await call(edge, "admin", "POST /api/keys", { kind, name: kind })).body.id;
    const [client, trainer] = [await keyOf("client"), await keyOf("trainer")];
    const trusting = (...ids: string[]) =>
      call(edge, "admin", "PUT /api/agents/trusting", { learning: { trusted: Object.fromEntries(ids.map((id) => [id, 1])) } });
    for (const id of ["nokey", trainer]) expect((await trusting(client, id)).body.error.param).toBe(`learning.trusted.${id}`);
    expect((await trusting(client)).status).toBe(200);
    await call(edge, "admin", `DELETE /api/keys/${client}`);
    expect((await trusting(client)).status).toBe(200);
  });

  it("that do not exist are not found, and asking does not create them", async () => {
    for (const route of [
      "GET /api/agents/nobody",
      "GET /api/agents/nobody/versions",
      "GET /api/agents/nobody/versions/0",
      "GET /api/agents/nobody/audit",
      "GET /api/agents/nobody/events",
    ])
      expect((await call(edge, "admin", route)).status).toBe(404);
    expect((await rollback("nobody", { to: 0 })).body.error.message).toBe("agent nobody: not found");
    expect((await call(edge, "admin", "GET /api/agents")).body.agents.map((each: { agent: string }) => each.agent)).not.toContain("nobody");
  });
});

describe("versions", () => {
  it("are listed newest first with where they came from, and with the stable one marked", async () => {
    await putAgent(edge, "listing");
    const first = await publish("listing", "one", 5);
    const second = await publish("listing", "two", 9);
    const { body } = await call(edge, "admin", "GET /api/agents/listing/versions");
    expect(body).toMatchObject({ stable: 2, latest: 2, cursor: 9 });
    expect(body.versions).toMatchObject([
      { ...second, version: 2, status: "stable" },
      { ...first, version: 1, status: "superseded" },
      { version: 0, status: "superseded", adapter: null, policyDigest: edge.baseDigest },
    ]);
    expect(new Set(body.versions.map(({ policyDigest }: { policyDigest: string }) => policyDigest)).size).toBe(3);
    const { body: one } = await call(edge, "admin", "GET /api/agents/listing/versions/1");
    expect(one).toEqual({ ...body.versions[1], users: ["u1"] });
    const { body: page } = await call(edge, "admin", "GET /api/agents/listing/versions?before=2&limit=1");
    expect(page.versions.map(({ version }: { version: number }) => version)).toEqual([1]);
  });

  it("do not exist above the latest", async () => {
    await putAgent(edge, "short");
    expect((await call(edge, "admin", "GET /api/agents/short/versions/1")).status).toBe(404);
    expect((await call(edge, "admin", "GET /api/agents/short/versions/-1")).status).toBe(400);
  });
});

describe("rollback", () => {
  it("makes an earlier version stable, keeps the later ones, and leaves a trail", async () => {
    await putAgent(edge, "back");
    await publish("back", "one", 5);
    await publish("back", "two", 9);
    const { status, body } = await rollback("back", { to: 1, reason: "worse on dates" });
    expect([status, body]).toEqual([200, { status: "rolledBack", from: 2, to: 1, versions: [2], quarantined: 1, reopened: 0, barred: 0 }]);
    const { body: listed } = await call(edge, "admin", "GET /api/agents/back/versions");
    expect(listed).toMatchObject({ stable: 1, latest: 2, cursor: 9 });
    const { body: trail } = await call(edge, "admin", "GET /api/agents/back/audit");
    expect(trail.audit.map(({ move, from, to, reason }: Record<string, unknown>) => [move, from, to, reason])).toEqual([
      ["rollback", 2, 1, "worse on dates"],
      ["publish", 1, 2, null],
      ["publish", 0, 1, null],
      ["create", null, 0, null],
    ]);
    expect(trail.audit[0].actor).toMatch(/^admin:/);
    expect(trail.audit[1].actor).toMatch(/^trainer:/);
  });

  it("tells what people did and what became of versions without what trainer and edge note down, and what was not learned from", async () => {
    await putAgent(edge, "noted");
    await publish("noted", "one", 5);
    const refused = [{ eventId: "e6", code: "hint/none", detail: "nothing" }];
    const advance = { from: 5, to: 6, refused };
    expect((await call(edge, "trainer", "POST /trainer/v1/agents/noted/lines/shared/cursor", advance)).status).toBe(200);
    const moves = async (query: string): Promise<string[]> =>
      (await call(edge, "admin", `GET /api/agents/noted/audit${query}`)).body.audit.map(({ move }: { move: string }) => move);
    expect(await moves("?only=people")).toEqual(["publish", "create"]);
    expect(await moves("?only=people&limit=1")).toEqual(["publish"]);
    expect(await moves("?only=refused")).toEqual(["advance"]);
    expect(await moves("")).toEqual(["advance", "publish", "create"]);
    expect((await call(edge, "admin", "GET /api/agents/noted/audit?only=robots")).status).toBe(400);
  });

  it("never takes the cursor back, and the next version has a number of its own", async () => {
    await putAgent(edge, "monotone");
    await publish("monotone", "one", 5);
    await rollback("monotone", { to: 0 });
    expect(await head("monotone")).toMatchObject({ stable: 0, parent: 0, latest: 1, cursor: 5 });
    await publish("monotone", "two", 8);
    expect(await head("monotone")).toMatchObject({ stable: 2, latest: 2, cursor: 8 });
    expect((await call(edge, "admin", "GET /api/agents/monotone/versions/2")).body.parent).toBe(0);
  });

  it("to the stable version says so, and moves nothing", async () => {
    await putAgent(edge, "same");
    const before = await head("same");
    expect((await rollback("same", { to: 0 })).body).toEqual({ status: "unchanged", stable: 0 });
    expect(await head("same")).toEqual(before);
  });

  it("to a version that does not exist names those that do", async () => {
    await putAgent(edge, "range");
    await publish("range", "one", 5);
    const { status, body } = await rollback("range", { to: 2 });
    expect(status).toBe(404);
    expect(body.error).toEqual({
      message: "to: a version from 0 to 1 expected, got 2",
      type: "invalid_request_error",
      param: "to",
      code: "policy/unknown",
    });
  });
});

describe("events", () => {
  it("are shown in pages", async () => {
    await putAgent(edge, "shown");
    await call(edge, "trainer", "POST /trainer/v1/judgements", {
      judgements: ["1", "2", "3"].map((id) => judgement("shown", `shown-${id}`)),
    });
    const first = await call(edge, "admin", "GET /api/agents/shown/events?limit=2");
    const second = await call(edge, "admin", `GET /api/agents/shown/events?limit=2&cursor=${first.body.cursor}`);
    const ids = [...first.body.events, ...second.body.events].map(({ turnId }: { turnId: string }) => turnId);
    expect(ids).toEqual(["shown-1", "shown-2", "shown-3"]);
  });
});

const BROKEN_TOOL = {
  type: "function",
  function: { name: "Book", parameters: { type: "object", properties: { rooms: { type: "int" } } } },
};

const MISSPELT_TOOL = { type: "function", function: { name: "Book", paramters: { type: "object" } } };

describe("bad input", () => {
  it.each([
    { route: "PUT /api/agents/bad", body: "{", status: 400, message: /^body: JSON expected, got 1 characters/ },
    { route: "PUT /api/agents/bad", body: "", status: 400, message: /^body: JSON expected, got nothing/ },
    { route: "PUT /api/agents/Bad_Name", body: {}, status: 400, message: /^agent: must be lower-case/ },
    { route: "PUT /api/agents/bad", body: { instruction: "typo" }, status: 400, message: /instruction/ },
    { route: "PUT /api/agents/bad", body: { learning: { vote: 3 } }, status: 400, message: /vote/ },
    { route: "PUT /api/agents/bad", body: { tools: [BROKEN_TOOL] }, status: 400, message: /^tools\.0\.function\.parameters/ },
    { route: "PUT /api/agents/bad", body: { tools: [MISSPELT_TOOL] }, status: 400, message: /paramters/ },
    { route: "PUT /api/agents/bad", body: { learning: { votes: 0 } }, status: 400, message: /^learning\.votes: / },
    { route: "POST /api/agents/bad/rollback", body: { to: "1" }, status: 400, message: /^to: / },
    { route: "POST /api/agents/bad/rollback", body: {}, status: 400, message: /^to: / },
    { route: "POST /api/agents/bad/rollback", body: { to: 0, why: "?" }, status: 400, message: /why/ },
    { route: "GET /api/agents/bad/events?cursor=x", status: 400, message: /^cursor: / },
    { route: "GET /api/agents/bad/events?limit=101", status: 400, message: /^limit: / },
    { route: "GET /api/nothing", status: 404, message: /^no route GET \/api\/nothing$/ },
  ])("$route with $body answers $status", async ({ route, body, status, message }) => {
    const answer = await call(edge, "admin", route, body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toMatch(message);
    expect(Object.keys(answer.body.error).sort()).toEqual(["code", "message", "param", "type"]);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  });

  it("names the methods that a route has", async () => {
    const answer = await call(edge, "admin", "POST /api/agents/bad", {});
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toMatch(/GET.*PUT|PUT.*GET/);
    expect(answer.body.error).toMatchObject({ type: "invalid_request_error", code: "input/methodNotAllowed" });
    expect(answer.body.error.message).toMatch(/expected, got POST$/);
  });

  it.each(["PUT /api/agents/big", "POST /v1/chat/completions"])("a body of 5 MB to %s answers 413 in the OpenAI shape", async (route) => {
    const holder = route.includes("/v1/") ? "client" : "admin";
    const answer = await call(edge, holder, route, JSON.stringify({ instructions: "x".repeat(5_000_000) }));
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({ type: "invalid_request_error", code: "input/tooLarge" });
    expect(answer.body.error.message).toMatch(/at most 1048576 bytes expected/);
  });

  it("a body in chunks is read where it is small, and refused where it is not", async () => {
    const put = async (padding: number) => {
      const body = new Blob([JSON.stringify({ instructions: "x".repeat(padding) })]).stream();
      const headers = { authorization: `Bearer ${edge.keys.admin}` };
      return fetch(`${edge.url}/api/agents/chunked`, { method: "PUT", headers, body, duplex: "half" } as RequestInit);
    };
    const small = await put(1_000);
    expect([small.status, ((await small.json()) as { name: string }).name]).toEqual([200, "chunked"]);
    expect((await put(5_000_000)).status).toBe(413);
  });
});

describe("browsers", () => {
  it("may call the client routes, and no others", async () => {
    const preflight = (path: string) =>
      fetch(`${edge.url}${path}`, {
        method: "OPTIONS",
        headers: { origin: "https://page.example", "access-control-request-method": "POST" },
      });
    const client = await preflight("/v1/chat/completions");
    expect([client.status, client.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(client.headers.get("access-control-allow-methods")).toBe("GET,POST,DELETE");
    const refused = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers: { origin: "https://page.example" } });
    expect(refused.headers.get("access-control-expose-headers")).toContain("retry-after");
    const admin = await preflight("/api/agents");
    expect([admin.status, admin.headers.get("access-control-allow-origin")]).toEqual([401, null]);
  });
});
