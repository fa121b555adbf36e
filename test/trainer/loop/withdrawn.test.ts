/** Corrections that were withdrawn before an update has taught them. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { at } from "../../../shared/assert.ts";
import type { Judge } from "../../../trainer/judge/judge.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import { bearer } from "../../helpers/edge.ts";
import { calledAgent, correctCall, edge, headOf, loopOf, newAgent, notesOf, post, shape, versionsOf } from "./agents.ts";
import { judging, learning, type LoopParts, REJECTS } from "./stand-ins.ts";

const WIFI = { text: "has_wifi should be True.", hint: { parameter: "has_wifi", value: "True" }, toolName: "SearchHotel" };

async function dropNote(agent: string, text: string): Promise<void> {
  const { noteId } = at(
    (await notesOf(agent)).filter((note) => note.text === text),
    0,
  );
  const response = await fetch(`${edge.url}/api/agents/${agent}/notes/${noteId}`, { method: "DELETE", headers: bearer(edge.keys.admin) });
  expect(response.status).toBe(200);
}

async function refusedOf(agent: string): Promise<{ eventId: string; code: string; detail: string }[]> {
  const body: unknown = await (await fetch(`${edge.url}/api/agents/${agent}/audit`, { headers: bearer(edge.keys.admin) })).json();
  const refused = z.array(z.object({ eventId: z.string(), code: z.string(), detail: z.string() }));
  return z
    .object({ audit: z.array(z.object({ refused })) })
    .parse(body)
    .audit.flatMap((row) => row.refused);
}

/** Judges what is open, and dies before it is learned. */
async function judgeOnly(agent: string, judge: Judge): Promise<void> {
  const dying: Learner = { update: () => Promise.reject(new Error("killed")) };
  await expect(loopOf(agent, { judge, learner: dying }).step(2_000)).rejects.toThrow("killed");
}

const ROOMS = "number_of_rooms should be 2.";

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
    expect((await refusedOf(agent)).map(({ code }) => code)).toEqual(["note/dropped"]);
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
    expect((await refusedOf(agent)).map(({ code }) => code)).toEqual(["note/dropped"]);
  });

  it("while its update waits for the engine is not taught either", async () => {
    const agent = await calledAgent();
    const learner = learning(shape);
    const queued: LoopParts["queued"] = async (work) => {
      await dropNote(agent, ROOMS);
      return work();
    };
    expect(await loopOf(agent, { judge: judging(REJECTS), learner, queued }).step(2_000)).toBe("advanced");
    expect([learner.updates, (await refusedOf(agent)).map(({ code }) => code)]).toEqual([0, ["note/dropped"]]);
  });

  it("is not learned again beside others where the versions that had learned it have to go with a deleted user", async () => {
    const agent = await newAgent();
    const gone = "u_00000000000000aa";
    const loop = loopOf(agent, { judge: judging(REJECTS), learner: learning(shape) });
    await correctCall(agent, gone);
    await correctCall(agent, "u_00000000000000bb");
    expect(await loop.step(2_000)).toBe("published");
    for (const { noteId, user } of await notesOf(agent))
      if (user !== gone)
        await fetch(`${edge.url}/api/agents/${agent}/notes/${noteId}`, { method: "DELETE", headers: bearer(edge.keys.admin) });
    await fetch(`${edge.url}/api/users/${gone}`, { method: "DELETE", headers: bearer(edge.keys.admin) });
    expect(await loop.step(0)).toBe("published");
    expect(await headOf(agent)).toMatchObject({ stable: 0, latest: 1, reopened: false });
    expect((await refusedOf(agent)).map(({ code }) => code)).toEqual(["note/dropped"]);
  });
});
