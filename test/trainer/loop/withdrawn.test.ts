/** Corrections that were withdrawn before an update has taught them. */
import { describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { at } from "../../../shared/assert.ts";
import type { Judge, Verdict } from "../../../trainer/judge/judge.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import {
  calledAgent,
  complete,
  correctCall,
  edge,
  headOf,
  learnedOf,
  loopOf,
  newAgent,
  notesOf,
  post,
  refusedCodes,
  refusedOf,
  remove,
  shape,
  versionsOf,
} from "./agents.ts";
import { judging, learning, type LoopParts, refusing, REJECTS, WIFI } from "./stand-ins.ts";

async function dropNote(agent: string, text: string): Promise<void> {
  const { noteId } = at(
    (await notesOf(agent)).filter((note) => note.text === text),
    0,
  );
  await remove(`/api/agents/${agent}/notes/${noteId}`);
}

/** Judges what is open, and dies before it is learned. */
async function judgeOnly(agent: string, judge: Judge): Promise<void> {
  const dying: Learner = { update: () => Promise.reject(new Error("killed")) };
  await expect(loopOf(agent, { judge, learner: dying }).step(2_000)).rejects.toThrow("killed");
}

const ROOMS = "number_of_rooms should be 2.";

const rooms = (value: string): Verdict => ({
  ...REJECTS,
  hint: { text: `number_of_rooms should be ${value}.`, hint: { parameter: "number_of_rooms", value }, toolName: "SearchHotel" },
});

/** Hears these values in corrections, one after the other. */
function hearing(...values: readonly string[]): Judge {
  const left = [...values];
  return { judge: async () => rooms(left.shift() ?? "none") };
}

/** By event. */
const codesOf = async (agent: string): Promise<Record<string, string>> =>
  Object.fromEntries((await refusedOf(agent)).map(({ eventId, code }) => [eventId, code]));

describe("a correction whose note was dropped", { timeout: 60_000 }, () => {
  it("is not taught, and is refused by that name", async () => {
    const agent = await newAgent();
    const event = await correctCall(agent, "u1");
    const [judge, learner] = [judging(REJECTS), learning(shape)];
    await judgeOnly(agent, judge);
    await dropNote(agent, ROOMS);
    expect(await loopOf(agent, { judge, learner }).step(2_000)).toBe("advanced");
    expect([learner.updates, (await headOf(agent)).latest]).toEqual([0, 0]);
    expect(await refusedOf(agent)).toEqual([{ eventId: event, code: "note/dropped", detail: expect.stringContaining("number_of_rooms") }]);
    // Said again it is learned.
    const again = await correctCall(agent, "u1");
    expect(await loopOf(agent, { judge, learner }).step(2_000)).toBe("published");
    expect((await versionsOf(agent))[0]?.events.map(({ eventId }) => eventId)).toEqual([again]);
  });

  it("is not published where that happened while its update ran", async () => {
    const agent = await calledAgent();
    const learner = learning(shape);
    const slow: Learner = {
      update: async (request) => {
        if (learner.updates === 0) await dropNote(agent, ROOMS);
        return learner.update(request);
      },
    };
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: slow });
    expect(await loop.step(2_000)).toBe("stale");
    expect(await loop.step(0)).toBe("advanced");
    expect([learner.updates, (await headOf(agent)).latest]).toEqual([1, 0]);
    expect(await refusedCodes(agent)).toEqual(["note/dropped"]);
  });

  it("leaves what else the same message said to be learned", async () => {
    const agent = await newAgent();
    const event = await correctCall(agent, "u1");
    const [judge, learner] = [judging({ ...REJECTS, further: [WIFI] }), learning(shape)];
    await judgeOnly(agent, judge);
    await dropNote(agent, ROOMS);
    expect(await loopOf(agent, { judge, learner }).step(2_000)).toBe("published");
    expect((await versionsOf(agent))[0]?.hints).toEqual([WIFI.text]);
    expect((await refusedOf(agent)).map(({ eventId, code }) => [eventId, code])).toEqual([[event, "note/dropped"]]);
  });

  it("is not learned again where the version that had learned it is taken back", async () => {
    const agent = await calledAgent();
    const learner = learning(shape);
    const loop = loopOf(agent, { judge: judging(REJECTS), learner });
    expect(await loop.step(2_000)).toBe("published");
    await dropNote(agent, ROOMS);
    await post(`/api/agents/${agent}/rollback`, { to: 0, quarantine: false });
    expect(await loop.step(0)).toBe("advanced");
    expect(await headOf(agent)).toMatchObject({ latest: 1, reopened: false });
    expect(await refusedCodes(agent)).toEqual(["note/dropped"]);
  });

  it("while its update waits for the engine is not taught either", async () => {
    const agent = await calledAgent();
    const learner = learning(shape);
    const queued: LoopParts["queued"] = async (work) => {
      await dropNote(agent, ROOMS);
      return work();
    };
    expect(await loopOf(agent, { judge: judging(REJECTS), learner, queued }).step(2_000)).toBe("advanced");
    expect([learner.updates, await refusedCodes(agent)]).toEqual([0, ["note/dropped"]]);
  });

  it("is not learned again beside others where the versions that had learned it have to go with a deleted user", async () => {
    const agent = await newAgent();
    const gone = "u_00000000000000aa";
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: learning(shape) });
    await correctCall(agent, gone);
    await correctCall(agent, "u_00000000000000bb");
    expect(await loop.step(2_000)).toBe("published");
    for (const { noteId, user } of await notesOf(agent)) if (user !== gone) await remove(`/api/agents/${agent}/notes/${noteId}`);
    await remove(`/api/users/${gone}`);
    expect(await loop.step(0)).toBe("published");
    expect(await headOf(agent)).toMatchObject({ stable: 0, latest: 1, reopened: false });
    expect(await refusedCodes(agent)).toEqual(["note/dropped"]);
  });
});

