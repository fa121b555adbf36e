/** The end of an agent: asked for by its name, carried out to the last row however often it breaks off, and its name is free again. */
import { beforeAll, expect, it } from "vitest";
import { LEASE_HEADER } from "../../../shared/lease.ts";
import { publishAdapter, putAdapter } from "../../helpers/adapters.ts";
import { call, judgement, manifestOf, putAgent, type Answer } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo } from "../session/talk.ts";

const edge = withEdge();
const SOON = { timeout: 30_000 };
const LONG_AGO_MS = 61_000; // nobody is at it any more

const admin = (route: string, body?: unknown): Promise<Answer> => {
  const [method, path] = route.split(" ");
  return call(edge, "admin", `${method} /api/${path}`, body);
};
const run = async (query: string, ...values: unknown[]) =>
  (await edge.getD1())
    .prepare(query)
    .bind(...values)
    .all();
const filesLeft = async (prefix: string): Promise<string[]> => (await (await edge.getR2()).list({ prefix })).objects.map(({ key }) => key);

/** Rows that the database has of an agent. */
async function rowsOf(agent: string): Promise<Record<string, number>> {
  const counts = ["events", "turns", "series", "session_counters", "deletions"].map(async (table) => {
    const [row] = (await run(`SELECT count(*) AS rows FROM ${table} WHERE agent = ?1`, agent)).results;
    return [table, Number(row?.["rows"])] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}
const NOTHING = { events: 0, turns: 0, series: 0, session_counters: 0, deletions: 0 };

/** An agent with conversations and a version. */
async function livedIn(agent: string): Promise<{ weights: string }> {
  await putAgent(edge, agent, { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, agent);
  await publishAdapter(edge, agent, adapter);
  const { ask, events } = talkTo(edge, agent);
  for (const said of ["one", "two"]) expect((await ask([says(`${agent} said ${said}`)], { extra: { max_tokens: 2 } })).status).toBe(200);
  await expect.poll(async () => (await events()).filter(({ payload }) => payload.kind === "turn:finished").length, SOON).toBe(2);
  // One whose payload is too large for a row, as the log keeps it.
  await (await edge.getR2()).put(`payloads/${agent}-large`, "{}");
  const columns = "event_id, agent, line, session_id, turn_id, user, kind, payload, created_at";
  await run(`INSERT INTO events (${columns}) VALUES (?1, ?2, 'shared', 's', 't', 'u', 'turn:aborted', NULL, 1)`, `${agent}-large`, agent);
  return { weights: adapter.weightsDigest };
}

beforeAll(() => putAgent(edge, "neighbour"));

it("wants the agent's name, and says what would be lost", async () => {
  await putAgent(edge, "kept");
  for (const query of ["", "?confirm=other"]) {
    const { status, body } = await admin(`DELETE agents/kept${query}`);
    const got = query === "" ? "nothing" : "other";
    expect([status, body.error.param, body.error.message]).toEqual([
      400,
      "confirm",
      `confirm: kept expected, got ${got}; its 1 version, all that was said to it, its notes, suite and settings would be gone for good`,
    ]);
  }
  expect((await admin("GET agents/kept")).status).toBe(200);
  expect((await admin("DELETE agents/nobody?confirm=nobody")).status).toBe(404);
});

it("leaves nothing but a line in the deployment's audit, and its endpoint says that there is none", async () => {
  const { weights } = await livedIn("gone");
  const own = (await admin("POST keys", { kind: "client", name: "its own", agents: ["gone"] })).body;
  const wide = (await admin("POST keys", { kind: "client", name: "wide", agents: ["gone*"] })).body;
  expect(await filesLeft(`files/${weights}`)).toHaveLength(1);
  const deleted = await admin("DELETE agents/gone?confirm=gone");
  expect([deleted.status, deleted.body]).toEqual([200, { agent: "gone", sessions: 3, events: expect.any(Number), keys: [own.id] }]);
  expect(await rowsOf("gone")).toEqual(NOTHING);
  expect((await run("SELECT count(*) AS rows FROM said WHERE words MATCH 'gone'")).results).toEqual([{ rows: 0 }]);
  for (const prefix of [`files/${weights}`, `claims/${weights}`, "payloads/"]) expect(await filesLeft(prefix)).toEqual([]);
  expect((await admin("GET agents")).body.agents.map(({ agent }: { agent: string }) => agent)).not.toContain("gone");
  for (const path of ["", "/versions", "/audit", "/suite", "/notes"]) expect((await admin(`GET agents/gone${path}`)).status).toBe(404);
  const asked = await call(edge, "client", "POST /v1/chat/completions", { model: "gone", messages: [says("Hello")] });
  expect([asked.status, asked.body.error.code, asked.body.error.message]).toEqual([
    404,
    "model_not_found",
    expect.stringContaining("got gone"),
  ]);
  const { keys } = (await admin("GET keys")).body;
  const revoked = (id: string) => keys.find((key: { id: string }) => key.id === id).revokedAt !== null;
  expect([revoked(own.id), revoked(wide.id)]).toEqual([true, false]);
  const { audit } = (await admin("GET audit?limit=2")).body;
  expect(audit.map(({ move, subject, detail }: Record<string, string>) => [move, subject, detail])).toEqual([
    ["revokeKey", own.id, "client key its own of gone, which was deleted"],
    expect.anything(),
  ]);
  expect((await admin("GET audit")).body.audit).toContainEqual(
    expect.objectContaining({ move: "deleteAgent", subject: "gone", detail: "agent gone, of which 1 version had been made" }),
  );
  expect((await admin("GET agents/gone/deletion")).body).toMatchObject({ agent: "gone", state: "done" });
});

it("tells a trainer in the middle of its work that there is no such agent, and keeps nothing of what it says", async () => {
  await livedIn("trained");
  const path = "/trainer/v1/agents/trained";
  const { token } = (await call(edge, "trainer", `POST ${path}/lease`, { holder: "t", ttlMs: 60_000 })).body;
  const adapter = await putAdapter(edge, "late");
  await admin("DELETE agents/trained?confirm=trained");
  const manifest = manifestOf({ agent: "trained", baseDigest: edge.baseDigest, parent: 1, adapter });
  const publish = () =>
    call(edge, "trainer", `POST ${path}/lines/shared/versions`, { parent: 1, manifest }, { [LEASE_HEADER]: String(token) });
  const refused = await publish();
  expect([refused.status, refused.body.error.message]).toEqual([404, expect.stringContaining("agent trained: not found")]);
  const judged = await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judgement("trained", "turn-1")] });
  expect(judged.status).toBe(404);
  expect(await rowsOf("trained")).toEqual(NOTHING);
  // Nor may it go on with an agent that has the name by then.
  await putAgent(edge, "trained");
  expect((await publish()).status).not.toBe(200);
  const next = (await call(edge, "trainer", `POST ${path}/lease`, { holder: "t", ttlMs: 60_000 })).body;
  expect(next.token).toBeGreaterThan(token);
});

