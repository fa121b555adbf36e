/** Cases that people write: one that no version could pass is refused, and as many as there may be can be read, by people and trainers. */
import { describe, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { SEARCH } from "../../trainer/hotel.ts";

const edge = withEdge();
const CONTEXT = 2_048; // of the random base

const add = async (agent: string, expected: object): Promise<{ status: number; message: string }> => {
  const asked = { name: "a case", messages: [{ role: "user", content: "A hotel in Porto." }], expect: expected };
  const { status, body } = await call(edge, "admin", `POST /api/agents/${agent}/suite`, asked);
  return { status, message: body.error?.message ?? "" };
};

describe("a case", () => {
  it.each([
    ["an argument that no tool has and every object", { tool: "SearchHotel", arguments: { constructor: "x" } }, "only declared arguments"],
    ["arguments that nobody writes", { tool: "SearchHotel", arguments: { location: "x".repeat(20_000) } }, "at most 16384 characters"],
    ["a text that is longer than any answer", { reply: { contains: ["x".repeat(4_001)] } }, "at most 4000 characters expected, got 4001"],
    ["more texts than anybody means", { reply: { contains: Array.from({ length: 21 }, (_, n) => `${n}`) } }, "at most 20 texts"],
    ["a text that the context cannot hold", { reply: { contains: ["ß".repeat(4_000)] } }, `of ${CONTEXT} tokens of context`],
  ])("that expects %s is refused", async (_, expected, words) => {
    await putAgent(edge, "hotel", { tools: [SEARCH] });
    const { status, message } = await add("hotel", expected);
    expect(status).toBe(400);
    expect(message).toContain(words);
  });

  it("is refused where all together are more than can be told at once, and as many as there may be are told", async () => {
    // What another engine's context could hold, so that nothing else says no.
    const url = "http://127.0.0.1:9/v1";
    await putAgent(edge, "wide", { engine: { kind: "openai", flavour: "generic", url, model: "m" } });
    const post = (place: number) =>
      call(edge, "admin", "POST /api/agents/wide/suite", {
        ...{ name: `case ${place}`, expect: { reply: {} } },
        messages: [{ role: "user", content: `${place} ${"x".repeat(990_000)}` }],
      });
    const statuses: number[] = [];
    for (let place = 0; place < 9; place += 1) statuses.push((await post(place)).status);
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 201), 400]);
    expect((await post(9)).body.error.message).toContain("at most 8388608 characters of JSON in all cases together");
    expect((await post(0)).status).toBe(201); // one that is there takes its own place
    const listed = await call(edge, "admin", "GET /api/agents/wide/suite?limit=1");
    expect({ status: listed.status, cases: listed.body.cases.length }).toEqual({ status: 200, cases: 1 });
    const told = await call(edge, "trainer", "GET /trainer/v1/agents/wide/lines/shared/suite");
    expect({ status: told.status, cases: told.body.cases.length }).toEqual({ status: 200, cases: 8 });
  });
});
