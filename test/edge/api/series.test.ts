/** What happened to an agent over time, as its log tells. */
import { describe, expect, it } from "vitest";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const series = (query: string) => call(edge, "admin", `GET /api/agents/counted/series${query}`);
type Point = { at: string; turns: number; judged: number; reward: number | null; corrections: number };

describe("GET /api/agents/:agent/series", () => {
  it("counts turns, rewards that say something, and corrections, by interval", async () => {
    await putAgent(edge, "counted");
    const answered = await fetch(`${edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(edge.keys.client),
      body: JSON.stringify({ model: "counted", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 }),
    });
    expect(answered.status).toBe(200);
    const made = (id: string, createdAt: string, payload: object) => {
      const whole = judgement("counted", id);
      return { ...whole, createdAt, payload: { ...whole.payload, ...payload } };
    };
    const judgements = [
      made("a", "2026-03-01T10:05:00.000Z", { reward: -1, hint: "rooms should be 2.", tool: "SearchHotel" }),
      made("b", "2026-03-01T10:55:00.000Z", { reward: 1 }),
      made("c", "2026-03-01T11:05:00.000Z", { reward: 0, judge: "verifiable" }),
      made("d", "2026-03-02T00:00:00.000Z", { reward: -1 }),
    ];
    await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements });
    const days = (await series("?from=2026-03-01T08:00:00Z&to=2026-03-03T00:00:00Z")).body;
    expect(days).toMatchObject({ agent: "counted", step: "day" });
    expect(days.points).toEqual([
      { at: "2026-03-01T00:00:00.000Z", turns: 0, aborted: 0, judged: 2, reward: 0, corrections: 1 },
      { at: "2026-03-02T00:00:00.000Z", turns: 0, aborted: 0, judged: 1, reward: -1, corrections: 0 },
    ]);
    const { points } = (await series("?step=hour&from=2026-03-01T10:00:00Z&to=2026-03-01T12:00:00Z")).body as { points: Point[] };
    expect(points.map(({ judged }) => judged)).toEqual([2, 0]);
    const turnsToday = async (): Promise<number> => (await series("")).body.points.at(-1)?.turns;
    await expect.poll(turnsToday, { timeout: 20_000 }).toBe(1);
    expect((await series("")).body.points).toHaveLength(30);
  });

  it("refuses a range of no or too many intervals, and an agent that is not there", async () => {
    for (const range of ["from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "step=hour&from=2020-01-01T00:00:00Z"]) {
      const { status, body } = await series(`?${range}`);
      expect([status, body.error.code, body.error.param]).toEqual([400, "input/invalid", "from"]);
    }
    expect((await call(edge, "admin", "GET /api/agents/nobody/series")).status).toBe(404);
  });
});
