/** Lines of single users: what one of them teaches answers that user alone, over what everybody gets. The judge and the learner are stand-ins. */
import { describe, expect, it } from "vitest";
import { at } from "../../../shared/assert.ts";
import { AppError } from "../../../shared/errors.ts";
import { type AdapterFiles, SHARED_LINE } from "../../../shared/policy.ts";
import type { GateReport } from "../../../shared/release.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { followAgents } from "../../../trainer/follow.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import { type AdapterTensors, readAdapterFiles, writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { rebuildVersion } from "../../../trainer/rebuild/rebuild.ts";
import { scopedUser } from "../../../edge/session/identity.ts";
import { publishAdapter, putAdapter } from "../../helpers/adapters.ts";
import { type Answer, call, PASSING } from "../../helpers/call.ts";
import { bearer } from "../../helpers/edge.ts";
import { call as callOf, nextState, turn, user } from "../hotel.ts";
import { edge, insertEvent, newAgent, put, refusedOf, shape } from "./agents.ts";
import { judging, learning, loopOf, NAMES, refusing, REJECTS, WIFI } from "./stand-ins.ts";

const PERSONAL = { learning: { scope: "personal" } };
const SOON = { timeout: 60_000 };

const client = () => createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
const admin = (route: string, body?: unknown): Promise<Answer> => call(edge, "admin", route, body);

async function personalAgent(learned: object = {}): Promise<string> {
  const agent = await newAgent();
  await put(`/api/agents/${agent}`, { learning: { ...PERSONAL.learning, ...learned } });
  return agent;
}

/** Which version of whose line answers a conversation that begins now. */
async function answeredBy(agent: string, name: string, key = edge.keys.client): Promise<[string, number]> {
  const messages = [{ role: "user", content: `Hello, ${crypto.randomUUID()}` }];
  const body = JSON.stringify({ model: agent, messages, max_tokens: 1, user: name });
  const response = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers: bearer(key), body });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return [response.headers.get("x-policy-line") ?? "", Number(response.headers.get("x-policy-version"))];
}

/** The same for a conversation of that name, which goes on. */
async function goesOn(agent: string, name: string, session: string): Promise<[string, number]> {
  const messages = [{ role: "user", content: `Hello again, ${crypto.randomUUID()}` }];
  const body = { model: agent, messages, max_tokens: 1, user: name };
  const sent = await call(edge, "client", "POST /v1/chat/completions", body, { "x-session-id": session });
  expect(sent.status).toBe(200);
  return [sent.headers.get("x-policy-line") ?? "", Number(sent.headers.get("x-policy-version"))];
}

/** The id of a user of the test's client key. */
async function idOf(name: string): Promise<string> {
  const { body } = await admin("GET /api/keys");
  // The oldest of them: a test makes another.
  const { id } = body.keys.findLast(({ kind }: { kind: string }) => kind === "client");
  return scopedUser(id, name);
}

/**
 * A call of the user's that they have corrected, as no random base makes one, after `earlier` other turns of the conversation; returns the
 * correction's event.
 */
async function correctCall(agent: string, line: string, { said = "No, two rooms", earlier = 0 } = {}): Promise<string> {
  const before = Array.from({ length: earlier }, () => turn([user("The weather at home")], callOf("GetWeather", { place: "Faro" })));
  const called = turn([user("A hotel in Porto")], callOf("SearchHotel", { city: "Porto", number_of_rooms: "1" }));
  const next = nextState(called, [user(said)]);
  const sessionId = `s_${agent}-${line}-${called.turnId}`;
  const within = (id: string): string => `${sessionId}/${id}`;
  for (const { turnId, eventId, ...event } of [...before, called, next])
    await insertEvent(
      { ...event, agent, line, user: line, sessionId, turnId: within(turnId), eventId: within(eventId) },
      JSON.stringify(event.payload),
    );
  return within(next.eventId);
}

