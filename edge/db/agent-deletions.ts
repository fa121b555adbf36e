/** What is left of an agent in D1 and R2 once it is deleted, and how that goes: nothing but that it was, so that what comes late is not kept. */
import { and, eq, inArray, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Actor } from "../../shared/api.ts";
import { payloadKey } from "../artifacts.ts";
import type { Env } from "../env.ts";
import { runBatch, type Statement } from "./batch.ts";
import { auditStatement, type NewMove } from "./deployment-audit.ts";
import { agentDeletions, agents, deletions, events, series, sessionCounters } from "./schema.ts";
import { eraseTurnRows } from "./turn-rows.ts";

type EventLog = Pick<Env, "DB" | "ARTIFACTS">;

const AT_ONCE = 50; // rows, of which D1 takes the ids as parameters

export type RequestedAgentDeletion = { readonly agent: string; readonly requestedAt: number; readonly actor: Actor };
export type AgentDeletionRow = typeof agentDeletions.$inferSelect;

/** From now on the agent is in no list, and its deletion is carried out however often it breaks off. */
export async function recordAgentDeletion(database: D1Database, deletion: RequestedAgentDeletion, audit: NewMove): Promise<void> {
  const db = drizzle(database);
  const { requestedAt, actor } = deletion;
  const again = { requestedAt, actor, finishedAt: null, remadeAt: null };
  await runBatch(database, [
    db.insert(agentDeletions).values(deletion).onConflictDoUpdate({ target: agentDeletions.agent, set: again }),
    db.delete(agents).where(eq(agents.name, deletion.agent)),
    auditStatement(database, audit),
  ]);
}

export async function finishAgentDeletion(database: D1Database, { agent, requestedAt }: RequestedAgentDeletion): Promise<void> {
  const own = and(eq(agentDeletions.agent, agent), eq(agentDeletions.requestedAt, requestedAt));
  await drizzle(database).update(agentDeletions).set({ finishedAt: Date.now() }).where(own);
}

export async function agentDeletionOf(database: D1Database, agent: string): Promise<AgentDeletionRow | undefined> {
  return drizzle(database).select().from(agentDeletions).where(eq(agentDeletions.agent, agent)).get();
}

/** Begun before and not finished. */
export async function unfinishedAgentDeletions(database: D1Database, before: number): Promise<RequestedAgentDeletion[]> {
  return drizzle(database)
    .select()
    .from(agentDeletions)
    .where(and(isNull(agentDeletions.finishedAt), lte(agentDeletions.requestedAt, before)));
}

/** An agent of the name of one that is gone: what is its own begins with it. */
export function remadeStatement(database: D1Database, { name, createdAt }: { name: string; createdAt: number }): Statement {
  const own = and(eq(agentDeletions.agent, name), isNull(agentDeletions.remadeAt));
  return drizzle(database).update(agentDeletions).set({ remadeAt: createdAt }).where(own);
}

/** Of a row of `agent_deletions`: that what was said at this time was said to the agent that is gone. */
export function isOfGone(at: SQL | number | typeof events.createdAt): SQL | undefined {
  return or(isNull(agentDeletions.remadeAt), lt(sql`${at}`, agentDeletions.remadeAt));
}

/** Some of the agent's sessions, of those that the log or their counters know; empty once nothing is left of any. */
export async function someSessionsOf(database: D1Database, agent: string): Promise<string[]> {
  const db = drizzle(database);
  const logged = db.selectDistinct({ sessionId: events.sessionId }).from(events).where(eq(events.agent, agent)).limit(AT_ONCE);
  const counted = db
    .select({ sessionId: sessionCounters.sessionId })
    .from(sessionCounters)
    .where(eq(sessionCounters.agent, agent))
    .limit(AT_ONCE);
  const found = new Set([...(await logged), ...(await counted)].map(({ sessionId }) => sessionId));
  return [...found].slice(0, AT_ONCE);
}

/** Takes sessions of an agent out of the log; returns how many events they had. What a session has in R2 goes before its rows, which name it. */
export async function eraseSessions(log: EventLog, agent: string, sessionIds: readonly string[]): Promise<number> {
  const db = drizzle(log.DB);
  const theirs = and(eq(events.agent, agent), inArray(events.sessionId, [...sessionIds]));
  const large = sql<number>`${events.payload} IS NULL`;
  let erased = 0;
  for (;;) {
    const rows = await db.select({ eventId: events.eventId, large }).from(events).where(theirs).limit(AT_ONCE);
    if (rows.length === 0) break;
    const files = rows.filter((row) => row.large === 1).map(({ eventId }) => payloadKey(eventId));
    if (files.length > 0) await log.ARTIFACTS.delete(files);
    const ids = rows.map(({ eventId }) => eventId);
    await db.delete(events).where(inArray(events.eventId, ids));
    erased += rows.length;
  }
  await db.delete(sessionCounters).where(and(eq(sessionCounters.agent, agent), inArray(sessionCounters.sessionId, [...sessionIds])));
  return erased;
}

/** Takes out what is kept of an agent beside its sessions: what can be searched, its hours, and whom it has forgotten. */
export async function eraseAgentRows({ DB }: Pick<EventLog, "DB">, agent: string): Promise<void> {
  await eraseTurnRows(DB, { agent });
  const db = drizzle(DB);
  await runBatch(DB, [db.delete(series).where(eq(series.agent, agent)), db.delete(deletions).where(eq(deletions.agent, agent))]);
}
