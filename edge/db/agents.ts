/** The list of agents. */
import { asc } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { AppError } from "../../shared/errors.ts";
import { reaches, type Scope } from "../scope.ts";
import { agents } from "./schema.ts";

/** Most agents that a listing shows. */
const MAX_LISTED = 1_000;

type ListedAgent = typeof agents.$inferSelect;

/** Lists an agent; one that is listed keeps its first time. */
export async function listAgent(database: D1Database, agent: ListedAgent): Promise<void> {
  await drizzle(database).insert(agents).values(agent).onConflictDoNothing();
}

/** Those that a key reaches, by name. @throws {upstream/unreachable} while the database cannot be read */
export async function readAgents(database: D1Database, scope: Scope): Promise<ListedAgent[]> {
  try {
    // Chosen here: a scope may have more patterns, and longer ones, than D1 takes in a query.
    const all = await drizzle(database).select().from(agents).orderBy(asc(agents.name));
    return all.filter(({ name }) => reaches(scope, name)).slice(0, MAX_LISTED);
  } catch (cause) {
    throw new AppError("upstream/unreachable", "agents: the list cannot be read now, try again", { cause });
  }
}
