/** Requests that no client of ours sends, and others do: each is answered by what it is, never by a fault of the server. */
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

const statusOf = async (path: string): Promise<number> => (await fetch(`${edge.url}${path}`, { headers: bearer(edge.keys.admin) })).status;

it("a body that never ends is answered before it does", async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(edge.url);
    const asking = request({ hostname, port, path: "/v1/chat/completions", method: "POST", headers: { "content-length": 1_000_000 } });
    asking.on("response", (response) => {
      resolve(response.statusCode);
      asking.destroy();
    });
    asking.on("error", reject);
    asking.write("{");
  });
  expect(status).toBe(401);
});

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

describe("a query", () => {
  it.each([
    "turns?verison=1",
    "notes?usr=u",
    "versions?limits=1",
    "audit?olny=people",
    "release?lnie=u",
    "events?after=1",
    "series?setp=day",
  ])("%s is refused, and not answered as if nothing were asked", async (path) => {
    await putAgent(edge, "odd");
    const { status, body } = await call(edge, "admin", `GET /api/agents/odd/${path}`);
    expect({ status, message: body.error?.message }).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^unknown member \w+: remove it$/),
    });
  });

  it("that misspells whose note is meant deletes nobody's", async () => {
    await putAgent(edge, "odd");
    expect((await call(edge, "admin", "DELETE /api/agents/odd/notes/n_1?lnie=u")).status).toBe(400);
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

describe("a body", () => {
  const post = (path: string, sent: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}) =>
    fetch(`${edge.url}${path}`, { method: "POST", headers: bearer(edge.keys.client, headers), body: sent });
  const CHAT = "/v1/chat/completions";
  const hello = JSON.stringify({ model: "odd", max_tokens: 2, messages: [{ role: "user", content: "Hello" }] });
  const many = (item: string, count: number): string => Array.from({ length: count }, () => item).join();
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

  it.each([
    ["messages that are none", CHAT, `{"model": "odd", "messages": [${many("1", 300_000)}]}`, "messages.0"],
    ["messages of no role", CHAT, `{"model": "odd", "messages": [${many("{}", 300_000)}]}`, "messages.0.role"],
    [
      "calls that are none",
      CHAT,
      `{"model": "odd", "messages": [{"role": "assistant", "tool_calls": [${JSON.stringify(call)}, ${many("{}", 200_000)}]}]}`,
      "messages.0.tool_calls.1.id",
    ],
    ["items that are none", "/v1/responses", `{"model": "odd", "input": [${many("1", 300_000)}]}`, "input.0"],
  ])("of half a million %s is refused by the first", async (_, path, sent, param) => {
    await putAgent(edge, "odd");
    const response = await post(path, sent);
    const { error } = (await response.json()) as { error: { param: string } };
    expect({ status: response.status, param: error.param }).toEqual({ status: 400, param });
  });

  it("of many pairs of metadata is refused for their number", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 80_000 }, (_, n) => [String(n), 1]));
    const response = await post(CHAT, JSON.stringify({ ...JSON.parse(hello), metadata }));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("metadata: at most 16 pairs expected")]);
  });

  it("that is compressed, or no UTF-8, is refused as that, and not read as something else", async () => {
    await putAgent(edge, "odd");
    const zipped = await post(CHAT, new Uint8Array(gzipSync(hello)), { "content-encoding": "gzip" });
    expect([zipped.status, await zipped.text()]).toEqual([400, expect.stringContaining("content-encoding: a body as it stands expected")]);
    const broken = Buffer.from(hello.replace("Hello", "Hell~"));
    broken[broken.indexOf("~")] = 0xff;
    const latin = await post(CHAT, new Uint8Array(broken));
    expect([latin.status, await latin.text()]).toEqual([400, expect.stringContaining("body: JSON in UTF-8 expected")]);
    expect((await post(CHAT, hello)).status).toBe(200);
  });

  it("that says how often it was tried in other than digits is refused", async () => {
    await putAgent(edge, "odd");
    for (const count of ["", "0x1", "1e3", "-1"])
      expect([count, (await post(CHAT, hello, { "x-stainless-retry-count": count })).status]).toEqual([count, 400]);
  });

  it("of items that say nothing of the conversation is refused", async () => {
    await putAgent(edge, "odd");
    const response = await post("/v1/responses", JSON.stringify({ model: "odd", input: [{ type: "mcp_call" }] }));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('"param":"input"')]);
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