/** Has the user correct a call, and their line learn it. */
async function teach(agent: string, name: string, { earlier = 0 } = {}): Promise<{ line: string; eventId: string }> {
  const line = await idOf(name);
  const eventId = await correctCall(agent, line, { earlier });
  const due = await client().dueLines({ agent, cursor: 0, waitMs: 0 });
  expect(due.lines).toContain(line);
  expect(await loop(agent, line).step(0)).toBe("published");
  return { line, eventId };
}

let lessons = 0;
function loop(agent: string, line: string) {
  lessons += 10; // so that no two versions are made of the same bytes, and none overflows
  const parts = { edge: { url: edge.url, key: edge.keys.trainer }, shape, judge: judging(REJECTS), learner: learning(shape, lessons) };
  return loopOf(agent, { ...parts, line });
}

async function headOf(agent: string, line: string) {
  return client().readHead({ agent, line });
}

type Adapted = { readonly adapter: AdapterFiles | null };

async function load(adapter: AdapterFiles | null): Promise<AdapterTensors | null> {
  if (adapter === null) return null;
  const [configBytes, weightBytes] = await Promise.all([client().getFile(adapter.configDigest), client().getFile(adapter.weightsDigest)]);
  return readAdapterFiles(shape, { configBytes, weightBytes });
}

async function adapterOf(agent: string, line: string, version: number): Promise<AdapterTensors | null> {
  return load((await client().readVersion({ agent, line }, version)).adapter);
}

const writeAdapter = (adapter: AdapterTensors) => writeAdapterFiles(shape, adapter, "random");

