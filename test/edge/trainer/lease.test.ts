/** /trainer/v1/agents/:agent/lease: who holds an agent moves its lines; whoever held it before is refused, whatever it asks. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";
import { call, fillLog, manifestOf, putAgent } from "../../helpers/call.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));

const lease = (agent: string, body: unknown) => call(edge, "trainer", `POST /trainer/v1/agents/${agent}/lease`, body);

/** A move of the line under a token, as a trainer makes it. */
async function move(agent: string, path: string, { token, body }: { token?: number | string; body: unknown }) {
  const headers = bearer(edge.keys.trainer, token === undefined ? {} : { "x-lease-token": String(token) });
  const response = await fetch(`${edge.url}/trainer/v1/agents/${agent}/lines/shared/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

async function publishing(agent: string, content: string, parent = 0) {
  const manifest = manifestOf({ agent, baseDigest: edge.baseDigest, adapter: await putAdapter(edge, content), parent });
  return { parent, manifest };
}

describe("a lease", () => {
  it("is held by one of the trainers that ask at the same time; the others hear who has it", async () => {
    await putAgent(edge, "asked");
    const answers = await Promise.all(["a", "b", "c"].map((holder) => lease("asked", { holder })));
    const held = answers.filter(({ body }) => body.status === "held");
    expect(held.map(({ body }) => body)).toEqual([{ status: "held", token: 1, waiting: 0 }]);
    const [holder] = ["a", "b", "c"].filter((_, index) => answers[index]?.body.status === "held");
    for (const { body } of answers.filter(({ body }) => body.status === "taken"))
      expect(body).toEqual({ status: "taken", holder, endsInMs: expect.any(Number) });
    // Its heartbeat tells how many others would work for the agent, too.
    expect((await lease("asked", { holder, token: 1, doing: { what: "nothing that this edge knows of" } })).body).toMatchObject({
      status: "held",
      waiting: 2,
    });
  });

  it.each([
    { name: "a version", path: "versions", body: (agent: string) => publishing(agent, "late") },
    { name: "the cursor", path: "cursor", body: async () => ({ from: 0, to: 3, refused: [] }) },
    { name: "the end of a rebuild", path: "rebuild/finish", body: async () => ({ from: 0 }) },
    { name: "a note", path: "notes/n_1/absorbed", body: async () => ({ version: 0 }) },
  ])("that another trainer has by now refuses $name, and says why", async ({ path, body }) => {
    const agent = `late-${path.replaceAll(/[^a-z]/g, "")}`;
    await putAgent(edge, agent);
    const first = (await lease(agent, { holder: "gpu-1" })).body.token;
    // It ends the lease for the test's sake; a dead trainer's ends by itself.
    await call(edge, "trainer", `POST /trainer/v1/agents/${agent}/lease/end`, { token: first });
    const second = (await lease(agent, { holder: "gpu-2" })).body.token;
    const late = await move(agent, path, { token: first, body: await body(agent) });
    expect([late.status, late.body["error"]]).toEqual([
      409,
      expect.objectContaining({
        code: "lease/lost",
        message: `x-lease-token: ${second}, the lease of trainer gpu-2, expected, got ${first}, a lease that has ended; what was made under it is not published`,
      }),
    ]);
    const none = await move(agent, path, { body: await body(agent) });
    expect([none.status, none.body["error"]]).toEqual([
      409,
      expect.objectContaining({ code: "lease/lost", message: expect.stringContaining("got none") }),
    ]);
    const { body: head } = await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/shared/head`);
    expect(head).toMatchObject({ latest: 0, cursor: 0 });
    const good = await move(agent, path, { token: second, body: await body(agent) });
    expect(good.status).toBe(path.startsWith("notes") ? 404 : 200);
  });

  it("that another trainer has by now lets nothing be said of what is done", async () => {
    await putAgent(edge, "said");
    const say = (phase: string, headers = {}) => {
      const status = { phase, done: 0, of: 0, corrections: 0, waitingSince: null };
      return call(edge, "trainer", "PUT /trainer/v1/agents/said/lines/shared/status", status, headers);
    };
    await lease("said", { holder: "gpu-1" });
    await call(edge, "trainer", "POST /trainer/v1/agents/said/lease/end", { token: 1 });
    const { token } = (await lease("said", { holder: "gpu-2" })).body;
    expect((await say("gating", { "x-lease-token": String(token) })).body).toEqual({ status: "heard" });
    for (const late of [say("updating", { "x-lease-token": "1" }), say("updating")])
      expect([(await late).status, (await late).body.error.code]).toEqual([409, "lease/lost"]);
    expect((await call(edge, "admin", "GET /api/agents/said/trainer")).body.trainer.phase).toBe("gating");
  });

  it("ends by itself where its trainer says nothing more, and a version made under it stays out", async () => {
    await putAgent(edge, "dead");
    await lease("dead", { holder: "gpu-1", ttlMs: 1_000 });
    const second = async () => (await lease("dead", { holder: "gpu-2" })).body.status;
    expect(await second()).toBe("taken");
    await expect.poll(second, { timeout: 10_000 }).toBe("held");
    expect((await lease("dead", { holder: "gpu-1", token: 1 })).body).toMatchObject({ status: "taken", holder: "gpu-2" });
    expect((await move("dead", "versions", { token: 1, body: await publishing("dead", "dead") })).status).toBe(409);
    expect((await move("dead", "versions", { token: 2, body: await publishing("dead", "dead") })).body).toMatchObject({
      status: "published",
      version: 1,
    });
  });

  it("is held under its key and name: a trainer of another key is told no name, and gets, ends and moves nothing with it", async () => {
    await putAgent(edge, "ten-y");
    const made = await call(edge, "admin", "POST /api/keys", { kind: "trainer", name: "tenant", agents: ["ten-*"] });
    const tenant = { url: edge.url, keys: { ...edge.keys, trainer: String(made.body.key) } };
    const asTenant = (path: string, body: unknown) => call(tenant, "trainer", `POST /trainer/v1/agents/ten-y/${path}`, body);
    expect((await lease("ten-y", { holder: "ops-1" })).body).toMatchObject({ status: "held", token: 1 });
    const taken = { status: "taken", holder: "another trainer", endsInMs: expect.any(Number) };
    for (const body of [{ holder: "me" }, { holder: "ops-1" }, { holder: "ops-1", token: 1 }, { holder: "ops-1", last: 1 }])
      expect((await asTenant("lease", body)).body).toEqual(taken);
    expect((await asTenant("lease", { holder: "another trainer" })).body.error).toMatchObject({ param: "holder" });
    expect((await asTenant("lease/end", { token: 1 })).body).toEqual({ status: "lost" });
    const headers = { "x-lease-token": "1" };
    const moved = await call(
      tenant,
      "trainer",
      "POST /trainer/v1/agents/ten-y/lines/shared/cursor",
      { from: 0, to: 1, refused: [] },
      headers,
    );
    expect([moved.status, moved.body.error]).toEqual([
      409,
      expect.objectContaining({ message: "x-lease-token: 1, the lease of another trainer, expected, got it under another key" }),
    ]);
    // Whatever names it asked under, it is one trainer that waits; and the holder keeps the lease, and comes back under its name at once.
    expect((await lease("ten-y", { holder: "ops-1", token: 1 })).body).toEqual({ status: "held", token: 1, waiting: 1 });
    expect((await lease("ten-y", { holder: "ops-1" })).body).toEqual({ status: "held", token: 2, waiting: 1 });
    expect((await asTenant("lease/end", { token: 2 })).body).toEqual({ status: "lost" });
    expect((await call(edge, "trainer", "POST /trainer/v1/agents/ten-y/lease/end", { token: 2 })).body).toEqual({ status: "ended" });
    expect((await asTenant("lease", { holder: "ops-1" })).body).toMatchObject({ status: "held", token: 4 });
  });

  it("is of an agent that exists, and its token a number", async () => {
    expect((await lease("nobody", { holder: "a" })).status).toBe(404);
    expect((await lease("asked", { holder: "" })).body.error.param).toBe("holder");
    await putAgent(edge, "numbered");
    const { status, body } = await move("numbered", "cursor", { token: "none", body: { from: 0, to: 1, refused: [] } });
    expect([status, body["error"]]).toEqual([400, expect.objectContaining({ param: "x-lease-token" })]);
  });
});
