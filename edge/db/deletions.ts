/** Takes what a user said out of the log. Places stay: `seq` is what cursors count. */
import { and, eq, inArray, ne } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { NewEvent } from "../../shared/events.ts";
import { payloadKey } from "../artifacts.ts";
import type { Env } from "../env.ts";
import { deletions, events } from "./schema.ts";

type EventLog = Pick<Env, "DB" | "ARTIFACTS">;

const DELETED = JSON.stringify({ kind: "event:deleted" });
const BATCH = 50;

/** Remembers the deletion, so that what comes late is not kept. A later one counts from then. */
export async function recordDeletion({ DB }: Pick<EventLog, "DB">, user: string, requestedAt: number): Promise<void> {
  await drizzle(DB).insert(deletions).values({ user, requestedAt }).onConflictDoUpdate({ target: deletions.user, set: { requestedAt } });
}

/** Agents and sessions in which a user said something. */
export async function tracesOf({ DB }: Pick<EventLog, "DB">, user: string): Promise<{ agent: string; line: string; sessionId: string }[]> {
  const { agent, line, sessionId } = events;
  return drizzle(DB).selectDistinct({ agent, line, sessionId }).from(events).where(eq(events.user, user));
}

/** Replaces the payloads of a user's events to an agent by tombstones, in rows and in R2; returns how many there were. */
export async function eraseEvents(log: EventLog, { agent, user }: { agent: string; user: string }): Promise<number> {
  const db = drizzle(log.DB);
  const theirs = and(eq(events.agent, agent), eq(events.user, user), ne(events.kind, "event:deleted"), ne(events.kind, "user:deleted"));
  const rows = await db.select({ eventId: events.eventId, payload: events.payload }).from(events).where(theirs);
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    const large = batch.filter(({ payload }) => payload === null).map(({ eventId }) => payloadKey(eventId));
    if (large.length > 0) await log.ARTIFACTS.delete(large);
    const ids = batch.map(({ eventId }) => eventId);
    await db.update(events).set({ kind: "event:deleted", payload: DELETED }).where(inArray(events.eventId, ids));
  }
  return rows.length;
}

/** The events as they may be kept: those that a deleted user said before the deletion are tombstones. */
export async function withoutDeleted({ DB }: Pick<EventLog, "DB">, batch: readonly NewEvent[]): Promise<NewEvent[]> {
  const users = [...new Set(batch.map(({ user }) => user))];
  const rows = await drizzle(DB).select().from(deletions).where(inArray(deletions.user, users));
  const times = new Map(rows.map(({ user, requestedAt }) => [user, requestedAt]));
  return batch.map((event) => {
    const requestedAt = times.get(event.user);
    const late = requestedAt !== undefined && Date.parse(event.createdAt) <= requestedAt && event.payload.kind !== "user:deleted";
    return late ? { ...event, payload: { kind: "event:deleted" } } : event;
  });
}
