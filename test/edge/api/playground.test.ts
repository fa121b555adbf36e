/** What a person does at the dashboard with an agent's answers: asks any version, and corrects what a user got. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, manifestOf, PASSING, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const AGENT = "desk";
const LINE = `/trainer/v1/agents/${AGENT}/lines/shared`;
const HELLO = [{ role: "user", content: "Good morning." }];

type Listed = { completionId: string; policyVersion: number; keyId: string; feedback: object[] };
const turns = async (): Promise<Listed[]> => (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body.turns;

function ask(body: object, headers = bearer(edge.keys.admin)): Promise<Response> {
  const path = headers["authorization"] === `Bearer ${edge.keys.client}` ? "/v1/chat/completions" : `/api/agents/${AGENT}/playground`;
  return fetch(`${edge.url}${path}`, { method: "POST", headers, body: JSON.stringify({ max_tokens: 3, temperature: 0, ...body }) });
}

async function publish(adapter: string): Promise<void> {
  const { parent } = (await call(edge, "trainer", `GET ${LINE}/head`)).body;
  const manifest = manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, parent, adapter: await putAdapter(edge, adapter) });
  expect((await call(edge, "trainer", `POST ${LINE}/versions`, { parent, manifest })).status).toBe(200);
}

beforeAll(async () => {
  await putAgent(edge, AGENT, { release: { canary: { mode: "off" } } });
  await publish("one");
});

describe("POST /api/agents/:agent/playground", () => {
  it("answers with any version, each in a conversation of its own, and keeps nothing of it", async () => {
    const session = "a-conversation";
    for (const version of [0, 1, 0]) {
      const response = await ask({ version, session_id: session, messages: HELLO });
      expect([response.status, response.headers.get("x-policy-version")]).toEqual([200, String(version)]);
    }
    const live = await ask({ session_id: session, messages: HELLO });
    expect(live.headers.get("x-policy-version")).toBe("1");
    await expect.poll(async () => (await turns()).map(({ policyVersion }) => policyVersion), { timeout: 20_000 }).toEqual([1]);
    expect((await turns())[0]?.keyId).toMatch(/^key_/);
  });

  it("refuses a line without the version of it that is meant", async () => {
    const response = await ask({ line: "u_0123456789abcdef", messages: HELLO });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('"param":"line"')]);
  });

  it("streams as chat completions do", async () => {
    const response = await ask({ version: 1, messages: HELLO, stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await response.text()).toMatch(/^data: \{[^]*data: \[DONE\]\n\n$/);
  });

  it("refuses a version that is not there, or must not answer", async () => {
    expect((await ask({ version: 99, messages: HELLO })).status).toBe(404);
    const { parent } = (await call(edge, "trainer", `GET ${LINE}/head`)).body;
    const manifest = manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, parent, adapter: await putAdapter(edge, "two") });
    const gate = { checks: PASSING.checks.map((check) => (check.name === "klToBaseNats" ? { ...check, value: 9, asked: 1 } : check)) };
    const { body } = await call(edge, "trainer", `POST ${LINE}/versions`, { parent, manifest: { ...manifest, gate } });
    expect(body).toMatchObject({ release: "refused" });
    const response = await ask({ version: body.version, messages: HELLO });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining("which is refused")]);
  });

  it("names what is wrong with a request as chat completions do", async () => {
    const response = await ask({ messages: HELLO, temperature: 9 });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("temperature")]);
  });
});

describe("POST /api/agents/:agent/feedback", () => {
  it("is recorded about a user's turn, with who gave it", async () => {
    const answer = await ask({ model: AGENT, user: "ann", messages: HELLO }, bearer(edge.keys.client));
    const { id } = (await answer.json()) as { id: string };
    const about = { completion_id: id, score: -1, correction: "Two rooms." };
    expect((await call(edge, "admin", `POST /api/agents/${AGENT}/feedback`, about)).status).toBe(200);
    const given = async (): Promise<unknown> => (await turns()).find(({ completionId }) => completionId === id)?.feedback;
    const by = expect.stringMatching(/^admin:key_/);
    await expect.poll(given, { timeout: 20_000 }).toEqual([{ eventId: expect.any(String), score: -1, correction: "Two rooms.", by }]);
  });

  it("reaches no turn of another agent", async () => {
    await putAgent(edge, "other");
    const [turn] = await turns();
    const about = { completion_id: turn?.completionId, score: 1 };
    expect((await call(edge, "admin", "POST /api/agents/other/feedback", about)).status).toBe(404);
  });
});
