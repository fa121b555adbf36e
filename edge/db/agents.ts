/** The list of agents. */
import { asc } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { agents } from "./schema.ts";

/** Most agents that a listing shows. */
const MAX_LISTED = 1_000;

type ListedAgent = typeof agents.$inferSelect;

/** Lists an agent; one that is listed keeps its first time. */
export async function listAgent(database: D1Database, agent: ListedAgent): Promise<void> {
  await drizzle(database).insert(agents).values(agent).onConflictDoNothing();
}

export async function readAgents(database: D1Database): Promise<ListedAgent[]> {
  return drizzle(database).select().from(agents).orderBy(asc(agents.name)).limit(MAX_LISTED);
}
