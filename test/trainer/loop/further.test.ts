/** A message with two corrections, over HTTP: each is a note, a lesson and a case by itself, and one that is refused leaves the other learned. */
import { describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import type { Verdict } from "../../../trainer/judge/judge.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import { call } from "../../helpers/call.ts";
import {
  complete,
  correctCall,
  edge,
  headOf,
  learnedOf,
  loopOf,
  newAgent,
  notesOf,
  post,
  refusedOf,
  remove,
  shape,
  versionsOf,
} from "./agents.ts";
import { judging, learning, REJECTS, WIFI } from "./stand-ins.ts";

const BOTH: Verdict = { ...REJECTS, further: [WIFI] };
const PATIENCE_MS = 10_000;

/** Refuses what is said of the wifi. */
function halfLearning(): Learner {
  const learner = learning(shape);
  return {
    update: async (request) => {
      const isRefused = ({ correction }: (typeof request.corrected)[number]): boolean => correction.parameter.name === "has_wifi";
      const refused = request.corrected.filter(isRefused).map(({ eventId }) => ({ eventId, code: "update/deaf", detail: "no" }) as const);
      if (refused.length === request.corrected.length) return { status: "refused", refused };
      const outcome = await learner.update({ ...request, corrected: request.corrected.filter((each) => !isRefused(each)) });
      return { ...outcome, refused };
    },
  };
}

const learnedBy = async (agent: string): Promise<(string | number | null)[][]> =>
  (await notesOf(agent)).map(({ text, learnedBy: by, status }) => [text, by, status]).toSorted(byText);
const suiteOf = async (agent: string): Promise<unknown[]> =>
  (await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).readSuite({ agent, line: "shared" })).map(({ expect: want }) =>
    "arguments" in want ? want.arguments : want,
  );

/** In no order that anybody promises. */
function byText(one: unknown, other: unknown): number {
  return String(one).localeCompare(String(other));
}

