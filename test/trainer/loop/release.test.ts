/** What the loop does with a gate's word, with what is barred or let back in, and with what few have said. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import type { Gate, GateRequest } from "../../../trainer/gate/gate.ts";
import type { Judge } from "../../../trainer/judge/judge.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import type { Metrics } from "../../../trainer/metrics.ts";
import { call, PASSING } from "../../helpers/call.ts";
import { bearer } from "../../helpers/edge.ts";
import {
  calledAgent,
  complete,
  correctCall,
  correctedAgent,
  edge,
  headOf,
  learnedOf,
  loopOf,
  newAgent,
  notesOf,
  post,
  put,
  refusedCodes,
  refusedOf,
  shape,
  versionsOf,
} from "./agents.ts";
import { judging, learning, REJECTS, WIFI } from "./stand-ins.ts";

describe("LineLoop", { timeout: 60_000 }, () => {
  it("keeps a version from its users that the gate refuses, with the report, and its note in force", async () => {
    const agent = await correctedAgent();
    const asked: GateRequest[] = [];
    const gate: Gate = async (request) => {
      asked.push(request);
      return { checks: PASSING.checks.map((check) => (check.name === "length" ? { ...check, value: 1, asked: 9 } : check)) };
    };
    expect(await loopOf(agent, { judge: judging(REJECTS), learner: learning(shape), gate }).step(2_000)).toBe("published");
    expect(asked).toMatchObject([{ parent: null, suite: [] }]);
    const head = await headOf(agent);
    expect([head.stable, head.latest, head.parent]).toEqual([0, 1, 0]);
    expect(await versionsOf(agent)).toMatchObject([{ version: 1, gate: { checks: expect.any(Array) } }, { version: 0 }]);
    expect((await notesOf(agent)).map(({ status, learnedBy }) => [status, learnedBy])).toEqual([["inForce", null]]);
  });

  it("learns nothing from what is barred, and from what was rolled back only once it is let back in, without judging again", async () => {
    const agent = await calledAgent();
    const [judge, learner] = [judging(REJECTS), learning(shape)];
    const loop = loopOf(agent, { judge, learner });
    expect(await loop.step(2_000)).toBe("published");
    await post(`/api/agents/${agent}/rollback`, { to: 0 });
    await loop.step(0);
    expect([(await headOf(agent)).latest, learner.updates]).toEqual([1, 1]);
    const [first] = await versionsOf(agent).then((versions) => versions.find(({ version }) => version === 1)?.events ?? []);
    await post(`/api/agents/${agent}/quarantine/release`, { events: [first?.eventId] });
    const { calls } = judge;
    // By another trainer, too: what it needs is in the log.
    expect(await loopOf(agent, { judge, learner }).step(0)).toBe("published");
    expect(judge.calls).toBe(calls);
    expect(await headOf(agent)).toMatchObject({ stable: 2, parent: 2, latest: 2, reopened: false });
    expect((await versionsOf(agent))[0]).toMatchObject({ version: 2, parent: 0, events: [{ eventId: first?.eventId }] });
    await loop.step(0);
    expect(learner.updates).toBe(2);
    // A learned correction has become a case of the suite, for the next candidate to keep.
    const suite = await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).readSuite({ agent, line: "shared" });
    expect(suite).toMatchObject([{ source: "correction", version: 2, expect: { arguments: { number_of_rooms: "2" } } }]);
  });

  it("teaches a larger circle only what four of its users have said, each with a quarter of the weight", async () => {
    const agent = await newAgent();
    for (const each of ["a", "b", "c", "d", "e"]) await complete(agent, [{ role: "user", content: `I am ${each}.` }], each, each);
    const audience = async () =>
      (await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).readInfluence({ agent, line: "shared" })).audience;
    await expect.poll(audience, { timeout: 10_000 }).toEqual({ users: 5, keys: 1, trusted: {} });
    const learner = learning(shape);
    const told: unknown[] = [];
    const metrics: Metrics = (name, fields) => void (name === "cursor:advanced" && told.push(fields));
    const loop = loopOf(agent, { judge: judging(REJECTS), learner, metrics });
    const said = [await correctCall(agent, "u1"), await correctCall(agent, "u2"), await correctCall(agent, "u3")];
    const loud = [await correctCall(agent, "u3"), await correctCall(agent, "u3")];
    expect(await loop.step(2_000)).toBe("advanced");
    expect(await refusedCodes(agent)).toEqual(Array(5).fill("user/waiting"));
    const why = [expect.stringContaining("waits for others to say the same: said by 3 of 4 users")];
    expect(told).toMatchObject([{ refused: { "user/waiting": 5 }, why }]);
    expect([(await headOf(agent)).latest, learner.updates]).toEqual([0, 0]);
    expect((await notesOf(agent)).filter(({ status }) => status === "inForce")).toHaveLength(3);
    said.push(await correctCall(agent, "u4"));
    // By another trainer: what it needs of the earlier three is in the log.
    expect(await loopOf(agent, { judge: judging(REJECTS), learner }).step(2_000)).toBe("published");
    const [version] = await versionsOf(agent);
    const shareOf = (id: string | undefined): number | undefined => version?.events.find(({ eventId }) => eventId === id)?.share;
    expect(version?.events.map(({ eventId }) => eventId).toSorted()).toEqual([...said, ...loud].toSorted());
    expect([said[0], said[1], said[3]].map(shareOf)).toEqual([0.25, 0.25, 0.25].map((share) => expect.closeTo(share)));
    expect([said[2], ...loud].map(shareOf)).toEqual([1, 1, 1].map((part) => expect.closeTo(part / 12)));
  });

  it("learns behind a canary with what that carries and rehearses it, from which the next version inherits it", async () => {
    const agent = await newAgent();
    await put(`/api/agents/${agent}`, { release: { canary: { mode: "on" } } });
    const learner = learning(shape);
    await correctCall(agent, "u1");
    expect(await loopOf(agent, { judge: judging(REJECTS), learner }).step(2_000)).toBe("published");
    const head = await headOf(agent);
    const rooms = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2" };
    expect(head).toMatchObject({ stable: 0, parent: 1, defaults: [], parentKept: { defaults: [{ ...rooms, before: { version: 0 } }] } });
    await correctCall(agent, "u1");
    const told: unknown[] = [];
    const listening: Learner = { update: (request) => (told.push(request.carried, request.rehearsed), learner.update(request)) };
    const gate: Gate = async ({ carried }) => (told.push(carried), PASSING);
    const judge = judging({ ...REJECTS, hint: WIFI });
    expect(await loopOf(agent, { judge, learner: listening, gate }).step(2_000)).toBe("published");
    const wifi = { tool: "SearchHotel", parameter: "has_wifi", value: "True", before: { adapter: head.parentAdapter } };
    const rehearsed = { tool: { function: { name: "SearchHotel" } }, parameter: { name: "number_of_rooms" }, system: [] };
    expect(told).toMatchObject([[rooms], [rehearsed], { before: [rooms], after: [wifi, rooms] }]);
    const [latest] = await versionsOf(agent);
    expect(latest?.inputs?.rehearsed).toEqual([{ turnId: expect.any(String), tool: "SearchHotel", parameter: "number_of_rooms" }]);
  });

  it.each(["alone", "with what four have said"])(
    "lets three teach nobody, %s, where an update refuses what the fourth has said",
    async (beside) => {
      const agent = await newAgent();
      for (const each of ["a", "b", "c", "d", "e"]) await complete(agent, [{ role: "user", content: `I am ${each}.` }], each, each);
      const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
      await expect.poll(async () => (await client.readInfluence({ agent, line: "shared" })).audience.users, { timeout: 10_000 }).toBe(5);
      const users = ["u1", "u2", "u3", "u4"];
      const rooms: string[] = [];
      for (const each of users) rooms.push(await correctCall(agent, each));
      const wifi: string[] = [];
      if (beside !== "alone") for (const each of users) wifi.push(await correctCall(agent, each));
      const judge: Judge = { judge: async ({ event }) => (wifi.includes(event.eventId) ? { ...REJECTS, hint: WIFI } : REJECTS) };
      const taught: string[][] = [];
      const taughtBy = learning(shape);
      const [unfit] = rooms;
      const learner: Learner = {
        update: async (request) => {
          taught.push(request.corrected.map(({ eventId }) => eventId));
          const corrected = request.corrected.filter(({ eventId }) => eventId !== unfit);
          const refused = request.corrected.length > corrected.length && unfit !== undefined ? [unfit] : [];
          return {
            ...(await taughtBy.update({ ...request, corrected })),
            refused: refused.map((eventId) => ({ eventId, code: "turn/template", detail: "" })),
          };
        },
      };
      const loop = loopOf(agent, { judge, learner });
      expect(await loop.step(2_000)).toBe(beside === "alone" ? "advanced" : "published");
      expect(taught).toEqual(beside === "alone" ? [rooms] : [[...rooms, ...wifi], wifi]);
      expect((await refusedOf(agent)).map(({ eventId, code }) => [eventId, code])).toEqual([
        [unfit, "turn/template"],
        ...rooms.slice(1).map((eventId) => [eventId, "user/waiting"]),
      ]);
      expect((await learnedOf(agent)).map(([eventId]) => eventId)).toEqual(wifi);
      expect(
        (await notesOf(agent)).filter(({ status, parameter }) => status === "inForce" && parameter === "number_of_rooms"),
      ).toHaveLength(4);
      await loop.step(0);
      expect(taught).toHaveLength(beside === "alone" ? 1 : 2);
    },
  );

  it("is told which keys an agent trusts", async () => {
    const agent = await newAgent();
    const { id } = (await call(edge, "admin", "POST /api/keys", { kind: "client", name: "staff" })).body;
    expect((await call(edge, "admin", `PATCH /api/agents/${agent}`, { learning: { trusted: { [id]: 1 } } })).status).toBe(200);
    const { audience } = await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).readInfluence({ agent, line: "shared" });
    expect(audience).toEqual({ users: 0, keys: 0, trusted: { [id]: 1 } });
  });

  it("learns again what a deleted user's versions had learned from others, from the last version without the user", async () => {
    const agent = await newAgent();
    const [gone, stays] = ["u_00000000000000aa", "u_00000000000000bb"];
    const learner = learning(shape);
    const loop = loopOf(agent, { judge: judging(REJECTS), learner });
    await correctCall(agent, gone);
    expect(await loop.step(2_000)).toBe("published");
    const kept = await correctCall(agent, stays);
    expect(await loop.step(2_000)).toBe("published");
    const response = await fetch(`${edge.url}/api/users/${gone}`, { method: "DELETE", headers: bearer(edge.keys.admin) });
    expect(response.status).toBe(202);
    expect(await headOf(agent)).toMatchObject({ stable: 2, rebuild: { from: 0 } });
    expect(await loop.step(0)).toBe("published");
    const [rebuilt] = await versionsOf(agent);
    expect(rebuilt).toMatchObject({ version: 3, parent: 0, events: [{ eventId: kept, user: stays }] });
    expect(await headOf(agent)).toMatchObject({ stable: 3, rebuild: null });
    await loop.step(0);
    expect(learner.updates).toBe(3);
    // The last one of all: nothing is left to learn, so the version before takes over as it is.
    await fetch(`${edge.url}/api/users/${stays}`, { method: "DELETE", headers: bearer(edge.keys.admin) });
    await loop.step(0);
    expect(await headOf(agent)).toMatchObject({ stable: 0, rebuild: null, latest: 3 });
  });

  it("is done with a version that the edge will not have, on record, and goes on", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    const rejected = new AppError("upstream/invalid", "POST versions: 2xx expected, got 422 manifest: no", { details: { status: 422 } });
    const changed: Partial<EdgePort> = { publish: () => Promise.reject(rejected) };
    const loop = loopOf(agent, { judge: judging(REJECTS), learner, changed });
    expect(await loop.step(2_000)).toBe("advanced");
    expect(await refusedCodes(agent)).toContain("update/rejected");
    await loop.step(0);
    expect([learner.updates, (await headOf(agent)).latest]).toEqual([1, 0]);
  });

  it("passes over a correction that was barred before it was learned from", async () => {
    const agent = await correctedAgent();
    const learner = learning(shape);
    const changed: Partial<EdgePort> = { readQuarantine: async () => barred };
    const { events } = await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).pull({
      line: "shared",
      agent,
      cursor: 0,
      limit: 100,
      waitMs: 2_000,
    });
    const barred = events.filter(({ payload }) => payload.kind === "nextState:arrived").map(({ eventId, turnId }) => ({ eventId, turnId }));
    expect(barred.length).toBeGreaterThan(0);
    expect(await loopOf(agent, { judge: judging(REJECTS), learner, changed }).step(2_000)).toBe("advanced");
    expect(await refusedCodes(agent)).toContain("event/quarantined");
    expect(learner.updates).toBe(0);
  });

  it("passes over a correction that is barred while its update waits for the engine", async () => {
    const agent = await newAgent();
    const event = await correctCall(agent, "u1");
    const learner = learning(shape);
    const loop = loopOf(agent, {
      judge: judging(REJECTS),
      learner,
      queued: async (work) => {
        await post(`/api/agents/${agent}/quarantine`, { events: [event] });
        return work();
      },
    });
    expect(await loop.step(2_000)).toBe("advanced");
    expect([learner.updates, await refusedCodes(agent)]).toEqual([0, ["event/quarantined"]]);
  });

  it("leaves what others say alike while an update waits for the engine to the next one", async () => {
    const agent = await newAgent();
    const first = await correctCall(agent, "u1");
    const said: string[] = [];
    const loop = loopOf(agent, {
      judge: judging(REJECTS),
      learner: learning(shape),
      queued: async (work) => {
        if (said.length === 0) said.push(await correctCall(agent, "u2"));
        await expect.poll(async () => (await notesOf(agent)).length, { timeout: 10_000 }).toBe(2);
        return work();
      },
    });
    const learned = async () => (await versionsOf(agent))[0]?.events.map(({ eventId }) => eventId);
    expect([await loop.step(2_000), await learned()]).toEqual(["published", [first]]);
    expect([await loop.step(0), await learned()]).toEqual(["published", said]);
  });
});
