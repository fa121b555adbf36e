/** The end of a user: no text left in log, storage, sessions, notes, suites or versions, and what learned from it rebuilt without. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, lineage, manifestOf, putAgent, type Answer } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";
import { SEARCH } from "../../trainer/hotel.ts";
import { KEY } from "../engine/stand-in.ts";
import { Generic } from "../engine/stand-ins.ts";

const logged: string[] = [];
const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY }, onLog: (line) => void logged.push(line) });
beforeAll(() => fillLog(edge));

const AGENT = "forgetful";
const LINE = `/trainer/v1/agents/${AGENT}/lines/shared`;
const WORD = "Zanzibar";
const admin = (route: string, body?: unknown): Promise<Answer> => call(edge, "admin", route, body);
const head = async () => (await call(edge, "trainer", `GET ${LINE}/head`)).body;

type Asked = { id: string; messages: unknown[]; sessionId: string | null };

async function ask(who: string, messages: unknown[], agent = AGENT): Promise<Asked> {
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: bearer(edge.keys.client),
    body: JSON.stringify({ model: agent, user: who, messages, max_tokens: 2, temperature: 0 }), // drawn, a random policy may begin a call
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const body = JSON.parse(text) as { id: string; choices: { message: unknown }[] };
  return { id: body.id, messages: [...messages, body.choices[0]?.message], sessionId: response.headers.get("x-session-id") };
}

/** A conversation of two turns that the log has; returns the user's id and the next state. */
async function converse(who: string, agent = AGENT): Promise<{ user: string; first: Asked; eventId: string; turnId: string; seq: number }> {
  const first = await ask(who, [{ role: "user", content: `${who} wants to see ${WORD}.` }], agent);
  await ask(who, [...first.messages, { role: "user", content: `No, ${who} said ${WORD}.` }], agent);
  type Logged = { user: string; eventId: string; turnId: string; seq: number; sessionId: string; payload: { kind: string } };
  const logged = async (): Promise<Logged[]> =>
    (await admin(`GET /api/agents/${agent}/events`)).body.events.filter(({ sessionId }: Logged) => sessionId === first.sessionId);
  // Two turns, and what came between.
  await expect.poll(async () => (await logged()).length, { timeout: 20_000 }).toBe(3);
  const next = (await logged()).find(({ payload }) => payload.kind === "nextState:arrived");
  if (next === undefined) throw new Error("a next state expected");
  const { user, eventId, turnId, seq } = next;
  return { user, first, eventId, turnId, seq };
}

/** As a trainer does: the judgement with its hint, then a version that learned from the event. */
async function learn({ user, eventId, turnId, seq }: Awaited<ReturnType<typeof converse>>, rebuilds?: { parent: number }): Promise<Answer> {
  const hint = `city should be ${WORD} of ${user}.`;
  const header = { eventId: `${eventId}/judged`, agent: AGENT, line: "shared", sessionId: turnId.split("/")[0], turnId, user };
  const payload = { kind: "judgement:made", subject: eventId, reward: -1, votes: [-1], judge: "embedded", hint, tool: "SearchHotel" };
  await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [{ ...header, createdAt: new Date().toISOString(), payload }] });
  const { parent: tip, cursor } = await head();
  const parent = rebuilds?.parent ?? tip;
  const adapter = await putAdapter(edge, `${user} ${parent} ${rebuilds === undefined}`);
  const events = [{ ...lineage(eventId, seq), user, turnId, hint }];
  const changes = [{ prompt: `to ${WORD}`, before: "a", after: WORD }];
  const toSeq = rebuilds === undefined ? Math.max(cursor, seq) : cursor;
  const manifest = {
    ...manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq, events }),
    changes,
    hints: [hint],
    defaults: [
      { tool: "SearchHotel", parameter: "city", value: `${WORD} of ${user}`, corrected: null },
      { tool: "SearchHotel", parameter: "stars", value: `${WORD} of ${user}`, corrected: null, held: false, eventId },
    ],
    reach: ["SearchHotel"],
  };
  const expected = { tool: "SearchHotel", arguments: { city: `${WORD} of ${user}` } };
  const cases = [{ name: hint, messages: [{ role: "user", content: WORD }], tools: [SEARCH], expect: expected, user, eventId }];
  const credits = [{ eventId, turnId, pieces: [[`city: ${WORD}`, -0.5]] }];
  return call(edge, "trainer", `POST ${LINE}/versions`, { parent, manifest, cases, credits, rebuild: rebuilds !== undefined });
}

