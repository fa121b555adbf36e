/** Conversations turn by turn, each turn with what came of it. */
import { describe, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
type Listed = {
  seq: number;
  turnId: string;
  sessionId: string;
  user: string;
  prompt: { content: string } | null;
  next: { eventId: string }[];
};
const list = async (query = ""): Promise<Listed[]> => (await call(edge, "admin", `GET /api/agents/told/turns${query}`)).body.turns;

async function ask(user: string, messages: unknown[]): Promise<{ id: string; messages: unknown[] }> {
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: bearer(edge.keys.client),
    body: JSON.stringify({ model: "told", user, messages, max_tokens: 2 }),
  });
  const body = (await response.json()) as { id: string; choices: { message: unknown }[] };
  return { id: body.id, messages: [...messages, body.choices[0]?.message] };
}

describe("GET /api/agents/:agent/turns", () => {
  it("lists turns newest first, each with its next state, feedback and judgement", async () => {
    await putAgent(edge, "told");
    const first = await ask("ann", [{ role: "user", content: "A room, please." }]);
    await call(edge, "client", "POST /v1/feedback", { completion_id: first.id, score: -1, correction: "Two rooms." });
    await ask("ann", [...first.messages, { role: "user", content: "No, two rooms." }]);
    await ask("bob", [{ role: "user", content: "Good morning." }]);
    await expect.poll(async () => (await list()).length, { timeout: 20_000 }).toBe(3);
    await expect.poll(async () => (await list()).at(-1)?.next.length, { timeout: 20_000 }).toBe(1);
    const oldest = (await list()).at(-1);
    if (oldest === undefined) throw new Error("a turn expected");
    const { turnId, sessionId, user } = oldest;
    const subject = oldest.next[0]?.eventId ?? "";
    const about = { agent: "told", line: "shared", sessionId, turnId, user, createdAt: new Date().toISOString() };
    const made = { subject, reward: -1, votes: [-1, -1, 0], judge: "embedded", hint: "rooms should be 2.", tool: "SearchHotel" };
    const judgements = [{ ...about, eventId: `${subject}/judged`, payload: { kind: "judgement:made", ...made } }];
    await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements });
    const turns = await list();
    expect(turns.map(({ prompt }) => prompt?.content)).toEqual(["Good morning.", "No, two rooms.", "A room, please."]);
    expect(turns.at(-1)).toMatchObject({
      completionId: first.id,
      policyVersion: 0,
      answer: { role: "assistant" },
      finishReason: expect.stringMatching(/^(?:length|stop)$/), // a random policy may end by itself
      next: [{ messages: [{ role: "user", content: "No, two rooms." }] }],
      feedback: [{ score: -1, correction: "Two rooms." }],
      judgements: [made],
    });
    const seqs = turns.map(({ seq }) => seq);
    expect((await list(`?before=${seqs[0]}&limit=1`)).map(({ seq }) => seq)).toEqual([seqs[1]]);
    expect((await list(`?user=${user}`)).map(({ seq }) => seq)).toEqual(seqs.slice(1));
    expect((await list(`?session=${sessionId}`)).map(({ seq }) => seq)).toEqual(seqs.slice(1));
    expect(await list("?user=u_0000000000000000")).toEqual([]);
  });

  it("searches all that was said, and narrows down by reward, version and user, page by page", async () => {
    const said = async (query: string) => (await list(`?${query}`)).map(({ prompt }) => prompt?.content);
    const first = await ask("ann", [{ role: "user", content: "旅館を探して、 café in Rome." }]);
    await expect.poll(() => said("words=cafe")).toEqual(["旅館を探して、 café in Rome."]);
    expect(await said("words=ROME caf")).toHaveLength(1);
    expect(await said("words=探し")).toHaveLength(1);
    expect(await said("words=索探")).toEqual([]);
    expect(await said("words=two rooms")).toEqual(["No, two rooms.", "A room, please."]);
    expect(await said('words="two')).toEqual(["No, two rooms.", "A room, please."]);
    expect(await said("words=two%00rooms")).toEqual(["No, two rooms.", "A room, please."]);
    // In the hint, and in nothing that was said later.
    expect(await said("words=should")).toEqual(["A room, please."]);
    const supplied = { completion_id: first.id, answer: { role: "assistant", content: "Try the Trastevere." } };
    expect((await call(edge, "client", "POST /v1/feedback", supplied)).status).toBe(200);
    await expect.poll(() => said("words=trastevere")).toEqual(["旅館を探して、 café in Rome."]);
    const [newest] = await list("?words=rooms&limit=1");
    expect(newest?.prompt?.content).toBe("No, two rooms.");
    expect(await said(`words=rooms&before=${newest?.seq}`)).toEqual(["A room, please."]);
    expect(await said("reward=-1")).toEqual(["A room, please."]);
    expect(await said("reward=1")).toEqual([]);
    expect(await said("reward=none&words=rooms&version=0")).toEqual(["No, two rooms."]);
    expect(await said("words=rooms&version=1")).toEqual([]);
    expect(await said("version=0&limit=2")).toHaveLength(2);
    expect(await said(`words=good&user=${newest?.user}`)).toEqual([]);
    expect(await said(`words=good&session=${newest?.sessionId}`)).toEqual([]);
    expect(await said(`words=rooms&session=${newest?.sessionId}`)).toHaveLength(2);
    expect((await call(edge, "admin", "GET /api/agents/told/turns?words=!!")).body.error.param).toBe("words");
    expect((await call(edge, "admin", "GET /api/agents/told/turns?reward=2")).body.error.param).toBe("reward");
    await putAgent(edge, "told-too");
    expect((await call(edge, "admin", "GET /api/agents/told-too/turns?words=rooms")).body.turns).toEqual([]);
    expect(first.id).toMatch(/^chatcmpl-/);
  });

  it("finds nothing of a turn that was not to be stored", async () => {
    await fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(edge.keys.client),
      body: JSON.stringify({ model: "told", messages: [{ role: "user", content: "Zebra one." }], max_tokens: 1, store: false }),
    });
    await ask("ann", [{ role: "user", content: "Zebra two." }]);
    const found = async () => (await list("?words=zebra")).map(({ prompt }) => prompt?.content);
    await expect.poll(found, { timeout: 20_000 }).toEqual(["Zebra two."]);
  });

  it("refuses what is no session, and an agent that is not there", async () => {
    expect((await call(edge, "admin", "GET /api/agents/told/turns?session=x")).status).toBe(400);
    expect((await call(edge, "admin", "GET /api/agents/nobody/turns")).status).toBe(404);
  });
});
