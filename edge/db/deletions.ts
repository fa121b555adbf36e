/** Takes what a user said out of the log. Places stay: `seq` is what cursors count. */
import { and, eq, gte, inArray, isNull, lte, ne, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../shared/api.ts";
import type { NewEvent } from "../../shared/events.ts";
import { payloadKey } from "../artifacts.ts";
import type { Env } from "../env.ts";
import { runBatch } from "./batch.ts";
import { isOfGone } from "./agent-deletions.ts";
import { agentDeletions, deletions, events } from "./schema.ts";
import { eraseTurnRows } from "./turn-rows.ts";

type EventLog = Pick<Env, "DB" | "ARTIFACTS">;

export const DELETED = JSON.stringify({ kind: "event:deleted" });
const BATCH = 50;

/** A user who is to be forgotten by an agent, since when, and who asked for it. */
export type RequestedDeletion = { readonly agent: string; readonly user: string; readonly requestedAt: number; readonly actor: Actor };

/** Remembers deletions, all or none, so that what comes late is not kept. A later one counts from then. */
export async function recordDeletions({ DB }: Pick<EventLog, "DB">, requested: readonly RequestedDeletion[]): Promise<void> {
  const target = [deletions.agent, deletions.user];
  const statements = requested.map((deletion) => {
    const { requestedAt, actor } = deletion;
    return drizzle(DB)
      .insert(deletions)
      .values(deletion)
      .onConflictDoUpdate({ target, set: { requestedAt, actor, finishedAt: null } });
  });
  await runBatch(DB, statements);
}

/** Nothing is left to be erased of what was said until it was asked for. */
export async function finishDeletion({ DB }: Pick<EventLog, "DB">, { agent, user, requestedAt }: RequestedDeletion): Promise<void> {
  const own = and(eq(deletions.agent, agent), eq(deletions.user, user), eq(deletions.requestedAt, requestedAt));
  await drizzle(DB).update(deletions).set({ finishedAt: Date.now() }).where(own);
}

/** What was begun before and not finished, of a user or of an agent. */
export async function unfinishedDeletions(
  { DB }: Pick<EventLog, "DB">,
  { before, ...of }: { before: number } & ({ agent: string } | { user: string }),
): Promise<RequestedDeletion[]> {
  const own = "agent" in of ? eq(deletions.agent, of.agent) : eq(deletions.user, of.user);
  const rows = await drizzle(DB)
    .select()
    .from(deletions)
    .where(and(own, isNull(deletions.finishedAt), lte(deletions.requestedAt, before)));
  return rows.map(({ actor, ...row }) => ({ ...row, actor: actor ?? "edge" }));
}

/** Agents and sessions in which a user said something; of one agent where it is named. */
export async function tracesOf(
  { DB }: Pick<EventLog, "DB">,
  { user, agent: name }: { user: string; agent?: string },
): Promise<{ agent: string; line: string; sessionId: string }[]> {
  const { agent, line, sessionId } = events;
  const theirs = and(eq(events.user, user), name === undefined ? undefined : eq(events.agent, name));
  return drizzle(DB).selectDistinct({ agent, line, sessionId }).from(events).where(theirs);
}

/** Replaces the payloads of a user's events to an agent by tombstones, in rows and in R2; returns how many there were. */
export async function eraseEvents(log: EventLog, { agent, user }: { agent: string; user: string }): Promise<number> {
  const db = drizzle(log.DB);
  const theirs = and(eq(events.agent, agent), eq(events.user, user), ne(events.kind, "event:deleted"), ne(events.kind, "user:deleted"));
  // Whether a payload lies in R2, not the payload: a flood of them fits no isolate.
  const large = sql<number>`${events.payload} IS NULL`;
  const rows = await db.select({ eventId: events.eventId, large }).from(events).where(theirs);
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    const files = batch.filter((row) => row.large === 1).map(({ eventId }) => payloadKey(eventId));
    if (files.length > 0) await log.ARTIFACTS.delete(files);
    const ids = batch.map(({ eventId }) => eventId);
    await db.update(events).set({ kind: "event:deleted", payload: DELETED }).where(inArray(events.eventId, ids));
  }
  await eraseTurnRows(log.DB, { agent, user });
  return rows.length;
}

/** The events as they may be kept: those that a deleted user said before the deletion are tombstones. */
export async function withoutDeleted({ DB }: Pick<EventLog, "DB">, batch: readonly NewEvent[]): Promise<NewEvent[]> {
  const users = [...new Set(batch.map(({ user }) => user))];
  const names = [...new Set(batch.map(({ agent }) => agent))];
  const theirs = and(inArray(deletions.agent, names), inArray(deletions.user, users));
  const rows = await drizzle(DB).select().from(deletions).where(theirs);
  const times = new Map(rows.map(({ agent, user, requestedAt }) => [`${agent} ${user}`, requestedAt]));
  return batch.map((event) => {
    const requestedAt = times.get(`${event.agent} ${event.user}`);
    const late = requestedAt !== undefined && Date.parse(event.createdAt) <= requestedAt && event.payload.kind !== "user:deleted";
    return late ? { ...event, payload: { kind: "event:deleted" } } : event;
  });
}

/** Whether a user, or the agent, was deleted at this time or later: what they had said to it by then goes. */
export async function isDeletedSince(
  { DB }: Pick<EventLog, "DB">,
  { agent, user, at }: { agent: string; user: string; at: number },
): Promise<boolean> {
  const later = and(eq(deletions.agent, agent), eq(deletions.user, user), gte(deletions.requestedAt, at));
  const isGone = and(eq(agentDeletions.agent, agent), isOfGone(at));
  const users = drizzle(DB).select({ name: deletions.user }).from(deletions).where(later);
  const agents = drizzle(DB).select({ name: agentDeletions.agent }).from(agentDeletions).where(isGone);
  return (await unionAll(users, agents)).length > 0;
}

/** Agents to which what a user said was deleted, and whether nothing of it is left. */
export async function deletionsOf({ DB }: Pick<EventLog, "DB">, user: string): Promise<{ agent: string; isFinished: boolean }[]> {
  const rows = await drizzle(DB).select().from(deletions).where(eq(deletions.user, user));
  return rows.map(({ agent, finishedAt }) => ({ agent, isFinished: finishedAt !== null }));
}