/** Neither what is searched nor the pages that its index is kept in: the word that only this user said is gone from them. */
async function expectNothingFound(user: string): Promise<void> {
  const d1 = await edge.getD1();
  const { results } = await d1.prepare("SELECT c1 AS words FROM said_content").all<{ words: string }>();
  expect(results.some(({ words }) => words.includes("gone"))).toBe(false);
  expect((await d1.prepare("SELECT count(*) AS rows FROM turns WHERE user = ?").bind(user).first())?.["rows"]).toBe(0);
  await d1.prepare("CREATE VIRTUAL TABLE IF NOT EXISTS said_terms USING fts5vocab('said', 'row')").run();
  const terms = (await d1.prepare("SELECT term FROM said_terms").all<{ term: string }>()).results.map(({ term }) => term);
  expect(terms).toContain("stays");
  expect(terms.filter((term) => term.startsWith("gone") || term.includes(user.replace("u_", "")))).toEqual([]);
  const blocks = await d1.prepare("SELECT hex(block) AS block FROM said_data").all<{ block: string }>();
  expect(blocks.results.filter(({ block }) => block.includes(Buffer.from("gone").toString("hex").toUpperCase()))).toEqual([]);
}

describe("DELETE /api/users/:user", () => {
  it("leaves no word of the user, lets the others' lessons be learned again, and retires what was made with the user", async () => {
    await putAgent(edge, AGENT, { tools: [SEARCH] });
    const gone = await converse("gone");
    const stays = await converse("stays");
    expect((await learn(gone)).body).toMatchObject({ version: 1, release: "stable" });
    expect((await learn(stays)).body).toMatchObject({ version: 2, release: "stable" });
    const files = (await admin(`GET /api/agents/${AGENT}/versions`)).body.versions.flatMap(
      ({ adapter }: { adapter: { weightsDigest: string } | null }) => adapter?.weightsDigest ?? [],
    );
    // Another agent with the weights of version 1: what is deleted here takes nothing from it.
    await putAgent(edge, "elsewhere", { tools: [SEARCH] });
    const { adapter } = (await admin(`GET /api/agents/${AGENT}/versions/1`)).body;
    const manifest = manifestOf({ agent: "elsewhere", baseDigest: edge.baseDigest, adapter });
    const there = "/trainer/v1/agents/elsewhere/lines/shared/versions";
    expect((await call(edge, "trainer", `POST ${there}`, { parent: 0, manifest })).body).toMatchObject({ version: 1 });
    const { key } = (await admin("GET /api/keys")).body.keys
      .filter(({ kind }: { kind: string }) => kind === "client")
      .map(({ id }: { id: string }) => ({ key: id }))[0];
    expect((await admin(`GET /api/users?key=${key}&user=gone`)).body).toEqual({ user: gone.user });

    const trained = async (user: string): Promise<number[]> =>
      (await admin(`GET /api/agents/${AGENT}/turns?user=${user}`)).body.turns.flatMap(
        (turn: { trained: { version: number; pieces: [string, number][] }[] }) => turn.trained.map(({ version }) => version),
      );
    expect([await trained(gone.user), await trained(stays.user)]).toEqual([[1], [2]]);
    const deleted = await admin(`DELETE /api/users/${gone.user}`);
    expect([deleted.status, deleted.body]).toMatchObject([
      202,
      {
        user: gone.user,
        sessions: 1,
        agents: [{ agent: AGENT, notes: 1, cases: 1, corrections: 1, versions: [1, 2], state: "rebuilding" }],
      },
    ]);
    // The log keeps the places and nothing that was said.
    const { results } = await (
      await edge.getD1()
    )
      .prepare("SELECT kind, payload FROM events WHERE user = ? AND kind <> 'user:deleted'")
      .bind(gone.user)
      .all();
    expect(results.length).toBeGreaterThanOrEqual(4);
    expect(new Set(results.map(({ payload }) => payload))).toEqual(new Set(['{"kind":"event:deleted"}']));
    await expectNothingFound(gone.user);
    expect([await trained(gone.user), await trained(stays.user)]).toEqual([[], [2]]);
    expect((await admin(`GET /api/agents/${AGENT}/quarantine`)).body.events).toMatchObject([{ forGood: true }]);
    for (const route of ["versions", "audit", "notes", "suite", "quarantine"]) {
      const shown = JSON.stringify((await admin(`GET /api/agents/${AGENT}/${route}`)).body);
      expect(shown.replaceAll(stays.user, "").includes(`${WORD} of ${gone.user}`)).toBe(false);
    }
    expect((await admin(`GET /api/agents/${AGENT}/notes`)).body.notes.map(({ user }: { user: string }) => user)).toEqual([stays.user]);
    expect((await admin(`GET /api/agents/${AGENT}/versions/1`)).body).toMatchObject({ hints: [], changes: [], defaults: [] });
    // What somebody else's answer has released stays so, though it has no hint.
    expect((await admin(`GET /api/agents/${AGENT}/versions/2`)).body.defaults).toMatchObject([
      { parameter: "city", value: `${WORD} of ${stays.user}` },
      { parameter: "stars", held: false, eventId: stays.eventId },
    ]);
    const feedback = { completion_id: gone.first.id, score: 1 };
    expect((await call(edge, "client", "POST /v1/feedback", feedback)).status).toBe(404);

    // The old version serves until there is one without the user, and takes no ordinary candidate meanwhile.
    // What it was before it learned what stays is gone: the nearest that is left stands in.
    const [theirs, ...others] = (await head()).defaults;
    expect([theirs, others]).toMatchObject([{ value: `${WORD} of ${stays.user}`, before: { version: 0, adapter: null } }, []]);
    // Calls of the tool are the stable version's, which has learned what stays, and others those of the version from before either.
    const answering = { outside: { version: 0 }, tools: [{ tool: "SearchHotel", by: { version: 2 } }] };
    expect(await head()).toMatchObject({ stable: 2, rebuild: { from: 0 }, answering });
    expect((await admin(`GET /api/users/${gone.user}/deletion`)).body.agents).toEqual([{ agent: AGENT, state: "rebuilding" }]);
    expect((await call(edge, "trainer", `GET ${LINE}/rebuild`)).body.rebuild).toEqual({ from: 0, events: [stays.eventId] });
    expect((await learn(stays)).body.status ?? "refused").not.toBe("published");
    expect((await learn(stays, { parent: 0 })).body).toEqual({ status: "published", version: 3, release: "stable" });
    expect(await head()).toMatchObject({ stable: 3, parent: 3, rebuild: null });
    expect((await admin(`GET /api/users/${gone.user}/deletion`)).body.agents).toEqual([{ agent: AGENT, state: "done" }]);
    const { versions } = (await admin(`GET /api/agents/${AGENT}/versions`)).body;
    expect(versions.map(({ status }: { status: string }) => status)).toEqual(["stable", "deleted", "deleted", "superseded"]);
    // A moment later: isolates may still answer under a head of before.
    const isLeft = async (digest: string): Promise<boolean> => (await (await edge.getR2()).head(`files/${digest}`)) !== null;
    const lost = files.filter((digest: string) => digest !== adapter.weightsDigest);
    expect(lost).toHaveLength(files.length - 1);
    for (const digest of lost) await expect.poll(() => isLeft(digest), { timeout: 20_000 }).toBe(false);
    const claims = async (): Promise<string[]> =>
      (await (await edge.getR2()).list({ prefix: `claims/${adapter.weightsDigest}/` })).objects.map(
        ({ key: name }) => name.split("/").at(-1) ?? "",
      );
    await expect.poll(claims, { timeout: 20_000 }).toEqual(["elsewhere"]);
    expect(await isLeft(adapter.weightsDigest)).toBe(true);
    for (const to of [1, 2]) expect((await admin(`POST /api/agents/${AGENT}/rollback`, { to })).status).toBe(422);
    expect((await admin(`POST /api/agents/${AGENT}/rollback`, { to: 0 })).status).toBe(200);
  });

  it("leaves no word of the user in what a personal line has from the shared one", async () => {
    const agent = "private";
    await putAgent(edge, agent, { tools: [SEARCH] });
    const said = (user: string, value: string): object => ({
      ...lineage(user, 1),
      user,
      turnId: `t_${user}`,
      hint: `city should be ${value}.`,
    });
    const learned = (parameter: string, value: string): object => ({ tool: "SearchHotel", parameter, value, corrected: null });
    const publish = async (line: string, changes: object): Promise<Answer> => {
      const route = `/trainer/v1/agents/${agent}/lines/${line}`;
      const { parent, cursor } = (await call(edge, "trainer", `GET ${route}/head`)).body;
      const adapter = await putAdapter(edge, `${line} ${agent}`);
      const manifest = {
        ...manifestOf({ agent, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq: cursor + 1 }),
        line,
        ...changes,
      };
      return call(edge, "trainer", `POST ${route}/versions`, { parent, manifest });
    };
    const { user: theirs } = await converse("vera", agent);
    expect((await publish("shared", { events: [said(theirs, WORD)], defaults: [learned("city", WORD)] })).status).toBe(200);
    await putAgent(edge, agent, { tools: [SEARCH], learning: { scope: "personal" } });
    const { user: own } = await converse("will", agent);
    const due = createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).dueLines({ agent, cursor: 0, waitMs: 0 });
    expect((await due).lines).toContain(own);
    expect((await publish(own, { over: 1, events: [said(own, "Porto")], defaults: [learned("stars", "4")] })).body).toMatchObject({
      version: 1,
    });
    const defaults = async (): Promise<string[]> =>
      (await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/${own}/head`)).body.defaults.map(
        ({ value }: { value: string }) => value,
      );
    expect(await defaults()).toEqual(["4", WORD]);
    await admin(`DELETE /api/users/${theirs}`);
    expect(await defaults()).toEqual(["4"]);
  });

  it("lets no version be published that replays what the user had said, although the update was under way before", async () => {
    const agent = "replaying";
    await putAgent(edge, agent, { tools: [SEARCH] });
    const [gone, stays] = [await converse("replayed", agent), await converse("learned", agent)];
    const path = `/trainer/v1/agents/${agent}/lines/shared`;
    const { parent, cursor } = (await call(edge, "trainer", `GET ${path}/head`)).body;
    const { user, eventId, turnId, seq } = stays;
    const adapter = await putAdapter(edge, agent);
    const about = { agent, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq: seq };
    const made = manifestOf({ ...about, events: [{ ...lineage(eventId, seq), user, turnId }] });
    const publish = (replay: readonly string[], others: readonly string[] = []): Promise<Answer> => {
      const rehearsed = others.map((each) => ({ turnId: each, tool: SEARCH.function.name, parameter: "city" }));
      const manifest = { ...made, inputs: { replay, rehearsed, baseline: 0 } };
      return call(edge, "trainer", `POST ${path}/versions`, { parent, manifest });
    };
    expect((await admin(`DELETE /api/users/${gone.user}`)).body.agents).toMatchObject([{ agent, versions: [] }]);
    expect((await publish([gone.turnId, turnId])).body).toMatchObject({ status: "stale", latest: 0 });
    expect((await publish([turnId], [gone.turnId])).body).toMatchObject({ status: "stale", latest: 0 });
    expect((await publish([turnId])).body).toMatchObject({ status: "published", version: 1 });
  });

  it("does not undo a rollback, and takes what is only on trial away at once", async () => {
    const admins = (route: string, body?: unknown): Promise<Answer> => admin(route.replace("/", "/api/agents/"), body);
    const publish = async (agent: string, user: string, seq: number): Promise<Answer> => {
      const path = `/trainer/v1/agents/${agent}/lines/shared`;
      const { parent, cursor } = (await call(edge, "trainer", `GET ${path}/head`)).body;
      const events = [{ ...lineage(`${agent} ${seq}`, seq), user }];
      const adapter = await putAdapter(edge, `${agent} ${seq}`);
      const manifest = manifestOf({ agent, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq: seq, events });
      return call(edge, "trainer", `POST ${path}/versions`, { parent, manifest });
    };
    const headOf = async (agent: string) => (await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/shared/head`)).body;
    const statuses = async (agent: string): Promise<string[]> =>
      (await admins(`GET /${agent}/versions`)).body.versions.map(({ status }: { status: string }) => status).toReversed();
    for (const agent of ["undone", "trial"]) await putAgent(edge, agent, agent === "trial" ? { release: { canary: { mode: "on" } } } : {});
    const ids: string[] = [];
    for (const agent of ["undone", "trial"]) {
      const response = await fetch(`${edge.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(edge.keys.client),
        body: JSON.stringify({ model: agent, user: "both", messages: [{ role: "user", content: "Hello" }], max_tokens: 1 }),
      });
      expect(response.status).toBe(200);
      const find = async () => (await admins(`GET /${agent}/events`)).body.events[0]?.user;
      await expect.poll(find, { timeout: 20_000 }).toMatch(/^u_[0-9a-f]{16}$/);
      ids.push(await find());
    }
    const [user = ""] = ids;
    expect(ids).toEqual([user, user]);
    for (const [seq, who] of [
      [1, "u1"],
      [2, "u2"],
      [3, user],
    ] as const)
      await publish("undone", who, seq);
    for (const [seq, who] of [
      [1, user],
      [2, "u2"],
    ] as const)
      await publish("trial", who, seq);
    expect(await statuses("trial")).toEqual(["stable", "canary", "candidate"]);

    const { status, body } = await admin(`DELETE /api/users/${user}`);
    const stateOf = (agent: string): string => body.agents.find((each: { agent: string }) => each.agent === agent)?.state;
    expect([status, stateOf("undone"), stateOf("trial")]).toEqual([202, "rebuilding", "done"]);
    expect(await headOf("trial")).toMatchObject({ stable: 0, canary: null, parent: 0, rebuild: null, reopened: true });
    expect(await statuses("trial")).toEqual(["stable", "deleted", "deleted"]);

    expect(await headOf("undone")).toMatchObject({ stable: 3, rebuild: { from: 2 } });
    await admins("POST /undone/rollback", { to: 1 });
    expect(await headOf("undone")).toMatchObject({ stable: 1, rebuild: null });
    const finish = await call(edge, "trainer", "POST /trainer/v1/agents/undone/lines/shared/rebuild/finish", { from: 2 });
    expect(finish.body).toEqual({ status: "stale" });
    expect([await statuses("undone"), (await headOf("undone")).stable]).toEqual([["superseded", "stable", "rolledBack", "deleted"], 1]);
  });

  it("keeps nothing of what comes late, and all that the user says afterwards", async () => {
    const { user } = await converse("late");
    await admin(`DELETE /api/users/${user}`);
    const before = { eventId: "late/next/judged", agent: AGENT, line: "shared", sessionId: "s", turnId: "late", user };
    const payload = { kind: "judgement:made", subject: "late/next", reward: -1, votes: [-1], judge: "embedded", hint: WORD };
    await call(edge, "trainer", "POST /trainer/v1/judgements", {
      judgements: [{ ...before, createdAt: "2020-01-01T00:00:00.000Z", payload }],
    });
    const kindOf = async (id: string) =>
      (await (await edge.getD1()).prepare("SELECT kind FROM events WHERE event_id = ?").bind(id).first<{ kind: string }>())?.kind;
    expect(await kindOf("late/next/judged")).toBe("event:deleted");
    const again = await converse("late");
    expect([again.user, await kindOf(again.eventId)]).toEqual([user, "nextState:arrived"]);
  });

  describe("while an answer is under way", () => {
    const engine = new Generic();
    beforeAll(async () => void (await engine.start()));
    afterAll(() => engine.stop());

    /** A user of an agent on that engine, and an answer that has begun: `finish` lets it end and reads it. */
    async function begin(agent: string, continuesFirst: boolean) {
      const settings = { kind: "openai", flavour: engine.flavour, url: engine.url, model: "m", keySecret: "ENGINE_KEY_TEST" };
      await putAgent(edge, agent, { engine: settings });
      engine.play({ text: ["Hello", " there"] });
      const { user, first } = await converse("busy", agent);
      let release: () => void = () => undefined;
      engine.play({ text: ["Quix", "otism"], hold: new Promise((resolve) => (release = resolve)) });
      const messages = [...(continuesFirst ? first.messages : []), { role: "user", content: "Say Quixotism." }];
      const response = await fetch(`${edge.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(edge.keys.client),
        body: JSON.stringify({ model: agent, user: "busy", stream: true, messages }),
      });
      const reader = response.body?.getReader();
      const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
      let text = decode((await reader?.read())?.value);
      const [, id = ""] = /"id":"([^"]+)"/.exec(text) ?? [];
      const finish = async (): Promise<string> => {
        release();
        for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += decode(part.value);
        return text;
      };
      return { user, id, finish };
    }

    /** Once its session is gone: no answer of it is known, and nothing that was said in it is found. */
    async function expectForgotten(agent: string, id: string): Promise<void> {
      const feedback = { completion_id: id, score: 1 };
      await expect.poll(async () => (await call(edge, "client", "POST /v1/feedback", feedback)).status, { timeout: 20_000 }).toBe(404);
      const { events } = (await admin(`GET /api/agents/${agent}/events`)).body;
      expect(events.filter((event: object) => JSON.stringify(event).includes("Quixotism"))).toEqual([]);
      expect((await admin(`GET /api/agents/${agent}/turns?words=Quixotism`)).body.turns).toEqual([]);
    }

    it("reaches the conversation that it begins", async () => {
      const { user, id, finish } = await begin("beginning", false);
      expect((await admin(`DELETE /api/users/${user}`)).status).toBe(200);
      expect(await finish()).toContain("[DONE]");
      await expectForgotten("beginning", id);
      engine.play({ text: ["Hello", " again"] });
      expect((await converse("busy", "beginning")).user).toBe(user);
    });

    it("waits for it in a conversation that is in the log, and has nothing left to write", async () => {
      const { user, id, finish } = await begin("going-on", true);
      const deleted = admin(`DELETE /api/users/${user}`);
      const [{ status }] = await Promise.all([deleted, finish()]);
      expect(status).toBe(200);
      await expectForgotten("going-on", id);
      expect(logged.filter((line) => /outbox|no such table/.test(line))).toEqual([]);
    });
  });

  it("knows whom it knows", async () => {
    expect((await admin("DELETE /api/users/u_0123456789abcdef")).status).toBe(404);
    const { status, body } = await admin("DELETE /api/users/alice");
    expect([status, body.error.param]).toEqual([400, "user"]);
  });
});
