/**
 * The learning loop against a real edge over HTTP: conversations through /v1, events through the log, versions through
 * compare-and-set. Judge and learner are stand-ins here, because what a random base says teaches nothing; the loop's own
 * promises (once only, nothing lost, resumes exactly) do not depend on them.
 */
import { describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import type { LineDependencies } from "../../../trainer/line-dependencies.ts";
import { writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { rebuildVersion } from "../../../trainer/rebuild/rebuild.ts";
import type { TrainerStatus } from "../../../shared/trainer-status.ts";
import { at } from "../../../shared/assert.ts";
import { EngineSettings } from "../../../shared/engine.ts";
import { AppError } from "../../../shared/errors.ts";
import { PASSING } from "../../helpers/call.ts";
import { bearer } from "../../helpers/edge.ts";
import { call, nextState, turn, user } from "../hotel.ts";
import { ACCEPTS, judging, learning, type LoopParts, NAMES, REJECTS } from "./stand-ins.ts";
import {
  calledAgent,
  edge,
  shape,
  correctedAgent,
  insertEvent,
  complete,
  put,
  headOf,
  newAgent,
  versionsOf,
  refusedCodes,
  loopOf,
  notesOf,
} from "./agents.ts";

const UNREACHED = new AppError("upstream/unreachable", "POST /judgements: an answer expected, got none");

// Answers of several shapes; each assertion is the check of its own.
// oxlint-disable-next-line no-explicit-any -- see above
async function fetched(agent: string, route: string): Promise<any> {
  const response = await fetch(`${edge.url}/api/agents/${agent}/${route}`, { headers: bearer(edge.keys.admin) });
  expect(response.status).toBe(200);
  return response.json();
}

describe("LineLoop", { timeout: 60_000 }, () => {
  it("publishes a version from one corrected turn, with its lineage, and trains on nothing twice", async () => {
    const agent = await correctedAgent();
    const [judge, learner] = [judging(REJECTS), learning(shape)];
    const loop = loopOf(agent, { judge, learner });
    expect(await loop.step(2_000)).toBe("published");
    const head = await headOf(agent);
    expect(head).toMatchObject({ stable: 1, latest: 1 });
    const [version] = await versionsOf(agent);
    expect(version).toMatchObject({
      version: 1,
      parent: 0,
      hints: ["number_of_rooms should be 2."],
      defaults: [{ tool: "SearchHotel", parameter: "number_of_rooms", value: "2" }],
      events: [{ reward: -1, votes: [-1, -1, 0], judge: "embedded", liftNats: 2 }],
    });
    expect(version?.toSeq).toBe(head.cursor);
    await loop.step(0);
    expect(await headOf(agent)).toMatchObject({ stable: 1, latest: 1 });
    expect(learner.updates).toBe(1);
  });

  it("has updates, gates and what is read ahead made for what the agent's engine gives its template, and says so", async () => {
    const agent = await correctedAgent();
    const engine = EngineSettings.parse({ kind: "openai", flavour: "vllm", url: "http://127.0.0.1:9", model: "m" });
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const changed: Partial<EdgePort> = {
      readHead: async (line) => {
        const head = await client.readHead(line);
        return { ...head, settings: { ...head.settings, engine } };
      },
    };
    const given: unknown[] = [];
    const learner = learning(shape);
    const listening: Learner = {
      update: (request) => (given.push(request.templateArguments), learner.update(request)),
      prepare: async (_, templateArguments) => void given.push(templateArguments),
    };
    const gate: LoopParts["gate"] = async ({ templateArguments }) => (given.push(templateArguments), PASSING);
    expect(await loopOf(agent, { judge: judging(REJECTS), learner: listening, gate, changed }).step(2_000)).toBe("published");
    expect(given).toEqual(Array(3).fill({ enable_thinking: false }));
    expect((await versionsOf(agent))[0]?.runtime).toMatchObject({ templateArguments: '{"enable_thinking":false}' });
  });

  it("puts corrections in force as notes while an update still runs, those of meanwhile too", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow: Learner = { update: (request) => ended.then(() => learner.update(request)) };
    const step = loopOf(agent, { judge: judging(REJECTS), learner: slow }).step(2_000);
    const statuses = async (): Promise<string[]> => (await notesOf(agent)).map(({ status }) => status);
    await expect.poll(statuses, { timeout: 10_000 }).toEqual(["inForce"]);
    const ask = { role: "user", content: "A hotel in Faro" };
    const first = await complete(agent, [ask], "meanwhile");
    await complete(agent, [ask, first, { role: "user", content: "No, two rooms" }], "meanwhile");
    await expect.poll(statuses, { timeout: 20_000 }).toEqual(["inForce", "superseded"]);
    expect((await headOf(agent)).latest).toBe(0);
    end();
    expect(await step).toBe("published");
    expect((await notesOf(agent)).map(({ learnedBy }) => learnedBy)).toEqual([null, 1]);
  });

  it("ends an update at its next step once its lease is lost, and gates and publishes nothing of it", async () => {
    const agent = await calledAgent();
    const lost = new AbortController();
    const reason = new AppError("lease/lost", "another trainer has the agent now");
    const learner = learning(shape);
    const steps: number[] = [];
    const losing: Learner = {
      update: async (request) => {
        for (let done = 1; done <= 9; done += 1) {
          request.onStep?.({ done, of: 9 });
          steps.push(done);
          if (done === 2) lost.abort(reason);
        }
        return learner.update(request);
      },
    };
    await expect(loopOf(agent, { judge: judging(REJECTS), learner: losing, signal: lost.signal }).step(2_000)).rejects.toBe(reason);
    expect([steps, learner.updates, (await headOf(agent)).latest]).toEqual([[1, 2], 0, 0]);
    const late = new AbortController();
    const ending: Learner = { update: (request) => (late.abort(reason), learner.update(request)) };
    let gated = 0;
    const gate: LoopParts["gate"] = async () => ((gated += 1), PASSING);
    await expect(loopOf(agent, { judge: judging(REJECTS), learner: ending, gate, signal: late.signal }).step(2_000)).rejects.toBe(reason);
    expect([learner.updates, gated, (await headOf(agent)).latest]).toEqual([1, 0, 0]);
  });

  it("says what it is doing, step by step, and what a turn was trained with goes with the version", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    const told: TrainerStatus[] = [];
    const slow: Learner = {
      update: async (request) => {
        for (const done of [0, 1, 2]) {
          request.onStep?.({ done, of: 2 });
          await expect.poll(() => told.some((each) => each.phase === "updating" && each.done === done && each.of === 2)).toBe(true);
        }
        const [exchange] = request.corrected;
        const { eventId = "", turns = [] } = exchange ?? {};
        const outcome = await learner.update(request);
        const pieces: [string, number][] = [
          ["rooms: ", 0],
          ["1", -0.5],
        ];
        return { ...outcome, credits: turns.map(({ turnId }) => ({ eventId, turnId, pieces })) };
      },
    };
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const changed: Partial<EdgePort> = {
      async reportStatus(line, status) {
        told.push(status);
        await client.reportStatus(line, status);
      },
    };
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: slow, changed });
    expect(await loop.step(2_000)).toBe("published");
    expect(told.find(({ phase }) => phase === "updating")?.corrections).toBe(1);
    expect(told[0]).toMatchObject({ phase: "watching", corrections: 0, waitingSince: null });
    const seen = async () => (await fetched(agent, "trainer")).trainer?.phase;
    await expect.poll(seen, { timeout: 10_000 }).toBe("publishing");
    expect((await fetched(agent, "trainer")).next).toMatchObject({ learning: true, minSignals: 1, unheard: [] });
    const { turns } = await fetched(agent, "turns");
    expect(turns.flatMap(({ trained }: { trained: object[] }) => trained)).toEqual([
      {
        line: "shared",
        version: 1,
        eventId: expect.any(String),
        pieces: [
          ["rooms: ", 0],
          ["1", -0.5],
        ],
      },
    ]);
  });

  it("begins the next update at once where enough was judged meanwhile", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: { update: (request) => ended.then(() => learner.update(request)) } });
    const step = loop.step(2_000);
    await expect.poll(async () => (await notesOf(agent)).length, { timeout: 10_000 }).toBe(1);
    const ask = { role: "user", content: "A hotel in Faro" };
    await complete(agent, [ask, await complete(agent, [ask], "next"), { role: "user", content: "No, two rooms" }], "next");
    await expect.poll(async () => (await notesOf(agent)).length, { timeout: 20_000 }).toBe(2);
    // All that is to come has come: nothing will wake a long poll.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    end();
    expect(await step).toBe("published");
    const started = performance.now();
    expect(await loop.step(20_000)).toBe("published");
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("gives the note of a judgement that the log has and the agent has not heard of", async () => {
    const agent = await correctedAgent();
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const { events } = await client.pull({ agent, line: "shared", cursor: 0, limit: 100, waitMs: 0 });
    const next = at(
      events.filter(({ payload }) => payload.kind === "nextState:arrived"),
      0,
    );
    const payload = { kind: "judgement:made", subject: next.eventId, reward: -1, votes: [-1, -1, 0], judge: "embedded" };
    const full = JSON.stringify({ ...payload, hint: REJECTS.hint?.text, tool: REJECTS.hint?.toolName });
    // The edge died between its two writes.
    await insertEvent({ ...next, eventId: `${next.eventId}/judged`, agent }, full);
    const judge = judging(ACCEPTS);
    expect(await notesOf(agent)).toEqual([]);
    await loopOf(agent, { judge, learner: learning(shape) }).step(2_000);
    expect(judge.calls).toBe(0);
    expect((await notesOf(agent)).map(({ text, status }) => [text, status])).toEqual([["number_of_rooms should be 2.", "inForce"]]);
  });

  it("retires the notes that the stable version does without", async () => {
    const agent = await correctedAgent();
    const reviewed: string[][] = [];
    const reviewNotes: LoopParts["reviewNotes"] = async ({ stable }, { notes }) => {
      reviewed.push(notes.map(({ text }) => text));
      return stable === 1 ? [...notes] : [];
    };
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: learning(shape), reviewNotes });
    expect(await loop.step(2_000)).toBe("published");
    await loop.step(0);
    expect((await notesOf(agent)).map(({ status, absorbedBy }) => [status, absorbedBy])).toEqual([["absorbed", 1]]);
    expect(reviewed).toEqual([["number_of_rooms should be 2."]]);
  });

  it("consumes what needs no update, and says why", async () => {
    const agent = await correctedAgent();
    const loop = loopOf(agent, { judge: judging(ACCEPTS), learner: learning(shape) });
    expect(await loop.step(2_000)).toBe("advanced");
    const { cursor, stable } = await headOf(agent);
    expect(cursor).toBeGreaterThan(0);
    expect(stable).toBe(0);
    expect(await refusedCodes(agent)).toEqual(["judge/notNegative"]);
  });

  it("learns of nobody for others what they are called: the note stands", async () => {
    const agent = await calledAgent();
    const learner = learning(shape);
    const loop = loopOf(agent, { judge: judging(NAMES), learner });
    expect(await loop.step(2_000)).toBe("advanced");
    expect(learner.updates).toBe(0);
    expect(await refusedCodes(agent)).toEqual(["hint/ofOneUser"]);
    expect(await notesOf(agent)).toMatchObject([{ parameter: "@name", value: "Kim", scope: "user", status: "inForce" }]);
  });

  it.each([100, 1])(
    "after a restart reads its judgements from the log instead of judging again, read %i events at a time",
    async (limit) => {
      const agent = await correctedAgent();
      const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
      const pull: EdgePort["pull"] = (span) => client.pull({ ...span, limit: Math.min(span.limit, limit) });
      const judge = judging(REJECTS);
      const dying: Learner = { update: () => Promise.reject(new Error("killed")) };
      await expect(loopOf(agent, { judge, learner: dying }).step(2_000)).rejects.toThrow("killed");
      expect(judge.calls).toBe(1);
      const second = judging(ACCEPTS);
      const loop = loopOf(agent, { judge: second, learner: learning(shape), changed: { pull } });
      await expect.poll(async () => (await loop.step(200), (await headOf(agent)).cursor), { timeout: 10_000 }).toBeGreaterThan(0);
      expect(second.calls).toBe(0);
      expect(await refusedCodes(agent)).not.toContain("judge/notNegative"); // the random base made no call, so the logged hint finds no tool to be grounded in
    },
  );

  it("lets exactly one of two trainers publish from the same events", async () => {
    // A judgement that one has logged is grounded again by the other, which reads it.
    const agent = await calledAgent();
    const loops = [
      loopOf(agent, { judge: judging(REJECTS), learner: learning(shape) }),
      loopOf(agent, { judge: judging(REJECTS), learner: learning(shape, 7) }),
    ];
    const results = await Promise.all(loops.map((loop) => loop.step(2_000)));
    expect(results.toSorted()).toEqual(["published", "stale"]);
    expect((await versionsOf(agent)).map(({ version }) => version)).toEqual([1, 0]);
  });

  it("never learns the events of a rolled-back version again", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    expect(await loopOf(agent, { judge: judging(REJECTS), learner }).step(2_000)).toBe("published");
    const rolledBack = await fetch(`${edge.url}/api/agents/${agent}/rollback`, {
      method: "POST",
      headers: bearer(edge.keys.admin),
      body: JSON.stringify({ to: 0 }),
    });
    expect(rolledBack.status).toBe(200);
    const again = loopOf(agent, { judge: judging(REJECTS), learner });
    expect(["idle", "waiting"]).toContain(await again.step(0));
    expect(learner.updates).toBe(1);
    expect(await headOf(agent)).toMatchObject({ stable: 0, latest: 1 });
  });

  it.each(["while it waits for a correction", "while it learns from one"])(
    "publishes nothing for an agent whose learning is switched off %s",
    async (moment) => {
      const agent = await correctedAgent();
      const switchOff = (): Promise<void> => put(`/api/agents/${agent}`, { learning: { enabled: false } });
      const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
      const learner = learning(shape);
      const waits = moment.includes("waits");
      const pull: EdgePort["pull"] = async (span) => {
        const page = await client.pull(span);
        if (waits) await switchOff();
        return page;
      };
      const update: Learner["update"] = async (request) => {
        const outcome = await learner.update(request);
        await switchOff();
        return outcome;
      };
      const loop = loopOf(agent, { judge: judging(REJECTS), learner: { update }, changed: { pull } });
      await expect.poll(() => loop.step(200), { timeout: 10_000 }).toBe("advanced");
      expect(learner.updates).toBe(waits ? 0 : 1);
      expect(await headOf(agent)).toMatchObject({ stable: 0, latest: 0 });
      expect(await refusedCodes(agent)).toEqual(["learning/disabled"]);
    },
  );

  it("judges again where the judgement did not reach the log, so that every one stands there", async () => {
    const agent = await correctedAgent();
    const judge = judging(ACCEPTS);
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    let away = true;
    const changed: Partial<EdgePort> = { postJudgements: (batch) => (away ? Promise.reject(UNREACHED) : client.postJudgements(batch)) };
    const loop = loopOf(agent, { judge, learner: learning(shape), changed });
    await expect(loop.step(2_000)).rejects.toThrow("POST /judgements");
    away = false;
    expect(await loop.step(2_000)).toBe("advanced");
    expect(judge.calls).toBe(2);
    const { events } = await client.pull({ agent, line: "shared", cursor: 0, limit: 100, waitMs: 0 });
    expect(events.filter(({ payload }) => payload.kind === "judgement:made")).toHaveLength(1);
  });

  it("reads the turns of a correction again that are further back than it remembers", async () => {
    const agent = await correctedAgent();
    for (const session of ["b", "c"]) await complete(agent, [{ role: "user", content: "Another matter" }], session);
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: learning(shape), config: { cacheTurns: 2 } });
    await expect.poll(() => loop.step(200), { timeout: 10_000 }).toBe("published");
    expect(await refusedCodes(agent)).toEqual([]);
  });

  it("learns from a correction that fifty more turns of its conversation followed, and makes the version again", async () => {
    const agent = await newAgent();
    const called = turn([user("A hotel in Porto")], call("SearchHotel", { city: "Porto", number_of_rooms: "1" }));
    const later = Array.from({ length: 51 }, () => turn([user("Another matter")], call("GetWeather", { place: "Porto" })));
    const sessionId = `s_${agent}`;
    for (const event of [called, ...later, nextState(called, [user("No, two rooms")])]) {
      const [turnId, eventId] = [event.turnId, event.eventId].map((id) => `${sessionId}/${id}`) as [string, string];
      await insertEvent({ ...event, agent, sessionId, turnId, eventId }, JSON.stringify(event.payload));
    }
    expect(await loopOf(agent, { judge: judging(REJECTS), learner: learning(shape), config: { cacheTurns: 9 } }).step(2_000)).toBe(
      "published",
    );
    expect(await refusedCodes(agent)).toEqual([]);
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const deps = { edge: client, learner: learning(shape), loadAdapter: async () => null };
    const writeAdapter: LineDependencies["writeAdapter"] = (adapter) => writeAdapterFiles(shape, adapter, "random");
    expect(await rebuildVersion({ ...deps, writeAdapter }, { agent, line: "shared" }, 1)).toMatchObject({ version: 1, same: true });
  });

  it("finds the turn of a late correction again after a restart, however much other agents have logged since", async () => {
    const agent = await correctedAgent();
    const asked = { ...turn([user("A hotel in Porto")], call("SearchHotel", { city: "Porto" })), seq: 10 };
    const late = { ...nextState(asked, [user("No, two rooms")]), seq: 50_001 };
    const head = { ...(await headOf(agent)), cursor: 50_000 };
    const changed: Partial<EdgePort> = {
      readHead: async () => head,
      pull: async ({ cursor, limit }) => {
        const events = [asked, late].filter(({ seq }) => seq > cursor).slice(0, limit);
        return { events, cursor: events.at(-1)?.seq ?? cursor };
      },
      postJudgements: async () => undefined,
      advanceCursor: async (_, { to }) => ({ status: "advanced", cursor: to }),
    };
    const judge = judging(ACCEPTS);
    expect(await loopOf(agent, { judge, learner: learning(shape), changed }).step(0)).toBe("advanced");
    expect(judge.calls).toBe(1);
  });
});
