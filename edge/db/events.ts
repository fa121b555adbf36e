/** The event log: append with idempotence by `eventId`, read in pages after a cursor. */
import { and, asc, desc, eq, gt, inArray, lt, lte, max, ne, notInArray, or, sql, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { invariant, zipStrict } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import { EventPayload, type FeedPage, finishedIdOf, type LoggedEvent, type NewEvent } from "../../shared/events.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import type { Env } from "../env.ts";
import { payloadKey } from "../artifacts.ts";
import { runBatch } from "./batch.ts";
import { DELETED, eraseEvents, isDeletedSince, withoutDeleted } from "./deletions.ts";
import { eraseSessions, isOfGone } from "./agent-deletions.ts";
import { agentDeletions, deletions, events, turns } from "./schema.ts";
import { turnRowsOf } from "./turn-rows.ts";

type EventRow = typeof events.$inferSelect;

/** Where the log lives: rows in D1, payloads that are large in R2. */
export type EventLog = Pick<Env, "DB" | "ARTIFACTS">;

/** Longest payload in a row, in UTF-16 units; a D1 row holds 2 MB at most and a page of rows must stay small. */
const MAX_INLINE_PAYLOAD = 65_536;
/** Payload of a page in UTF-16 units, but for a single event that is longer. */
export const MAX_PAGE_PAYLOAD = 4_194_304;
/** Events per batch: a batch is one transaction, and D1 binds at most 100 parameters in its closing query. */
const BATCH = 50;

/**
 * Appends events; those already in the log are left as they are.
 * @returns the highest `seq` among the given events, 0 where none was given: what the agent is told.
 */
export async function appendEvents(log: EventLog, newEvents: readonly NewEvent[]): Promise<number> {
  let highest = 0;
  for (let start = 0; start < newEvents.length; start += BATCH) {
    const kept = await withoutDeleted(log, newEvents.slice(start, start + BATCH));
    highest = Math.max(highest, (await appendBatch(log, kept)).seq);
  }
  return highest;
}

/**
 * The same of events of one session, at most 50, all of them later than its begin in epoch milliseconds.
 * @returns undefined where nothing is appended, as the user was deleted since then
 */
export async function appendOfSession(
  log: EventLog,
  batch: readonly NewEvent[],
  { agent, user, begunAt }: { agent: string; user: string; begunAt: number },
): Promise<number | undefined> {
  if (await isDeletedSince(log, { agent, user, at: begunAt })) return undefined;
  if (batch.length === 0) return 0;
  const { seq, erased } = await appendBatch(log, batch);
  return erased ? undefined : seq;
}

/**
 * Events of an agent, or of one of its lines, with `seq` above the cursor, oldest first, at most `limit` (1 to 100): fewer where they are
 * large, and none only where there is none.
 */
export async function pageAfter(
  log: EventLog,
  { agent, line, cursor, limit }: { agent: string; line?: string | undefined; cursor: number; limit: number },
): Promise<FeedPage> {
  const rows = await drizzle(log.DB)
    .select()
    .from(events)
    .where(and(eq(events.agent, agent), line === undefined ? undefined : eq(events.line, line), gt(events.seq, cursor)))
    .orderBy(asc(events.seq))
    .limit(limit);
  const page = await readEvents(log, rows);
  return { events: page, cursor: page.at(-1)?.seq ?? cursor };
}

/** Personal lines of an agent with events above the cursor, each with its last, by their last: at most `limit`. */
export async function linesAfter(
  { DB }: Pick<EventLog, "DB">,
  { agent, cursor, limit }: { agent: string; cursor: number; limit: number },
): Promise<{ line: string; seq: number }[]> {
  const last = max(events.seq);
  const rows = await drizzle(DB)
    .select({ line: events.line, seq: last })
    .from(events)
    .where(and(eq(events.agent, agent), gt(events.seq, cursor), ne(events.line, SHARED_LINE)))
    .groupBy(events.line)
    .orderBy(asc(last))
    .limit(limit);
  return rows.map(({ line, seq }) => ({ line, seq: seq ?? 0 }));
}

/** The last finished turns of one of the agent's sessions, in log order, at most `limit`; those up to the turn `upTo` where one is named, and none where it is not in the log. */
export async function turnsOfSession(
  log: EventLog,
  { agent, session, upTo, limit }: { agent: string; session: string; upTo?: string | undefined; limit: number },
): Promise<LoggedEvent[]> {
  const last = upTo === undefined ? undefined : sql`${events.seq} <= (SELECT seq FROM events WHERE event_id = ${finishedIdOf(upTo)})`;
  const rows = await drizzle(log.DB)
    .select()
    .from(events)
    .where(and(under(events.eventId, session), besides(events.agent, agent), eq(events.kind, "turn:finished"), last))
    .orderBy(desc(events.seq))
    .limit(limit);
  return readEvents(log, rows).then((turns) => turns.reverse());
}

/** What is of a session or of a turn: a turn's id begins with its session's, and the events' ids with the turn's, so their index holds them in one range. */
export function under(column: SQLiteColumn, id: string): SQL | undefined {
  return and(gt(column, `${id}/`), lt(column, `${id}0`)); // 0 follows / in ASCII
}

/** That the agent is this one, where other conditions find the few rows: the + keeps SQLite from going through all that the agent has. */
export function besides(column: SQLiteColumn, agent: string): SQL {
  return sql`+${column} = ${agent}`;
}

/** Those of the ids that the agent has, in log order; at most 100 ids. */
export async function eventsById(log: EventLog, { agent, ids }: { agent: string; ids: readonly string[] }): Promise<LoggedEvent[]> {
  if (ids.length === 0) return [];
  // D1 binds at most 100 parameters.
  const [some, rest] = [ids.slice(0, BATCH), ids.slice(BATCH)];
  const rows = await drizzle(log.DB)
    .select()
    .from(events)
    .where(and(inArray(events.eventId, [...some]), eq(events.agent, agent)))
    .orderBy(asc(events.seq));
  return [...(await readAll(log, rows)), ...(await eventsById(log, { agent, ids: rest }))];
}

/** Those of the ids whose users were deleted, from when that is recorded on: what they said by then may not be erased yet. */
export async function deletedAmong({ DB }: Pick<EventLog, "DB">, ids: readonly string[]): Promise<Set<string>> {
  const gone = new Set<string>();
  for (let start = 0; start < ids.length; start += BATCH) {
    const some = ids.slice(start, start + BATCH);
    const rows = await drizzle(DB)
      .select({ eventId: events.eventId })
      .from(events)
      .leftJoin(deletions, and(eq(deletions.agent, events.agent), eq(deletions.user, events.user)))
      .where(and(inArray(events.eventId, some), or(eq(events.kind, "event:deleted"), lte(events.createdAt, deletions.requestedAt))));
    for (const { eventId } of rows) gone.add(eventId);
  }
  return gone;
}

/** Those of the turns that are in the log as another agent's. */
export async function foreignTurns(
  { DB }: Pick<EventLog, "DB">,
  asked: readonly { readonly turnId: string; readonly agent: string }[],
): Promise<string[]> {
  const foreign: string[] = [];
  for (let start = 0; start < asked.length; start += BATCH) {
    const some = asked.slice(start, start + BATCH);
    const ids = some.map(({ turnId }) => turnId);
    const rows = await drizzle(DB).select({ turnId: turns.turnId, agent: turns.agent }).from(turns).where(inArray(turns.turnId, ids));
    const owners = new Map(rows.map(({ turnId, agent }) => [turnId, agent]));
    foreign.push(...some.filter(({ turnId, agent }) => (owners.get(turnId) ?? agent) !== agent).map(({ turnId }) => turnId));
  }
  return foreign;
}

/** What a user's next states and feedback to an agent are, without their payloads, in log order. */
export async function signalsOfUser(
  { DB }: Pick<EventLog, "DB">,
  { agent, user }: { agent: string; user: string },
): Promise<{ eventId: string; turnId: string; seq: number; line: string }[]> {
  return drizzle(DB)
    .select({ eventId: events.eventId, turnId: events.turnId, seq: events.seq, line: events.line })
    .from(events)
    .where(and(eq(events.agent, agent), eq(events.user, user), inArray(events.kind, ["nextState:arrived", "feedback:given"])))
    .orderBy(asc(events.seq));
}

/** The highest `seq` of the log, 0 while it is empty. */
export async function lastSeq({ DB }: Pick<EventLog, "DB">): Promise<number> {
  const [row] = await drizzle(DB)
    .select({ seq: max(events.seq) })
    .from(events);
  return row?.seq ?? 0;
}

/** The highest `seq` that an event was ever given, its row there or not. A database that was restored goes on from where it was. */
export async function lastGivenSeq({ DB }: Pick<EventLog, "DB">): Promise<number> {
  return (await DB.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").first<number>("seq")) ?? 0;
}

async function readAll(log: EventLog, rows: readonly EventRow[]): Promise<LoggedEvent[]> {
  const read: LoggedEvent[] = [];
  for (const row of rows) read.push(toLoggedEvent(row, row.payload ?? (await readPayload(log, row))));
  return read;
}

/**
 * Reads payloads one after the other until the page is full: an isolate could not hold a hundred large ones. The first is read whatever its size.
 * @param most payload in UTF-16 units
 */
export async function readEvents(log: EventLog, rows: readonly EventRow[], most = MAX_PAGE_PAYLOAD): Promise<LoggedEvent[]> {
  const page: LoggedEvent[] = [];
  let length = 0;
  for (const row of rows) {
    const payload = row.payload ?? (await readPayload(log, row));
    length += payload.length;
    if (page.length > 0 && length > most) break;
    page.push(toLoggedEvent(row, payload));
  }
  return page;
}

/**
 * In one transaction with a look at who was deleted: a deletion that is recorded before it is seen here, and one that is recorded after it finds
 * the rows. `erased`: some of it was said by who was deleted meanwhile, and went as what they had said before did.
 */
async function appendBatch(log: EventLog, batch: readonly NewEvent[]): Promise<{ seq: number; erased: boolean }> {
  invariant(batch.length <= BATCH, `at most ${BATCH} events in a batch, got ${batch.length}`);
  const db = drizzle(log.DB);
  const rows = await Promise.all(batch.map((event) => toRow(log, event)));
  const ids = batch.map(({ eventId }) => eventId);
  const statements = zipStrict(batch, rows).flatMap(([event, row]) => {
    const { before, after } = turnRowsOf(event);
    return [...before, db.insert(events).values(row).onConflictDoNothing({ target: events.eventId }), ...after];
  });
  const highest = db
    .select({ seq: max(events.seq) })
    .from(events)
    .where(inArray(events.eventId, ids));
  const late = db
    .selectDistinct({ agent: events.agent, user: events.user })
    .from(events)
    .innerJoin(deletions, and(eq(deletions.agent, events.agent), eq(deletions.user, events.user)))
    .where(
      and(
        inArray(events.eventId, ids),
        notInArray(events.kind, ["event:deleted", "user:deleted"]),
        lte(events.createdAt, deletions.requestedAt),
      ),
    );
  const gone = db
    .selectDistinct({ agent: events.agent, sessionId: events.sessionId })
    .from(events)
    .innerJoin(agentDeletions, eq(agentDeletions.agent, events.agent))
    .where(and(inArray(events.eventId, ids), isOfGone(events.createdAt)));
  const [selected, users, sessions] = (await runBatch(log.DB, [...statements, highest, late, gone])).slice(-3);
  for (const { agent, user } of users ?? []) await eraseEvents(log, { agent: String(agent), user: String(user) });
  for (const { agent, session_id: sessionId } of sessions ?? []) await eraseSessions(log, String(agent), [String(sessionId)]);
  const erased = (users ?? []).length + (sessions ?? []).length > 0;
  return { seq: Math.max(0, ...Object.values(selected?.[0] ?? {}).map(Number)), erased };
}

/** A large payload is in R2 before its row exists, so a row that is read always finds it. */
async function toRow(log: EventLog, { payload, createdAt, ...header }: NewEvent): Promise<typeof events.$inferInsert> {
  const json = JSON.stringify(payload);
  const large = json.length > MAX_INLINE_PAYLOAD;
  // Only where there is none: an event that is sent again is left as it is, with what it was first.
  if (large) await log.ARTIFACTS.put(payloadKey(header.eventId), json, { onlyIf: { etagDoesNotMatch: "*" } });
  return { ...header, kind: payload.kind, payload: large ? null : json, createdAt: Date.parse(createdAt) };
}

function toLoggedEvent(row: EventRow, payload: string): LoggedEvent {
  const { payload: _, kind: __, createdAt, keyId, ...header } = row;
  return {
    ...header,
    ...(keyId === null ? {} : { keyId }),
    createdAt: new Date(createdAt).toISOString(),
    payload: EventPayload.parse(JSON.parse(payload)),
  };
}

async function readPayload(log: EventLog, { eventId, agent, user, createdAt }: EventRow): Promise<string> {
  const object = await log.ARTIFACTS.get(payloadKey(eventId));
  // A deletion takes the payload first, and may be cut off before it has changed the row.
  if (object === null && (await isDeletedSince(log, { agent, user, at: createdAt }))) return DELETED;
  if (object === null) throw new AppError("internal", `internal: event ${eventId} has no payload at ${payloadKey(eventId)}`);
  return object.text();
}
