/** A judge that is away leaves signals unjudged and unconsumed, whatever comes after them; once it is back they are judged and learned from. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import type { Judge } from "../../../trainer/judge/judge.ts";
import { LlmJudge } from "../../../trainer/judge/llm/judge.ts";
import { createPanel } from "../../../trainer/judge/panel.ts";
import { refusal, votes, withChatServer, type Reply } from "../judge/chat-server.ts";
import { calledAgent, correctCall, edge, headOf, loopOf, put, refusedCodes, refusedOf, shape, versionsOf } from "./agents.ts";
import { learning } from "./stand-ins.ts";

const server = withChatServer();
const BUSY: Reply = { status: 503, headers: { "retry-after": "0" }, body: refusal("overloaded") };
const TWO = { parameter: "number_of_rooms", value: "2" };

// Where the base is asked after all, the test fails.
const NO_BASE: JobSampler = {
  answer: () => Promise.reject(new Error("asked")),
  score: () => Promise.reject(new Error("asked")),
  call: () => Promise.reject(new Error("asked")),
  knowsWishes: false,
};

/** An agent that a server judges, and a loop over it whose clock may be put forward. */
async function judgedByServer(model = "judge-1") {
  const agent = await calledAgent();
  await put(`/api/agents/${agent}`, { learning: { judge: { kind: "llm", url: server.url, model } } });
  const clock = { ms: 0, stepMs: 0 };
  const learner = learning(shape);
  const judge = createPanel(NO_BASE, new LlmJudge({ environment: {}, now: () => (clock.ms += clock.stepMs) }));
  return { agent, clock, learner, loop: loopOf(agent, { judge, learner }) };
}

const judgementsOf = async (agent: string): Promise<unknown[]> => {
  const { results } = await (
    await edge.getD1()
  )
    .prepare("SELECT payload FROM events WHERE agent = ? AND kind = 'judgement:made' ORDER BY seq")
    .bind(agent)
    .all<{ payload: string }>();
  return results.map(({ payload }) => JSON.parse(payload) as unknown);
};

describe("LineLoop with a judge that is away", { timeout: 60_000 }, () => {
  it("waits, consumes nothing, and learns from everything once it is back, in order and once", async () => {
    const { agent, clock, learner, loop } = await judgedByServer();
    server.answer = () => BUSY;
    expect(await loop.step(2_000)).toBe("waiting");
    const later = await correctCall(agent, "u2");
    expect(await loop.step(2_000)).toBe("waiting");
    expect([await headOf(agent).then(({ cursor }) => cursor), await judgementsOf(agent), learner.updates]).toEqual([0, [], 0]);
    server.answer = () => votes(-1, TWO);
    clock.ms = 120_000;
    expect(await loop.step(2_000)).toBe("published");
    const [version] = await versionsOf(agent);
    expect(version?.events).toMatchObject([{ judge: "llm", reward: -1 }, { eventId: later }]);
    expect(await judgementsOf(agent)).toMatchObject([
      { judge: "llm", poll: { model: "judge-1", asked: 3, failed: {}, disagreement: 0, promptTokens: 2_700, completionTokens: 60 } },
      { judge: "llm" },
    ]);
    expect(await refusedCodes(agent)).toEqual([]);
  });

  it("keeps back what comes after a signal that waits, and takes what came before", async () => {
    const { agent, clock, loop } = await judgedByServer();
    server.answer = () => votes(1);
    await loop.step(2_000);
    const { cursor } = await headOf(agent);
    expect(cursor).toBeGreaterThan(0);
    const [second, third] = [await correctCall(agent, "u2"), await correctCall(agent, "u3")];
    // Between the two the pause passes: the second signal finds the server away, the third one finds it back.
    clock.stepMs = 120_000;
    let asked = 0;
    server.answer = () => (asked++ < 9 ? BUSY : votes(1));
    expect(await loop.step(2_000)).toBe("waiting");
    expect(await judgementsOf(agent)).toMatchObject([{ reward: 1 }, { subject: third }]);
    expect(await headOf(agent)).toMatchObject({ cursor });
    expect(await loop.step(2_000)).toBe("advanced");
    expect(await judgementsOf(agent)).toMatchObject([{ reward: 1 }, { subject: third }, { subject: second }]);
    expect((await headOf(agent)).cursor).toBeGreaterThan(cursor);
  });

  it("gives up a signal that its judge fails on whenever it is asked while it answers others, and goes on behind it", async () => {
    const { agent, clock, loop } = await judgedByServer();
    server.answer = ({ messages: [, shown] }) => (shown?.content.includes("three rooms") === true ? BUSY : votes(1));
    expect(await loop.step(2_000)).toBe("advanced");
    const failing = await correctCall(agent, "u2", "No, three rooms");
    for (let time = 0; time < 4; time += 1) {
      expect(await loop.step(2_000)).toBe("waiting");
      clock.ms += 2_000; // the server's pause, not yet the signal's
      await correctCall(agent, `v${time}`);
      expect(await loop.step(2_000)).toBe("waiting");
      expect(await judgementsOf(agent)).toHaveLength(2 + time);
      clock.ms += 60_000;
    }
    expect(await loop.step(2_000)).toBe("advanced");
    expect((await judgementsOf(agent)).at(-1)).toMatchObject({ subject: failing, reward: 0, refused: { code: "judge/unavailable" } });
    expect((await refusedOf(agent)).find(({ eventId }) => eventId === failing)).toMatchObject({ code: "judge/unavailable" });
  });

  it("refuses alone what its judge cannot read, and goes on behind it", async () => {
    const agent = await calledAgent();
    const breaking: Judge = { judge: () => Promise.reject(new RangeError("Maximum call stack size exceeded")) };
    const loop = loopOf(agent, { judge: breaking, learner: learning(shape) });
    expect(await loop.step(2_000)).toBe("advanced");
    expect([await refusedCodes(agent), await judgementsOf(agent)]).toEqual([["event/unreadable"], []]);
    const crashed = await calledAgent();
    const failing: Judge = { judge: () => Promise.reject(new AppError("engine/crashed", "a living worker expected")) };
    await expect(loopOf(crashed, { judge: failing, learner: learning(shape) }).step(2_000)).rejects.toThrow("a living worker");
  });

  it("goes on with the base where the agent's settings turn back to it", async () => {
    const { agent, loop } = await judgedByServer();
    server.answer = () => BUSY;
    expect(await loop.step(2_000)).toBe("waiting");
    await put(`/api/agents/${agent}`, {});
    await expect(loop.step(2_000)).rejects.toThrow("asked");
  });
});
