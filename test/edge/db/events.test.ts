/** The event log against a real D1 and R2. */
import { beforeAll, describe, expect, it } from "vitest";
import { appendEvents, appendOfSession, pageAfter, type EventLog } from "../../../edge/db/events.ts";
import { recordDeletions } from "../../../edge/db/deletions.ts";
import { judgement } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
let log: EventLog;

beforeAll(async () => {
  log = { DB: await edge.getD1(), ARTIFACTS: await edge.getR2() } as unknown as EventLog;
});

const named = (agent: string, ids: readonly string[]) => ids.map((id) => judgement(agent, `${agent}-${id}`));
const turns = async (agent: string, cursor: number, limit: number) =>
  (await pageAfter(log, { agent, cursor, limit })).events.map(({ turnId }) => turnId);

describe("appendEvents", () => {
  it("gives each event one seq, in order, and returns the highest", async () => {
    const highest = await appendEvents(log, named("order", ["1", "2", "3"]));
    const { events, cursor } = await pageAfter(log, { agent: "order", cursor: 0, limit: 10 });
    expect(events.map(({ turnId }) => turnId)).toEqual(["order-1", "order-2", "order-3"]);
    expect(events.map(({ seq }) => seq)).toEqual([highest - 2, highest - 1, highest]);
    expect(cursor).toBe(highest);
  });

  it("leaves an event that is there as it is, whatever is sent again", async () => {
    const [first, second] = named("again", ["1", "2"]);
    if (first === undefined || second === undefined) throw new Error("two events expected");
    const before = await appendEvents(log, [first]);
    const after = await appendEvents(log, [{ ...first, user: "another" }, second, second]);
    const { events } = await pageAfter(log, { agent: "again", cursor: 0, limit: 10 });
    expect(events.map(({ eventId, user }) => [eventId, user])).toEqual([
      [first.eventId, "u1"],
      [second.eventId, "u1"],
    ]);
    expect([before, after]).toEqual(events.map(({ seq }) => seq));
    expect(await appendEvents(log, [first])).toBe(before);
  });

  it("delivers concurrent deliveries of the same events once", async () => {
    const events = named("race", ["1", "2", "3", "4", "5"]);
    await Promise.all(Array.from({ length: 8 }, () => appendEvents(log, events)));
    expect((await turns("race", 0, 100)).sort()).toEqual(["race-1", "race-2", "race-3", "race-4", "race-5"]);
  });

  it("takes more events than one batch holds, and none", async () => {
    const ids = Array.from({ length: 120 }, (_, index) => `${index}`);
    const highest = await appendEvents(log, named("many", ids));
    const first = await pageAfter(log, { agent: "many", cursor: 0, limit: 100 });
    const second = await pageAfter(log, { agent: "many", cursor: first.cursor, limit: 100 });
    expect([...first.events, ...second.events].map(({ turnId }) => turnId)).toEqual(ids.map((id) => `many-${id}`));
    expect(second.cursor).toBe(highest);
    expect(await appendEvents(log, [])).toBe(0);
  });

  it("refuses more events of a session than one batch holds", async () => {
    const ids = Array.from({ length: 51 }, (_, index) => `${index}`);
    const appended = appendOfSession(log, named("long", ids), { agent: "long", user: "u1", begunAt: 1 });
    await expect(appended).rejects.toThrow("at most 50 events in a batch, got 51");
    expect(await turns("long", 0, 100)).toEqual([]);
  });

  it("keeps a payload over 64 KB in R2 and reads it back whole", async () => {
    const [event] = named("large", ["1"]);
    if (event === undefined) throw new Error("an event expected");
    const large = { ...event, payload: { ...event.payload, hint: "ü".repeat(70_000) } };
    await appendEvents(log, [large]);
    const row = await log.DB.prepare("SELECT payload FROM events WHERE event_id = ?").bind(event.eventId).first();
    expect(row).toEqual({ payload: null });
    const { events } = await pageAfter(log, { agent: "large", cursor: 0, limit: 1 });
    expect(events).toEqual([{ ...large, seq: events[0]?.seq }]);
  });
});

