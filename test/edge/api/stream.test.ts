/** An agent's life as server-sent events, and its settings changed in part. */
import { describe, expect, it } from "vitest";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const said = (agent: string, id: string) => call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judgement(agent, id)] });

/** Messages of a stream until there are so many. */
async function listen(agent: string, count: number, { query = "", headers = {}, meanwhile = async () => {} } = {}): Promise<string[]> {
  const abort = new AbortController();
  const response = await fetch(`${edge.url}/api/agents/${agent}/stream${query}`, {
    headers: bearer(edge.keys.admin, headers),
    signal: abort.signal,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const told = meanwhile();
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.split("\n\n").length > count) break;
  }
  abort.abort();
  await told;
  return text.split("\n\n").slice(0, count);
}

describe("the stream", () => {
  it("tells of moves and of events as they come, and goes on where a listener left off", async () => {
    await putAgent(edge, "live");
    const [retry, ...heard] = await listen("live", 4, {
      meanwhile: async () => {
        await said("live", "first");
        await call(edge, "admin", "PATCH /api/agents/live", { instructions: "Be brief." });
      },
    });
    expect(retry).toBe("retry: 1000");
    expect(heard[0]).toMatch(/^event: release\ndata: \{"revision":0,"stable":0,"canary":null/);
    expect(heard.slice(1).filter((message) => message.includes("event: release"))).toHaveLength(1);
    const [event = ""] = heard.filter((message) => message.includes("event: event"));
    expect(event).toMatch(/^id: \d+\nevent: event\ndata: \{.*"eventId":"first\/next\/judged".*"kind":"judgement:made"\}$/);
    expect(event).not.toContain("payload");
    await said("live", "second");
    const id = /^id: (\d+)/.exec(event)?.[1] ?? "";
    const resumed = await listen("live", 3, { headers: { "last-event-id": id } });
    expect(resumed[2]).toContain('"eventId":"second/next/judged"');
    const whole = await listen("live", 3, { query: "?cursor=0" });
    expect(whole[2]).toContain('"eventId":"first/next/judged"');
  });
});

describe("PATCH", () => {
  it("changes what it names, takes away what is null, and refuses what is no setting", async () => {
    await putAgent(edge, "patched", { instructions: "Be brief.", learning: { votes: 5 } });
    const { status, body } = await call(edge, "admin", "PATCH /api/agents/patched", { learning: { minSignals: 3 }, instructions: null });
    expect([status, body.settings]).toMatchObject([200, { instructions: "", learning: { votes: 5, minSignals: 3 } }]);
    const wrong = await call(edge, "admin", "PATCH /api/agents/patched", { learning: { voets: 3 } });
    expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringContaining("voets")]);
    expect((await call(edge, "admin", "PATCH /api/agents/nobody", {})).status).toBe(404);
  });

  it.each(['{"__proto__": {"votes": 3}}', '{"learning": {"__proto__": {"votes": 3}}}'])(
    "refuses %s as what is no setting",
    async (patch) => {
      await putAgent(edge, "patched");
      const { status, body } = await call(edge, "admin", "PATCH /api/agents/patched", patch);
      expect([status, body.error?.message]).toEqual([400, expect.stringContaining("unknown member __proto__: remove it")]);
    },
  );

  it("refuses what is no object", async () => {
    await putAgent(edge, "patched");
    expect((await call(edge, "admin", "PATCH /api/agents/patched", [])).body.error.message).toBe("body: an object of settings expected");
  });

  it("has pause and resume for learning", async () => {
    await putAgent(edge, "paused", { learning: { votes: 5 } });
    expect((await call(edge, "admin", "POST /api/agents/paused/pause")).body).toEqual({ learning: false });
    expect((await call(edge, "admin", "GET /api/agents/paused")).body.settings.learning).toMatchObject({ enabled: false, votes: 5 });
    expect((await call(edge, "admin", "POST /api/agents/paused/resume")).body).toEqual({ learning: true });
  });
});
