/** What sessions count, summed for /api/stats. */
import { sql, sum } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { sessionCounters } from "./schema.ts";

/** Totals of one session since it began. `replays` are answers given from the retry record, without a generation. */
export type SessionCounters = typeof sessionCounters.$inferSelect;
type AgentCounters = Omit<SessionCounters, "sessionId">;

/** Records a session's totals. They only grow, so a late write of older ones changes nothing. */
export async function putSessionCounters(database: D1Database, counters: SessionCounters): Promise<void> {
  const highest = (column: string) => sql.raw(`max(${column}, excluded.${column})`);
  await drizzle(database)
    .insert(sessionCounters)
    .values(counters)
    .onConflictDoUpdate({
      target: sessionCounters.sessionId,
      set: {
        generations: highest("generations"),
        replays: highest("replays"),
        aborted: highest("aborted"),
        ambiguous: highest("ambiguous"),
      },
    });
}

/** Totals per agent, by name. */
export async function readCounters(database: D1Database): Promise<AgentCounters[]> {
  const { agent, generations, replays, aborted, ambiguous } = sessionCounters;
  const total = (column: Parameters<typeof sum>[0]) => sum(column).mapWith(Number);
  return drizzle(database)
    .select({
      agent,
      generations: total(generations),
      replays: total(replays),
      aborted: total(aborted),
      ambiguous: total(ambiguous),
    })
    .from(sessionCounters)
    .groupBy(agent)
    .orderBy(agent);
}
