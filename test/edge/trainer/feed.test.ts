/** The trainer's feed: pages that resume, and a long poll that wakes. */
import { describe, expect, it } from "vitest";
import { FeedPage } from "../../../shared/events.ts";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo } from "../session/talk.ts";

const edge = withEdge();
const append = (agent: string, ids: string[]) =>
  call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: ids.map((id) => judgement(agent, `${agent}-${id}`)) });
const feed = async (query: string): Promise<FeedPage> =>
  FeedPage.parse((await call(edge, "trainer", `GET /trainer/v1/feed?${query}`)).body);
const turnsOf = ({ events }: FeedPage): string[] => events.map(({ turnId }) => turnId);

describe("the feed", () => {
  it("shows each event once, however often it was delivered", async () => {
    await putAgent(edge, "once");
    await append("once", ["1", "2"]);
    await append("once", ["2", "3"]);
    expect(turnsOf(await feed("agent=once"))).toEqual(["once-1", "once-2", "once-3"]);
  });

  it("resumes after a cursor and holds nothing before it", async () => {
    await putAgent(edge, "resume");
    await append("resume", ["1", "2", "3"]);
    const first = await feed("agent=resume&limit=2");
    const second = await feed(`agent=resume&limit=2&cursor=${first.cursor}`);
    const third = await feed(`agent=resume&limit=2&cursor=${second.cursor}`);
    expect([first, second, third].map(turnsOf)).toEqual([["resume-1", "resume-2"], ["resume-3"], []]);
    expect(third.cursor).toBe(second.cursor);
  });

  it("wakes a waiting poll when an event of its agent is appended, and leaves other agents waiting", async () => {
    await Promise.all([putAgent(edge, "awake"), putAgent(edge, "asleep")]);
    const finished: string[] = [];
    const poll = async (agent: string, waitMs: number): Promise<FeedPage> => {
      const page = await feed(`agent=${agent}&waitMs=${waitMs}`);
      finished.push(agent);
      return page;
    };
    const awake = poll("awake", 20_000);
    const asleep = poll("asleep", 3_000);
    await append("awake", ["1"]);
    expect(turnsOf(await awake)).toEqual(["awake-1"]);
    expect(turnsOf(await asleep)).toEqual([]);
    expect(finished).toEqual(["awake", "asleep"]);
  });

  it("finds an event whose notice was lost", async () => {
    await putAgent(edge, "lost");
    const waiting = feed("agent=lost&waitMs=20000");
    const { eventId, payload, ...header } = judgement("lost", "lost-1");
    const values = [
      eventId,
      header.agent,
      header.line,
      header.sessionId,
      header.turnId,
      header.user,
      payload.kind,
      JSON.stringify(payload),
    ];
    const db = await edge.getD1();
    const columns = "event_id, agent, line, session_id, turn_id, user, kind, payload, created_at";
    await db
      .prepare(`INSERT INTO events (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)`)
      .bind(...values)
      .run();
    expect(turnsOf(await waiting)).toEqual(["lost-1"]);
  });

  it.each([
    ["", /^agent: /],
    ["agent=quiet&cursor=-1", /^cursor: /],
    ["agent=quiet&limit=0", /^limit: /],
    ["agent=quiet&waitMs=60000", /^waitMs: /],
  ])("refuses the query %j", async (query, message) => {
    const { status, body } = await call(edge, "trainer", `GET /trainer/v1/feed?${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(message);
  });

  it("knows no agent but those that exist", async () => {
    expect((await call(edge, "trainer", "GET /trainer/v1/feed?agent=nobody")).status).toBe(404);
    const { status, body } = await append("nobody", ["1"]);
    expect([status, body.error.message]).toEqual([404, "agent nobody: not found"]);
  });

  it("takes judgements only, not events that only sessions may write", async () => {
    await putAgent(edge, "forged");
    const forged = { ...judgement("forged", "forged-1"), payload: { kind: "session:closed", reason: "done" } };
    const { status, body } = await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [forged] });
    expect([status, body.error.param]).toEqual([400, "judgements.0.payload.kind"]);
  });
});

describe("the turns of a session", () => {
  it("are given again in log order, those of no other session or agent among them", async () => {
    await Promise.all([putAgent(edge, "told"), putAgent(edge, "untold")]);
    const { ask, logged } = talkTo(edge, "told");
    const first = await ask([says("one")], { headers: { "x-session-id": "a" } });
    const second = await ask([says("one"), first.message, says("two")], { headers: { "x-session-id": "a" } });
    await ask([says("one")], { headers: { "x-session-id": "b" } });
    await logged("turn:finished", 3);
    type Told = { turnId: string; payload: { completionId: string } };
    const told = async (agent: string, upTo = ""): Promise<Told[]> =>
      (await call(edge, "trainer", `GET /trainer/v1/turns?agent=${agent}&session=${first.sessionId}${upTo}`)).body.events;
    const read = async (agent: string, upTo?: string): Promise<string[]> =>
      (await told(agent, upTo)).map(({ payload }) => payload.completionId);
    expect(await read("told")).toEqual([first.id, second.id]);
    const [before, after] = (await told("told")).map(({ turnId }) => `&upTo=${encodeURIComponent(turnId)}`);
    expect([await read("told", before), await read("told", after)]).toEqual([[first.id], [first.id, second.id]]);
    expect(await read("told", "&upTo=nobody")).toEqual([]);
    expect(await read("untold")).toEqual([]);
    expect(await call(edge, "client", `GET /trainer/v1/turns?agent=told&session=${first.sessionId}`)).toMatchObject({ status: 403 });
  });
});
