/** An agent with conversations, a version that learned from one of them, and a case, for browsers to look at. */
import { expect, vi } from "vitest";
import { putAdapter } from "../helpers/adapters.ts";
import { call, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, type TestEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";

export const AGENT = "desk";
/** What a user of it says. */
export const SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken over'\">";

/** An answer as the policy writes it. */
const answerWith = (rooms: number): string =>
  `At once. <tool_call>{"name": "SearchHotel", "arguments": {"location": "Paris", "number_of_rooms": "${rooms}"}}</tool_call>`;

export async function furnish(edge: TestEdge): Promise<void> {
  await putAgent(edge, AGENT, { tools: [SEARCH] });
  const ask = (messages: unknown[]): Promise<Response> =>
    fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(edge.keys.client),
      body: JSON.stringify({ model: AGENT, messages, max_tokens: 2, temperature: 0 }),
    });
  const first = (await (await ask([{ role: "user", content: SCRIPT }])).json()) as { choices: { message: object }[] };
  const said = [{ role: "user", content: SCRIPT }, { ...first.choices[0]?.message }, { role: "user", content: "Two rooms, please." }];
  await ask(said);
  const line = `/trainer/v1/agents/${AGENT}/lines/shared`;
  const { body: head } = await call(edge, "trainer", `GET ${line}/head`);
  const manifest = {
    ...manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, adapter: await putAdapter(edge, "one"), fromSeq: 0, toSeq: 1 }),
    events: [lineage("e1", 1)],
    hints: ["number_of_rooms should be 2."],
    defaults: [{ tool: SEARCH.function.name, parameter: "location", value: "Porto", corrected: null }],
    changes: [{ prompt: SCRIPT, before: answerWith(1), after: answerWith(2) }],
  };
  type Logged = { payload: { kind: string }; turnId: string };
  const logged = async (): Promise<Logged[]> => (await call(edge, "admin", `GET /api/agents/${AGENT}/events`)).body.events;
  const isThere = async (): Promise<void> =>
    expect((await logged()).filter(({ payload }) => payload.kind === "turn:finished")).toHaveLength(2);
  await vi.waitFor(isThere, { timeout: 20_000 });
  const turnId = (await logged()).find(({ payload }) => payload.kind === "turn:finished")?.turnId;
  const credits = [
    {
      eventId: "e1",
      turnId,
      pieces: [
        ["rooms: ", 1e-7],
        ["1", -0.5],
        ["}", 0.125],
      ],
    },
  ];
  const published = await call(edge, "trainer", `POST ${line}/versions`, { parent: head.parent, manifest, credits });
  expect(published.status).toBe(200);
  const expectation = { name: SCRIPT, messages: [{ role: "user", content: "Two rooms." }], expect: { reply: { contains: ["two"] } } };
  expect((await call(edge, "admin", `POST /api/agents/${AGENT}/suite`, expectation)).status).toBe(201);
}