describe("pageAfter", () => {
  it("resumes exactly where a page ended, whatever the page size", async () => {
    await appendEvents(log, named("pages", ["a", "b", "c", "d", "e"]));
    for (const limit of [1, 2, 3, 5]) {
      const seen: string[] = [];
      for (let cursor = 0, page = 1; page > 0;) {
        const { events, cursor: reached } = await pageAfter(log, { agent: "pages", cursor, limit });
        seen.push(...events.map(({ turnId }) => turnId));
        [cursor, page] = [reached, events.length];
      }
      expect(seen).toEqual(["pages-a", "pages-b", "pages-c", "pages-d", "pages-e"]);
    }
  });

  it("ends before it grows too large to hold, and loses nothing by it", async () => {
    const large = named("heavy", ["1", "2", "3"]).map((event) => ({
      ...event,
      payload: { ...event.payload, hint: "x".repeat(3_000_000) },
    }));
    await appendEvents(log, large);
    const seen: string[][] = [];
    for (let cursor = 0, page = 1; page > 0;) {
      const { events, cursor: reached } = await pageAfter(log, { agent: "heavy", cursor, limit: 100 });
      seen.push(events.map(({ turnId }) => turnId));
      [cursor, page] = [reached, events.length];
    }
    expect(seen).toEqual([["heavy-1"], ["heavy-2"], ["heavy-3"], []]);
  });

  it("shows an agent's own events only, and keeps the cursor on an empty page", async () => {
    await appendEvents(log, [...named("mine", ["1"]), ...named("other", ["1"]), ...named("mine", ["2"])]);
    expect(await turns("mine", 0, 10)).toEqual(["mine-1", "mine-2"]);
    expect(await pageAfter(log, { agent: "nobody", cursor: 17, limit: 10 })).toEqual({ events: [], cursor: 17 });
  });
});

describe("a deletion", () => {
  const REQUESTED = Date.parse("2026-06-01T00:00:00.000Z"); // after what is judged in these tests

  /** The log, in which a user is deleted after whoever appends has asked and before they append. */
  const deletedBefore = (agent: string): EventLog => {
    const batch = async (statements: Parameters<EventLog["DB"]["batch"]>[0]): Promise<unknown> => {
      await recordDeletions(log, [{ actor: "admin:k", agent, user: "u1", requestedAt: REQUESTED }]);
      return log.DB.batch(statements);
    };
    return { ...log, DB: Object.assign(Object.create(log.DB), { batch, prepare: log.DB.prepare.bind(log.DB) }) };
  };
  const kindsOf = async (agent: string): Promise<string[]> =>
    (await pageAfter(log, { agent, cursor: 0, limit: 10 })).events.map(({ payload }) => payload.kind);

  it("that comes while events are appended takes them with it", async () => {
    await appendEvents(deletedBefore("meanwhile"), named("meanwhile", ["1", "2"]));
    expect(await kindsOf("meanwhile")).toEqual(["event:deleted", "event:deleted"]);
    const session = { agent: "midway", user: "u1", begunAt: 0 };
    expect(await appendOfSession(deletedBefore("midway"), named("midway", ["1"]), session)).toBeUndefined();
    expect(await kindsOf("midway")).toEqual(["event:deleted"]);
  });

  it("leaves what is said after it, and what others say", async () => {
    const [before, after, other] = named("others", ["1", "2", "3"]);
    if (before === undefined || after === undefined || other === undefined) throw new Error("three events expected");
    const later = { ...after, createdAt: "2026-07-01T00:00:00.000Z" };
    await appendEvents(deletedBefore("others"), [{ ...other, user: "u2" }, later]);
    expect(await kindsOf("others")).toEqual(["judgement:made", "judgement:made"]);
  });

  it("that was cut off between a payload and its row is read as done", async () => {
    const [event] = named("cut", ["1"]);
    if (event === undefined) throw new Error("an event expected");
    await appendEvents(log, [{ ...event, payload: { ...event.payload, hint: "x".repeat(70_000) } }]);
    await log.ARTIFACTS.delete(`payloads/${event.eventId}`);
    await expect(kindsOf("cut")).rejects.toThrow("no payload");
    await recordDeletions(log, [{ actor: "admin:k", agent: "cut", user: "u1", requestedAt: REQUESTED }]);
    expect(await kindsOf("cut")).toEqual(["event:deleted"]);
  });
});

describe("what is large", () => {
  it("is not written over by what is sent again", async () => {
    const [event] = named("overwritten", ["1"]);
    if (event === undefined) throw new Error("an event expected");
    const saying = (letter: string) => [{ ...event, payload: { ...event.payload, hint: letter.repeat(70_000) } }];
    await appendEvents(log, saying("a"));
    await appendEvents(log, saying("b"));
    const { events } = await pageAfter(log, { agent: "overwritten", cursor: 0, limit: 1 });
    expect(JSON.stringify(events[0]?.payload)).toContain("aaaa");
  });
});
