/** A correction is in force as a note on the same user's next turn, can be seen and deleted, and follows a rollback. */
import { describe, expect, it } from "vitest";
import { call, judgement, lineage, manifestOf, putAgent } from "../../helpers/call.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { withEdge } from "../../helpers/edge.ts";
import { SEARCH, WEATHER } from "../../trainer/hotel.ts";
import { type Message, says, talkTo, turnsOf } from "../session/talk.ts";

const edge = withEdge();
const LINE = (agent: string): string => `/trainer/v1/agents/${agent}/lines/shared`;
const CONTEXT = 2048; // of the random base
const NOTE = "number_of_rooms should be 2.";

/** An agent with the hotel's tools; `turn` asks as a user and gives what the log says of it. */
async function hotel(agent: string, learning: object = {}) {
  await putAgent(edge, agent, { tools: [SEARCH, WEATHER], learning });
  const { ask, logged } = talkTo(edge, agent);
  let turns = 0;
  const turn = async (
    user: string,
    { before = [], text = "A hotel in Porto.", extra = {} }: { before?: Message[]; text?: string; extra?: object } = {},
  ) => {
    await ask([...before, says(text)], { extra: { user, ...extra } });
    turns += 1;
    const event = (await logged("turn:finished", turns)).filter(({ payload }) => payload.kind === "turn:finished").at(-1);
    const [payload] = event === undefined ? [] : turnsOf([event]);
    return { user: event?.user ?? "", turnId: event?.turnId ?? "", notes: payload?.notes, prompt: payload?.rollout.promptTokens ?? [] };
  };
  const notes = async (query = "") => (await call(edge, "admin", `GET /api/agents/${agent}/notes${query}`)).body.notes;
  const judge = async (of: { user: string; turnId: string }, hint = NOTE, tool = "SearchHotel") => {
    const made = judgement(agent, of.turnId);
    const judged = { ...made, user: of.user, payload: { ...made.payload, hint, tool, held: "1" } };
    const { status } = await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] });
    expect(status).toBe(200);
  };
  return { turn, notes, judge };
}

