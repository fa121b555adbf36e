/** Requests that no client of ours sends, and others do: each is answered by what it is, never by a fault of the server. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

const statusOf = async (path: string): Promise<number> => (await fetch(`${edge.url}${path}`, { headers: bearer(edge.keys.admin) })).status;

describe("numbers", () => {
  it.each([
    "turns?version=",
    "turns?version=%20",
    "turns?before=0x10",
    "versions/0x1",
    "versions/%20",
    "versions/1e0",
    "audit?limit=",
    "events?cursor=-1",
  ])("%s is refused, where Number would read one", async (path) => {
    await putAgent(edge, "odd");
    expect(await statusOf(`/api/agents/odd/${path}`)).toBe(400);
  });

  it("in digits are taken", async () => {
    await putAgent(edge, "odd");
    expect(await statusOf("/api/agents/odd/versions/0")).toBe(200);
    expect(await statusOf("/api/agents/odd/turns?version=0&limit=50")).toBe(200);
  });
});

describe("GET /v1/models/:model", () => {
  it("takes a name, and no pattern", async () => {
    await putAgent(edge, "odd");
    const asked = async (name: string): Promise<number> =>
      (await fetch(`${edge.url}/v1/models/${name}`, { headers: bearer(edge.keys.client) })).status;
    expect([await asked("odd"), await asked("*"), await asked("od*")]).toEqual([200, 404, 404]);
  });
});

describe("a GET with a body in chunks", () => {
  it("is answered as one without", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...bearer(edge.keys.client), "transfer-encoding": "chunked" };
      const asked = request(`${edge.url}/v1/models`, { method: "GET", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject);
      asked.end("{}");
    });
    expect(status).toBe(200);
  });
});

describe("judgements", () => {
  it("are of their own event, and of no other agent's turn", async () => {
    await Promise.all([putAgent(edge, "mine"), putAgent(edge, "theirs")]);
    const post = (made: object) => call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [made] });
    const answer = await fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(edge.keys.client),
      body: JSON.stringify({ model: "theirs", messages: [{ role: "user", content: "Hello" }], max_tokens: 2 }),
    });
    expect(answer.status).toBe(200);
    type Listed = { turnId: string; reward: number | null };
    const turns = async (): Promise<Listed[]> => (await call(edge, "admin", "GET /api/agents/theirs/turns")).body.turns;
    await expect.poll(async () => (await turns()).length, { timeout: 20_000 }).toBe(1);
    const [turn] = await turns();
    const made = judgement("mine", turn?.turnId ?? "");
    expect((await post({ ...made, eventId: "another/judged" })).body.error.message).toContain("got another/judged");
    expect((await post({ ...made, turnId: "another" })).status).toBe(404);
    expect((await post(made)).status).toBe(404);
    expect((await post(judgement("theirs", turn?.turnId ?? ""))).status).toBe(200);
  });
});
