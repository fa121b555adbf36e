/** What is missing until a line learns again, as people are told it: whose corrections wait for others, and what does not wait. */
import { expect, it } from "vitest";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

it("has what too few have corrected or supplied, and no approvals", async () => {
  await putAgent(edge, "circle");
  for (const user of ["a", "b", "c", "d"]) {
    const body = JSON.stringify({ model: "circle", user, messages: [{ role: "user", content: `I am ${user}.` }], max_tokens: 1 });
    expect((await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers: bearer(edge.keys.client), body })).status).toBe(200);
  }
  const audience = async (): Promise<number> => (await call(edge, "admin", "GET /api/agents/circle/release")).body.audience.users;
  await expect.poll(audience, { timeout: 10_000 }).toBe(4);
  const judge = async (id: string, said: object): Promise<void> => {
    const made = judgement("circle", id);
    const judgements = [{ ...made, user: `u_${id}`, payload: { ...made.payload, ...said } }];
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements })).status).toBe(200);
  };
  for (const id of ["r1", "r2"]) await judge(id, { reward: 1, teaches: "reward" });
  await judge("s1", { teaches: "answer", tool: "SearchHotel" });
  for (const id of ["h1", "h2"]) await judge(id, { hint: "number_of_rooms should be 2.", tool: "SearchHotel" });
  const { unheard } = (await call(edge, "admin", "GET /api/agents/circle/trainer")).body.next;
  expect(unheard).toEqual([
    {
      ...{ tool: "SearchHotel", parameter: "", value: "answer", users: 1 },
      detail: "said by 1 of 4 users that it takes to change what everybody gets",
    },
    {
      ...{ tool: "SearchHotel", parameter: "number_of_rooms", value: "2", users: 2 },
      detail: "said by 2 of 4 users that it takes to change what everybody gets; in force as a note meanwhile",
    },
  ]);
});