describe("a correction that its user has replaced", { timeout: 60_000 }, () => {
  /** A loop whose first update waits until another correction has become a note. */
  const interrupted = (agent: string, judge: Judge, said: () => Promise<string>) => {
    const [learner, later] = [learning(shape), { eventId: "" }];
    const queued: LoopParts["queued"] = async (work) => {
      if (later.eventId === "") later.eventId = await said();
      await expect.poll(async () => (await notesOf(agent)).length, { timeout: 10_000 }).toBe(2);
      return work();
    };
    return { loop: loopOf(agent, { judge, learner, queued }), learner, later };
  };

  it("while its update waited for the engine is not taught, and the later one is", async () => {
    const agent = await newAgent();
    const first = await correctCall(agent, "u1");
    const { loop, learner, later } = interrupted(agent, hearing("2", "3"), () => correctCall(agent, "u1"));
    expect(await loop.step(2_000)).toBe("advanced");
    expect([learner.updates, await refusedOf(agent)]).toEqual([
      0,
      [{ eventId: first, code: "hint/superseded", detail: `"${ROOMS}" was corrected to 3 by the same user` }],
    ]);
    expect(await loop.step(0)).toBe("published");
    expect(await learnedOf(agent)).toEqual([[later.eventId, "number_of_rooms should be 3."]]);
  });

  it("is taught where it was another user who said otherwise, or the later one is barred", async () => {
    const [others, barred] = [await newAgent(), await newAgent()];
    const first = await correctCall(others, "u1");
    expect(await interrupted(others, hearing("2", "3"), () => correctCall(others, "u2")).loop.step(2_000)).toBe("published");
    expect(await learnedOf(others)).toEqual([[first, ROOMS]]);
    const kept = await correctCall(barred, "u1");
    const { loop } = interrupted(barred, hearing("2", "3"), async () => {
      const later = await correctCall(barred, "u1");
      await post(`/api/agents/${barred}/quarantine`, { events: [later] });
      return later;
    });
    expect(await loop.step(2_000)).toBe("published");
    expect(await learnedOf(barred)).toEqual([[kept, ROOMS]]);
  });

  it("does not count among those of a larger circle who say the same", async () => {
    const agent = await newAgent();
    for (const each of ["a", "b", "c", "d"]) await complete(agent, [{ role: "user", content: `I am ${each}.` }], each, each);
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const users = async () => (await client.readInfluence({ agent, line: "shared" })).audience.users;
    await expect.poll(users, { timeout: 10_000 }).toBe(4);
    const said: string[] = [];
    for (const user of ["u1", "u2", "u3", "u4", "u4"]) said.push(await correctCall(agent, user));
    const learner = learning(shape);
    expect(await loopOf(agent, { judge: hearing("2", "2", "2", "2", "3"), learner }).step(2_000)).toBe("advanced");
    const waiting = [...said.slice(0, 3), said[4]].map((eventId) => [eventId, "user/waiting"]);
    expect(await codesOf(agent)).toEqual(Object.fromEntries([...waiting, [said[3], "hint/superseded"]]));
    expect(learner.updates).toBe(0);
  });

  it("is not learned again when the version that had learned it is taken back, although the later one was refused", async () => {
    const agent = await newAgent();
    const first = await correctCall(agent, "u1");
    const [judge, learner] = [hearing("2", "3"), learning(shape)];
    expect(await loopOf(agent, { judge, learner }).step(2_000)).toBe("published");
    const later = await correctCall(agent, "u1");
    expect(await loopOf(agent, { judge, learner: refusing }).step(2_000)).toBe("advanced");
    expect(await codesOf(agent)).toEqual({ [later]: "update/notLearned" });
    await post(`/api/agents/${agent}/rollback`, { to: 0, quarantine: false });
    expect(await loopOf(agent, { judge, learner }).step(0)).toBe("advanced");
    expect([learner.updates, await codesOf(agent)]).toEqual([1, { [first]: "hint/superseded", [later]: "update/notLearned" }]);
    expect(await headOf(agent)).toMatchObject({ stable: 0, latest: 1, reopened: false });
  });
});