describe("two corrections in one message", { timeout: 60_000 }, () => {
  it("are two notes and two lessons, barred, let back in and deleted together", async () => {
    const agent = await newAgent();
    const user = "u_00000000000000cc";
    const event = await correctCall(agent, user);
    const [judge, learner] = [judging(BOTH), learning(shape)];
    expect(await loopOf(agent, { judge, learner }).step(2_000)).toBe("published");
    const both = (version: number | null, status = "inForce"): unknown[] => [
      [WIFI.text, version, status],
      [REJECTS.hint?.text, version, status],
    ];
    expect(await learnedBy(agent)).toEqual(both(1));
    const [one, other] = await notesOf(agent);
    expect(one?.noteId).not.toBe(other?.noteId);
    expect([one, other].map((note) => note?.eventId).toSorted(byText)).toEqual([event, `${event}#2`]);
    const asLearned = [
      [event, REJECTS.hint?.text],
      [`${event}#2`, WIFI.text],
    ];
    expect(await learnedOf(agent)).toEqual(asLearned);
    expect(await suiteOf(agent)).toEqual([{ number_of_rooms: "2" }, { has_wifi: "True" }]);
    const uses = await call(edge, "admin", `GET /api/agents/${agent}/events/${event}`);
    expect(uses.body).toMatchObject({ event: { eventId: event }, versions: [{ version: 1 }] });

    await post(`/api/agents/${agent}/rollback`, { to: 0 });
    expect(await learnedBy(agent)).toEqual(both(1, "rolledBack"));
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    expect((await client.readQuarantine({ agent, line: "shared" })).map(({ eventId }) => eventId)).toEqual([event]);
    await post(`/api/agents/${agent}/quarantine/release`, { events: [event] });
    expect(await learnedBy(agent)).toEqual(both(null));
    // By another trainer: what it needs is in the log.
    expect(await loopOf(agent, { judge, learner }).step(0)).toBe("published");
    expect([judge.calls, await headOf(agent)]).toMatchObject([1, { stable: 2, reopened: false }]);
    expect(await learnedOf(agent)).toEqual(asLearned);
    expect(await learnedBy(agent)).toEqual(both(2));

    await remove(`/api/users/${user}`);
    await loopOf(agent, { judge, learner }).step(0);
    expect([await notesOf(agent), await suiteOf(agent), (await headOf(agent)).stable]).toEqual([[], [], 0]);
  });

  it("are learned by themselves: one that is refused is told with its reason, and the other counts", async () => {
    const agent = await newAgent();
    const event = await correctCall(agent, "u1");
    const loop = loopOf(agent, { judge: judging(BOTH), learner: halfLearning() });
    expect(await loop.step(2_000)).toBe("published");
    expect(await learnedOf(agent)).toEqual([[event, REJECTS.hint?.text]]);
    expect((await versionsOf(agent))[0]?.hints).toEqual([REJECTS.hint?.text]);
    expect(await refusedOf(agent)).toEqual([{ eventId: `${event}#2`, code: "update/deaf", detail: "no" }]);
    expect(await learnedBy(agent)).toEqual([
      [WIFI.text, null, "inForce"],
      [REJECTS.hint?.text, 1, "inForce"],
    ]);
    expect(await suiteOf(agent)).toEqual([{ number_of_rooms: "2" }]);
    // Each note goes by itself.
    const [wifi] = (await notesOf(agent)).filter(({ text }) => text === WIFI.text);
    await remove(`/api/agents/${agent}/notes/${wifi?.noteId}`);
    expect(await learnedBy(agent)).toEqual([
      [WIFI.text, null, "dropped"],
      [REJECTS.hint?.text, 1, "inForce"],
    ]);
  });

  it("wait for others to say the same, each for itself, and are learned once they have", async () => {
    const agent = await newAgent();
    for (const each of ["a", "b", "c", "d"]) await complete(agent, [{ role: "user", content: `I am ${each}.` }], each, each);
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const influence = () => client.readInfluence({ agent, line: "shared" });
    await expect.poll(async () => (await influence()).audience.users, { timeout: PATIENCE_MS }).toBe(4);
    const learner = learning(shape);
    const said: string[] = [];
    const hear = async (verdict: Verdict, users: readonly string[]) => {
      for (const user of users) said.push(await correctCall(agent, user));
      return loopOf(agent, { judge: judging(verdict), learner }).step(2_000);
    };
    // Rooms are said by four, the wifi by the last two of them, and then by two more, whose rooms are known already.
    expect(await hear(REJECTS, ["u1", "u2"])).toBe("advanced");
    expect(await hear(BOTH, ["u3", "u4"])).toBe("published");
    const rooms = said.map((id) => [id, REJECTS.hint?.text]);
    expect((await learnedOf(agent)).toSorted(byText)).toEqual(rooms.toSorted(byText));
    const waiting = (await influence()).evidence.map(({ eventId, parameter }) => [eventId, parameter]);
    expect(waiting).toEqual(said.slice(2).map((id) => [`${id}#2`, "has_wifi"]));
    expect(await hear(BOTH, ["u5", "u6"])).toBe("published");
    const wifi = said.slice(2).map((id) => [`${id}#2`, WIFI.text]);
    expect((await learnedOf(agent)).toSorted(byText)).toEqual(wifi.toSorted(byText));
    // What is taken back of a message is open again, and what else it said stays learned.
    await post(`/api/agents/${agent}/rollback`, { to: 1, quarantine: false });
    const { ids } = await client.readReopened({ agent, line: "shared" });
    expect(ids.toSorted(byText)).toEqual(wifi.map(([id]) => id).toSorted(byText));
    expect(await loopOf(agent, { judge: judging(REJECTS), learner }).step(0)).toBe("published");
    expect((await learnedOf(agent)).toSorted(byText)).toEqual(wifi.toSorted(byText));
    expect(await headOf(agent)).toMatchObject({ parent: 3, reopened: false });
  });
});