describe("a personal line", { timeout: 120_000 }, () => {
  it("answers its own user, and nobody else, by that name under another key or beside it", async () => {
    const agent = await personalAgent();
    expect(await answeredBy(agent, "ann")).toEqual([SHARED_LINE, 0]);
    const { line, eventId } = await teach(agent, "ann");
    expect(await answeredBy(agent, "ann")).toEqual([line, 1]);
    expect(await answeredBy(agent, "bob")).toEqual([SHARED_LINE, 0]);
    const other = (await admin("POST /api/keys", { kind: "client", name: "other" })).body;
    expect(await answeredBy(agent, "ann", other.key)).toEqual([SHARED_LINE, 0]);
    // Nor does its id as a name make anybody that user.
    expect(await answeredBy(agent, line)).toEqual([SHARED_LINE, 0]);
    expect((await headOf(agent, SHARED_LINE)).latest).toBe(0);
    expect((await admin(`GET /api/agents/${agent}/lines`)).body.lines).toMatchObject([
      { line: SHARED_LINE, stable: 0, answers: true },
      { line, stable: 1, latest: 1, over: 0, answers: true },
    ]);
    const { versions } = (await admin(`GET /api/agents/${agent}/versions?line=${line}`)).body;
    expect(versions).toMatchObject([{ line, version: 1, over: 0, events: [{ eventId, user: line }] }, { version: 0 }]);
  });

  it("learns what its user is called, which no shared line does", async () => {
    const agent = await personalAgent();
    const line = await idOf("kim");
    await correctCall(agent, line);
    await client().dueLines({ agent, cursor: 0, waitMs: 0 });
    const own = loopOf(agent, {
      edge: { url: edge.url, key: edge.keys.trainer },
      shape,
      judge: judging(NAMES),
      learner: learning(shape, 7),
      line,
    });
    expect(await own.step(0)).toBe("published");
  });

  it("is not published what another user said, or over what is not there", async () => {
    const agent = await personalAgent();
    const { line } = await teach(agent, "ann");
    const {
      events: _,
      status: __,
      createdAt: ___,
      policyDigest: ____,
      version: _____,
      ...manifest
    } = await client().readVersion({ agent, line }, 1);
    const head = await headOf(agent, line);
    const again = { ...manifest, parent: 1, fromSeq: head.cursor, toSeq: head.cursor };
    const publish = (changed: object): Promise<Answer> =>
      call(edge, "trainer", `POST /trainer/v1/agents/${agent}/lines/${line}/versions`, { parent: 1, manifest: { ...again, ...changed } });
    const foreign = { ...(await client().readVersion({ agent, line }, 1)).events[0], user: "u_00000000000000ff", seq: 1 };
    const refused = await publish({ events: [foreign] });
    expect([refused.status, refused.body.error.message]).toEqual([422, expect.stringContaining(`events of user ${line} alone`)]);
    expect((await publish({ events: [], over: null })).status).toBe(422);
    expect((await publish({ events: [], over: 7 })).body.status).toBe("stale");
  });

  it("stays as it is while the shared line moves on, and is learned anew over it with its next update", async () => {
    const agent = await personalAgent();
    const first = await teach(agent, "ann");
    await publishAdapter(edge, agent, await putAdapter(edge, `${agent} shared`));
    expect(await answeredBy(agent, "ann")).toEqual([first.line, 1]);
    await expect.poll(() => answeredBy(agent, "bob"), SOON).toEqual([SHARED_LINE, 1]);
    const second = await teach(agent, "ann");
    const made = await client().readVersion({ agent, line: first.line }, 2);
    expect(made).toMatchObject({ parent: 1, over: 1 });
    expect(made.events.map(({ eventId }) => eventId)).toEqual([first.eventId, second.eventId]);
    // Made again, it is made from its ground.
    const ground = await adapterOf(agent, SHARED_LINE, 1);
    const asked: unknown[] = [];
    const learner: Learner = { update: async (request) => (asked.push(request.parent), learning(shape).update(request)) };
    const deps = { edge: client(), learner, loadAdapter: ({ adapter }: Adapted) => load(adapter), writeAdapter };
    expect(await rebuildVersion(deps, { agent, line: first.line }, 2)).toMatchObject({ version: 2, expected: made.adapter?.weightsDigest });
    expect(asked).toEqual([ground]);
    const third = await teach(agent, "ann");
    expect((await client().readVersion({ agent, line: first.line }, 3)).events.map(({ eventId }) => eventId)).toEqual([third.eventId]);
  });

  /** A line that has learned two corrections and will be learned anew, the note of the first dropped. */
  async function droppedBefore() {
    const agent = await personalAgent();
    const { line, eventId: first } = await teach(agent, "ann");
    const parts = { edge: { url: edge.url, key: edge.keys.trainer }, shape, line };
    const kept = await correctCall(agent, line, { said: "No, with wifi" });
    expect(await loopOf(agent, { ...parts, judge: judging({ ...REJECTS, hint: WIFI }), learner: learning(shape, 50) }).step(0)).toBe(
      "published",
    );
    await publishAdapter(edge, agent, await putAdapter(edge, `${agent} shared`));
    const { notes } = (await admin(`GET /api/agents/${agent}/notes?line=${line}`)).body;
    const [note] = notes.filter(({ eventId }: { eventId: string }) => eventId === first);
    expect((await admin(`DELETE /api/agents/${agent}/notes/${note.noteId}?line=${line}`)).status).toBe(200);
    const city = { text: "city should be Faro.", hint: { parameter: "city", value: "Faro" }, toolName: "SearchHotel" };
    const refused = async (): Promise<string[][]> => (await refusedOf(agent)).map(({ eventId, code }) => [eventId, code]);
    return { agent, line, first, kept, parts: { ...parts, judge: judging({ ...REJECTS, hint: city }) }, refused };
  }

  it("is learned anew without a correction whose note was dropped, which is refused once a version without it is made", async () => {
    const { agent, line, first, kept, refused } = await droppedBefore();
    const third = await teach(agent, "ann");
    const { events } = await client().readVersion({ agent, line }, 3);
    expect(events.map(({ eventId }) => eventId)).toEqual([kept, third.eventId]);
    expect(await refused()).toEqual([[first, "note/dropped"]]);
  });

  const rejected = new AppError("upstream/invalid", "POST versions: 2xx expected, got 422 manifest: no", { details: { status: 422 } });
  const failing: GateReport = {
    checks: PASSING.checks.map((check) => (check.name === "length" ? { ...check, value: 1, asked: 9 } : check)),
  };
  it.each([
    ["its update learns nothing", { learner: refusing }, "advanced", ["update/notLearned"]],
    ["the edge rejects the next one", { changed: () => ({ publish: () => Promise.reject(rejected) }) }, "advanced", ["update/rejected"]],
    ["the gate refuses the next one", { gate: async () => failing }, "published", []],
  ])("keeps what it had learned, and refuses none of it, where %s", async (_, changed, result, codes) => {
    const { agent, line, parts, refused } = await droppedBefore();
    const before = await headOf(agent, line);
    const second = await correctCall(agent, line);
    expect(await loopOf(agent, { ...parts, learner: learning(shape, 70), ...changed }).step(0)).toBe(result);
    expect(await refused()).toEqual(codes.map((code) => [second, code]));
    expect((await headOf(agent, line)).stable).toBe(before.stable);
  });

  it("goes where the shared version under it is taken back, and is learned again over what answers then", async () => {
    const agent = await personalAgent();
    await publishAdapter(edge, agent, await putAdapter(edge, `${agent} shared`));
    const { line, eventId } = await teach(agent, "ann");
    expect(await answeredBy(agent, "ann")).toEqual([line, 1]);
    expect((await admin(`POST /api/agents/${agent}/rollback`, { to: 0 })).body.status).toBe("rolledBack");
    await expect.poll(() => answeredBy(agent, "ann"), SOON).toEqual([SHARED_LINE, 0]);
    expect((await client().dueLines({ agent, cursor: 1_000_000, waitMs: 0 })).lines).toEqual([line]);
    expect(await loop(agent, line).step(0)).toBe("published");
    expect(await client().readVersion({ agent, line }, 2)).toMatchObject({ parent: 0, over: 0, events: [{ eventId }] });
    expect(await answeredBy(agent, "ann")).toEqual([line, 2]);
    const back = await admin(`POST /api/agents/${agent}/rollback?line=${line}`, { to: 1 });
    expect([back.status, back.body.error.message]).toEqual([422, expect.stringContaining("which was taken back")]);
  });

  it("is taken back by its own rollback, and its events are barred", async () => {
    const agent = await personalAgent();
    expect(await goesOn(agent, "ann", "early")).toEqual([SHARED_LINE, 0]);
    const { line, eventId } = await teach(agent, "ann");
    // A conversation stays on the version that began it, unless that was taken back.
    expect(await goesOn(agent, "ann", "early")).toEqual([SHARED_LINE, 0]);
    expect(await goesOn(agent, "ann", "late")).toEqual([line, 1]);
    const back = await admin(`POST /api/agents/${agent}/rollback?line=${line}`, { to: 0 });
    expect(back.body).toMatchObject({ versions: [1], quarantined: 1 });
    expect(await goesOn(agent, "ann", "late")).toEqual([SHARED_LINE, 0]);
    expect(await answeredBy(agent, "ann")).toEqual([SHARED_LINE, 0]);
    expect((await admin(`GET /api/agents/${agent}/quarantine?line=${line}`)).body.events).toMatchObject([{ eventId }]);
    expect(await loop(agent, line).step(0)).not.toBe("published");
    expect((await admin(`POST /api/agents/${agent}/quarantine/release`, { events: [eventId] })).body.events).toBe(1);
    expect(await loop(agent, line).step(0)).toBe("published");
    expect(await answeredBy(agent, "ann")).toEqual([line, 2]);
  });

  it("is lost with its user, with its files, and nobody else's is", async () => {
    const agent = await personalAgent();
    const [ann, bob] = [await teach(agent, "ann"), await teach(agent, "bob")];
    const { adapter } = await client().readVersion({ agent, line: ann.line }, 1);
    const deleted = await admin(`DELETE /api/users/${ann.line}`);
    const here = deleted.body.agents.find((each: { agent: string }) => each.agent === agent);
    expect(here).toMatchObject({ own: [1], versions: [], state: "done" });
    expect(await answeredBy(agent, "ann")).toEqual([SHARED_LINE, 0]);
    expect(await answeredBy(agent, "bob")).toEqual([bob.line, 1]);
    expect((await admin(`GET /api/agents/${agent}/lines`)).body.lines.map((each: { line: string }) => each.line)).toEqual([
      SHARED_LINE,
      bob.line,
    ]);
    const stored = async () => (await edge.getR2()).head(`files/${adapter?.weightsDigest}`);
    await expect.poll(stored, SOON).toBeNull();
    expect((await admin(`POST /api/agents/${agent}/rollback?line=${ann.line}`, { to: 1 })).status).toBe(422);
  });

  it("is refused where adapters' places are spent for good", async () => {
    const engine = { kind: "workers-ai", model: "@cf/qwen/qwen3-4b-lora" };
    const { status, body } = await admin(`PUT /api/agents/spent`, { engine, ...PERSONAL });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("learning.scope: shared expected on Workers AI")]);
  });

  it("lends what enough users' lines have learned alike to the shared line, where its agent wants that", async () => {
    const [closed, open] = [await personalAgent(), await personalAgent({ sharedFrom: 2 })];
    for (const agent of [closed, open]) {
      const first = await teach(agent, "ann");
      expect(await loop(agent, SHARED_LINE).step(0)).toBe("idle");
      const second = await teach(agent, "bob");
      const result = await loop(agent, SHARED_LINE).step(0);
      expect(result).toBe(agent === open ? "published" : "idle");
      if (agent === closed) continue;
      const { events } = await client().readVersion({ agent, line: SHARED_LINE }, 1);
      expect(events.map(({ eventId, share }) => [eventId, share])).toEqual([first, second].map(({ eventId }) => [eventId, 0.5]));
      await expect.poll(() => answeredBy(agent, "cai"), SOON).toEqual([SHARED_LINE, 1]);
      expect(await answeredBy(agent, "ann")).toEqual([first.line, 1]);
      expect(await loop(agent, SHARED_LINE).step(0)).toBe("idle");
    }
  });

  it("lends the turns that were corrected, and none of the conversations that they are of", async () => {
    const agent = await personalAgent({ sharedFrom: 2 });
    const lent = [await teach(agent, "ann", { earlier: 3 }), await teach(agent, "bob", { earlier: 3 })];
    expect(await loop(agent, SHARED_LINE).step(0)).toBe("published");
    const { inputs } = await client().readVersion({ agent, line: SHARED_LINE }, 1);
    expect(inputs?.replay).toEqual(lent.map(({ eventId }) => eventId.replace(/\/next$/, "")));
    // The line itself replays what it is of.
    const own = await client().readVersion({ agent, line: at(lent, 0).line }, 1);
    expect(own.inputs?.replay).toHaveLength(4);
  });

  it("is followed by a trainer beside the shared one, for as many users as say something", async () => {
    const agent = await personalAgent();
    const names = ["ann", "bob", "cai", "dee"];
    const stop = new AbortController();
    const parts = { edge: { ...client(), listAgents: async () => [{ agent, line: SHARED_LINE }] }, metrics: () => undefined };
    const rest = { name: "rounds", leaseMs: 60_000, waitMs: 300, trains: async () => true };
    const openLoop = ({ line }: { line: string }, lease: number) =>
      loopOf(agent, {
        edge: { url: edge.url, key: edge.keys.trainer, lease },
        shape,
        judge: judging(REJECTS),
        learner: learning(shape, (lessons += 10)),
        line,
      });
    const followed = followAgents({ ...parts, ...rest, openLoop }, stop);
    const ids = await Promise.all(names.map(idOf));
    for (const id of ids) await correctCall(agent, id);
    const taught = async () => (await admin(`GET /api/agents/${agent}/lines`)).body.lines.map((each: { line: string }) => each.line);
    await expect.poll(taught, SOON).toEqual([SHARED_LINE, ...ids].toSorted());
    for (const [index, name] of names.entries()) expect(await answeredBy(agent, name)).toEqual([ids[index], 1]);
    stop.abort();
    await followed;
  });
});