describe("a correction", () => {
  it("is in force on the same user's next turn, in the prompt and in the log, and on nobody else's", async () => {
    const { turn, notes, judge } = await hotel("memory");
    const first = await turn("ann");
    expect(first.notes).toBeUndefined();
    await judge(first);
    await judge(first); // a trainer that lost the answer tells it again
    const [note, ...more] = await notes();
    expect(more).toEqual([]);
    const { audit } = (await call(edge, "admin", "GET /api/agents/memory/audit")).body;
    expect(audit.filter(({ move }: { move: string }) => move === "notes")).toHaveLength(1);
    expect(note).toMatchObject({
      ...{
        user: first.user,
        scope: "user",
        tool: "SearchHotel",
        parameter: "number_of_rooms",
        value: "2",
        corrected: "1",
        text: NOTE,
        status: "inForce",
      },
      ...{ turnId: first.turnId, eventId: `${first.turnId}/next`, uses: 0, lastUsedAt: null, learnedBy: null, absorbedBy: null },
    });
    const second = await turn("ann", { text: "A hotel in Faro." });
    expect(second.notes).toEqual([{ noteId: note.noteId, text: NOTE }]);
    const bob = await turn("bob", { text: "A hotel in Faro." });
    expect(bob.notes).toBeUndefined();
    expect(second.prompt.length).toBeGreaterThan(bob.prompt.length);
    // Without the tool that it is about there is nothing to say; a side turn is no business of the agent's.
    expect((await turn("ann", { text: "Rain in Faro?", extra: { tools: [WEATHER] } })).notes).toBeUndefined();
    await expect.poll(async () => (await notes())[0].uses).toBe(1);
    expect((await notes(`?user=${bob.user}`)).length).toBe(0);
    expect((await notes(`?user=${first.user}`)).length).toBe(1);
  });

  it("is held in the call where the policy passes over it, and the log says so", async () => {
    const ways = ["a", "b", "c", "d"].map((name) => `way_${name}`);
    const way = { type: "string", enum: ["north", "south"] };
    const walk = {
      type: "function",
      function: { name: "Walk", parameters: { type: "object", properties: Object.fromEntries(ways.map((name) => [name, way])) } },
    };
    await putAgent(edge, "walker", { tools: [walk] });
    const { ask, logged } = talkTo(edge, "walker");
    const extra = { user: "ann", tool_choice: "required", max_tokens: 200, temperature: 0 };
    for (const name of ways) {
      await ask([says(`On we go, ${name}.`)], { extra });
      const { user = "", turnId = "" } =
        (await logged("turn:finished", ways.indexOf(name) + 1)).filter(({ payload }) => payload.kind === "turn:finished").at(-1) ?? {};
      const made = judgement("walker", turnId);
      const judged = { ...made, user, payload: { ...made.payload, hint: `${name} should be south.`, tool: "Walk", held: "north" } };
      expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] })).status).toBe(200);
    }
    await ask([says("Let us walk.")], { extra });
    const events = (await logged("turn:finished", ways.length + 1)).filter(({ payload }) => payload.kind === "turn:finished");
    const { notes = [], answer } = turnsOf(events).at(-1) ?? {};
    const [made] = answer?.role === "assistant" ? (answer.tool_calls ?? []) : [];
    // Random weights choose among ways, and leave out what they may.
    expect(JSON.parse(made?.function.arguments ?? "{}")).toEqual(Object.fromEntries(ways.map((name) => [name, "south"])));
    expect(notes).toHaveLength(ways.length);
    expect(notes.some(({ held }) => held === true)).toBe(true);
  });

  it("is held where it names another tool, and not where the user asks for the one that was called", async () => {
    const parameters = { type: "object", properties: { side: { type: "string", enum: ["north", "south"] } } };
    const tools = ["SearchHotel", "FindRoom"].map((name) => ({ type: "function", function: { name, parameters } }));
    await putAgent(edge, "chooser", { tools });
    const { ask, logged } = talkTo(edge, "chooser");
    const extra = { user: "ann", tool_choice: "required", max_tokens: 200, temperature: 0 };
    const turn = async (text: string, count: number) => {
      await ask([says(text)], { extra });
      const event = (await logged("turn:finished", count)).filter(({ payload }) => payload.kind === "turn:finished").at(-1);
      const [payload] = event === undefined ? [] : turnsOf([event]);
      const called = payload?.answer.role === "assistant" ? payload.answer.tool_calls?.[0]?.function.name : undefined;
      return { user: event?.user ?? "", turnId: event?.turnId ?? "", called, notes: payload?.notes };
    };
    const first = await turn("A hotel in Porto.", 1);
    // Random weights call either.
    const [used = "", other = ""] = first.called === "FindRoom" ? ["FindRoom", "SearchHotel"] : ["SearchHotel", "FindRoom"];
    const made = judgement("chooser", first.turnId);
    const hint = `Call ${other} in place of ${used}.`;
    const judged = { ...made, user: first.user, payload: { ...made.payload, hint, tool: used } };
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] })).status).toBe(200);
    const [note] = (await call(edge, "admin", "GET /api/agents/chooser/notes")).body.notes;
    expect(note).toMatchObject({ tool: used, parameter: "@tool", value: other, corrected: null, text: hint });
    const second = await turn("A hotel in Porto.", 2);
    expect([second.called, second.notes]).toEqual([other, [{ noteId: note.noteId, text: hint, held: true }]]);
    const third = await turn(`A hotel in Porto, and use ${used} for it.`, 3);
    expect(third.notes?.some(({ held }) => held === true)).toBe(false);
  });

  it("is what the log says: another judgement of the same event, by a trainer that comes late, gives no note", async () => {
    const { turn, notes, judge } = await hotel("late");
    const first = await turn("ann");
    const made = judgement("late", first.turnId);
    const approved = { ...made, user: first.user, payload: { ...made.payload, reward: 1, votes: [1] } };
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [approved] })).status).toBe(200);
    await judge(first);
    expect(await notes()).toEqual([]);
    expect((await turn("ann", { text: "A hotel in Faro." })).notes).toBeUndefined();
  });

  it("is out of force when it is deleted, and the deletion stands in the audit trail", async () => {
    const { turn, notes, judge } = await hotel("deleted");
    await judge(await turn("ann"));
    const [{ noteId }] = await notes();
    const { status, body } = await call(edge, "admin", `DELETE /api/agents/deleted/notes/${noteId}`);
    expect([status, body.status]).toEqual([200, "dropped"]);
    expect((await call(edge, "admin", `DELETE /api/agents/deleted/notes/${noteId}`)).status).toBe(200);
    expect((await call(edge, "admin", "DELETE /api/agents/deleted/notes/n_none")).status).toBe(404);
    expect((await call(edge, "client", `DELETE /api/agents/deleted/notes/${noteId}`)).status).toBe(403);
    expect((await turn("ann", { text: "A hotel in Faro." })).notes).toBeUndefined();
    const { audit } = (await call(edge, "admin", "GET /api/agents/deleted/audit")).body;
    expect(audit.slice(0, 2).map(({ move, reason }: { move: string; reason: string }) => [move, reason])).toEqual([
      ["notes", `${noteId} dropped`],
      ["notes", `${noteId} given`],
    ]);
  });

  it("is withdrawn from learning where somebody drops it, not where others push it out", async () => {
    const { turn, notes, judge } = await hotel("withdrawn");
    const { user } = await turn("ann");
    const most = 50; // in force of one user
    for (let index = 0; index <= most; index += 1) await judge({ user, turnId: `t${index}` }, `p${index} should be 2.`);
    const given: { noteId: string; eventId: string; status: string }[] = await notes("?limit=100");
    const [newest] = given;
    expect(given.filter(({ status }) => status === "dropped")).toHaveLength(1);
    await call(edge, "admin", `DELETE /api/agents/withdrawn/notes/${newest?.noteId}`);
    const withdrawn = async () => {
      const ids = given.map(({ eventId }) => eventId);
      return (await call(edge, "trainer", `POST ${LINE("withdrawn")}/withdrawn`, { ids })).body.withdrawn;
    };
    expect(await withdrawn()).toEqual([{ eventId: newest?.eventId, kind: "dropped" }]);
    const { evidence } = (await call(edge, "trainer", `GET ${LINE("withdrawn")}/influence`)).body;
    expect(evidence.map(({ eventId }: { eventId: string }) => eventId)).not.toContain(newest?.eventId);
    const [pushed] = given.filter(({ status }) => status === "dropped");
    await call(edge, "admin", `DELETE /api/agents/withdrawn/notes/${pushed?.noteId}`);
    expect(await withdrawn()).toHaveLength(2);
  });

  it("gives way to a later one of the same argument", async () => {
    const { turn, notes, judge } = await hotel("later");
    await judge(await turn("ann"));
    await judge(await turn("ann", { text: "A hotel in Faro." }), "number_of_rooms should be 3.");
    expect((await notes()).map(({ value, status }: { value: string; status: string }) => [value, status])).toEqual([
      ["3", "inForce"],
      ["2", "superseded"],
    ]);
    expect((await turn("ann", { text: "A hotel in Beja." })).notes?.map(({ text }) => text)).toEqual(["number_of_rooms should be 3."]);
    // Pages, newest first; deleted, it takes with it what it had corrected.
    const [newest, oldest] = await notes();
    expect((await notes("?limit=1"))[0].noteId).toBe(newest.noteId);
    expect((await notes(`?limit=1&before=${newest.noteId}`))[0].noteId).toBe(oldest.noteId);
    const lost = await call(edge, "admin", "GET /api/agents/later/notes?before=n_gone");
    expect([lost.status, lost.body.error.param, lost.body.error.message]).toEqual([
      400,
      "before",
      expect.stringContaining("first page again"),
    ]);
    await call(edge, "admin", `DELETE /api/agents/later/notes/${newest.noteId}`);
    expect((await notes()).map(({ status }: { status: string }) => status)).toEqual(["dropped", "dropped"]);
  });

  it("is rolled back with the version that learnt it, and comes back with it", async () => {
    const { turn, notes, judge } = await hotel("undone");
    const first = await turn("ann");
    await judge(first);
    const adapter = await putAdapter(edge, "undone 1");
    const manifest = manifestOf({
      agent: "undone",
      baseDigest: edge.baseDigest,
      adapter,
      toSeq: 2,
      events: [lineage(`${first.turnId}/next`, 2)],
    });
    expect((await call(edge, "trainer", `POST ${LINE("undone")}/versions`, { parent: 0, manifest })).body.status).toBe("published");
    expect((await notes())[0]).toMatchObject({ learnedBy: 1, status: "inForce" });
    const rollback = (to: number) => call(edge, "admin", "POST /api/agents/undone/rollback", { to });
    await rollback(0);
    expect((await notes())[0].status).toBe("rolledBack");
    expect((await turn("ann", { text: "A hotel in Faro." })).notes).toBeUndefined();
    await rollback(1);
    expect((await notes())[0].status).toBe("inForce");
    expect((await turn("ann", { text: "A hotel in Beja." })).notes).toHaveLength(1);
  });

  it("is retired by the version that no longer needs it, for as long as that one answers", async () => {
    const { turn, notes, judge } = await hotel("absorbed");
    const first = await turn("ann");
    await judge(first);
    const [{ noteId }] = await notes();
    const absorb = async (version: number) =>
      (await call(edge, "trainer", `POST ${LINE("absorbed")}/notes/${noteId}/absorbed`, { version })).body;
    const open = async () => (await call(edge, "trainer", `GET ${LINE("absorbed")}/notes`)).body.notes;
    expect(await open()).toEqual([]); // nothing has learnt from it yet
    expect(await absorb(1)).toEqual({ status: "stale", stable: 0 });
    const adapter = await putAdapter(edge, "absorbed 1");
    const events = [lineage(`${first.turnId}/next`, 2)];
    const manifest = manifestOf({ agent: "absorbed", baseDigest: edge.baseDigest, adapter, toSeq: 2, events });
    await call(edge, "trainer", `POST ${LINE("absorbed")}/versions`, { parent: 0, manifest });
    expect(await open()).toMatchObject([{ noteId, learnedBy: 1 }]);
    expect(await absorb(1)).toEqual({ status: "absorbed" });
    expect((await notes())[0]).toMatchObject({ absorbedBy: 1, status: "absorbed" });
    expect(await open()).toEqual([]);
    expect((await turn("ann", { text: "A hotel in Faro." })).notes).toBeUndefined();
    const next = manifestOf({ agent: "absorbed", baseDigest: edge.baseDigest, parent: 1, fromSeq: 2, toSeq: 3 });
    await call(edge, "trainer", `POST ${LINE("absorbed")}/versions`, { parent: 1, manifest: next });
    expect((await notes())[0].status).toBe("absorbed");
    await call(edge, "admin", "POST /api/agents/absorbed/rollback", { to: 0 });
    expect((await notes())[0].status).toBe("rolledBack");
  });

  it("is everybody's where the agent says so, and nobody's where notes are off", async () => {
    const all = await hotel("shared-notes", { notes: "agent" });
    await all.judge(await all.turn("ann"));
    expect((await all.turn("bob", { text: "A hotel in Faro." })).notes).toHaveLength(1);
    // What somebody is called is told to nobody else.
    await all.judge(await all.turn("eve"), "Reply to SearchHotel with the name Eve.");
    expect((await all.notes())[0]).toMatchObject({ parameter: "@name", value: "Eve", scope: "user" });
    expect((await all.turn("bob", { text: "A hotel in Lagos." })).notes).toHaveLength(1);
    const off = await hotel("no-notes", { notes: "off" });
    await off.judge(await off.turn("ann"));
    expect(await off.notes()).toEqual([]);
    // Narrowed later, what one user said is no longer put before others; switched off, before nobody.
    await putAgent(edge, "shared-notes", { tools: [SEARCH], learning: { notes: "user" } });
    expect((await all.turn("bob", { text: "A hotel in Braga." })).notes).toBeUndefined();
    expect((await all.turn("ann", { text: "A hotel in Braga." })).notes).toHaveLength(1);
    await putAgent(edge, "shared-notes", { tools: [SEARCH], learning: { notes: "off" } });
    expect((await all.turn("ann", { text: "A hotel in Beja." })).notes).toBeUndefined();
  });

  it("costs no request its answer: where the context is full, the note stays out", async () => {
    const { turn, judge } = await hotel("full");
    await judge(await turn("ann"));
    const { notes, prompt } = await turn("ann", { text: "A hotel in Faro." });
    expect(notes).toHaveLength(1);
    const crowded = await turn("ann", { text: "A hotel in Beja.", extra: { max_tokens: CONTEXT - prompt.length + 1, stop: ["e", "a"] } });
    expect(crowded.notes).toBeUndefined();
    expect(crowded.prompt.length).toBeLessThan(prompt.length);
    // What may lose its beginning loses that sooner than a note.
    const before = [says("Hello"), { role: "assistant", content: "Hello there." }];
    const asked = { before, text: "A hotel in Loule.", extra: { max_tokens: CONTEXT - prompt.length - 24, stop: ["e", "a"] } };
    expect((await turn("ann", asked)).notes).toBeUndefined();
    const shortened = await turn("ann", { ...asked, text: "A hotel in Tavira.", extra: { ...asked.extra, truncation: "auto" } });
    expect(shortened.notes?.map(({ text }) => text)).toEqual([NOTE]);
  });
});