it("frees the name: an agent that is made anew has nothing of the one before, and its conversations are kept", async () => {
  await livedIn("again");
  await admin("DELETE agents/again?confirm=again");
  await putAgent(edge, "again");
  expect((await admin("GET agents/again/versions")).body).toMatchObject({ stable: 0, latest: 0, cursor: 0 });
  const { ask, events } = talkTo(edge, "again");
  expect((await ask([says("again said one")], { extra: { max_tokens: 2 } })).status).toBe(200);
  await expect.poll(async () => (await events()).filter(({ payload }) => payload.kind === "turn:finished").length, SOON).toBe(1);
});

it("is taken up again where it broke off, and the name is not given away before", async () => {
  await livedIn("broken");
  await run("CREATE TRIGGER unwilling BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'unwilling'); END");
  expect((await admin("DELETE agents/broken?confirm=broken")).status).toBe(500);
  expect((await admin("GET agents/broken")).status).toBe(404);
  expect((await admin("GET agents/broken/deletion")).body.state).toBe("erasing");
  const early = await admin("PUT agents/broken", {});
  expect([early.status, early.body.error.code]).toEqual([409, "agent/conflict"]);
  const pid = edge.workerdPid();
  process.kill(pid ?? 0, "SIGKILL");
  await expect.poll(() => edge.workerdPid(), SOON).not.toBe(pid);
  await expect
    .poll(
      () =>
        run("DROP TRIGGER unwilling").then(
          () => true,
          () => false,
        ),
      SOON,
    )
    .toBe(true);
  await run("UPDATE agent_deletions SET requested_at = requested_at - ?1", LONG_AGO_MS);
  await call(edge, "trainer", "GET /trainer/v1/agents");
  await expect.poll(async () => (await admin("GET agents/broken/deletion")).body.state, SOON).toBe("done");
  expect(await rowsOf("broken")).toEqual(NOTHING);
  await putAgent(edge, "broken");
  expect((await admin("GET agents/neighbour")).status).toBe(200);
});
