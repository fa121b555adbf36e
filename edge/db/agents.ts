/** The list of agents. */
import { asc, eq, like, or, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { AppError } from "../../shared/errors.ts";
import type { Scope } from "../scope.ts";
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
    return await drizzle(database).select().from(agents).where(inScope(scope)).orderBy(asc(agents.name)).limit(MAX_LISTED);
  } catch (cause) {
    throw new AppError("upstream/unreachable", "agents: the list cannot be read now, try again", { cause });
  }
}

function inScope(scope: Scope): SQL | undefined {
  // Names hold letters, digits and hyphens, so a pattern of LIKE is the prefix itself.
  return scope === null
    ? undefined
    : or(...scope.map((pattern) => (pattern.endsWith("*") ? like(agents.name, `${pattern.slice(0, -1)}%`) : eq(agents.name, pattern))));
}
