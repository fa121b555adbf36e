/** The list of agents. */
import { and, asc, eq, gte, lt, or, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { AppError } from "../../shared/errors.ts";
import type { Scope } from "../scope.ts";
import { remadeStatement } from "./agent-deletions.ts";
import { runBatch } from "./batch.ts";
import { keyLine } from "./keys.ts";
import { agents } from "./schema.ts";

/** Most agents that there are, and that a listing shows: trainers ask each of theirs every few seconds. */
const MAX_AGENTS = 1_000;
/** The same for a key of some agents, with all that it has made: whoever has it takes nobody else's room. */
const MAX_SCOPED = 100;

/** Of a scope in one query: each takes two parameters at most, and D1 takes 100. */
const PATTERNS = 40;

type ListedAgent = typeof agents.$inferSelect;

/** Lists an agent; one that is listed keeps its first time. */
export async function listAgent(database: D1Database, agent: ListedAgent): Promise<void> {
  await runBatch(database, [drizzle(database).insert(agents).values(agent).onConflictDoNothing(), remadeStatement(database, agent)]);
}

/** Those that a key reaches, by name. @throws {upstream/unreachable} while the database cannot be read */
export async function readAgents(database: D1Database, scope: Scope): Promise<ListedAgent[]> {
  const db = drizzle(database);
  const where = (condition: SQL | undefined) => db.select().from(agents).where(condition).orderBy(asc(agents.name)).limit(MAX_AGENTS);
  try {
    if (scope === null) return await where(undefined);
    const found = new Map<string, ListedAgent>();
    for (let start = 0; start < scope.length; start += PATTERNS)
      for (const agent of await where(or(...scope.slice(start, start + PATTERNS).map(matching)))) found.set(agent.name, agent);
    return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_AGENTS);
  } catch (cause) {
    throw new AppError("upstream/unreachable", "agents: the list cannot be read now, try again", { cause });
  }
}

/** @throws {input/invalid} where there is no room for one more of the tenant's that the key is of, or of anybody's */
export async function checkRoom(database: D1Database, keyId: string): Promise<void> {
  const scope = await tenantScope(database, keyId);
  const [all, own] = await Promise.all([readAgents(database, null), scope === null ? [] : readAgents(database, scope)]);
  if (all.length >= MAX_AGENTS) throw new AppError("input/invalid", `at most ${MAX_AGENTS} agents expected, got one more`);
  if (own.length >= MAX_SCOPED)
    throw new AppError(
      "input/invalid",
      `at most ${MAX_SCOPED} agents of a key of some agents expected, got one more: ask whoever made the key`,
    );
}

/** What the first key of some agents reaches that a key comes from, or is: narrower ones are made of its room. */
async function tenantScope(database: D1Database, keyId: string): Promise<Scope> {
  const line = await keyLine(database, { by: "id", is: keyId });
  return line.findLast(({ agents: reached }) => reached !== null)?.agents ?? null;
}

/** A range of names and not LIKE, of which D1 takes short patterns only. Names hold letters, digits and hyphens, all below ~. */
function matching(pattern: string): SQL | undefined {
  if (!pattern.endsWith("*")) return eq(agents.name, pattern);
  const prefix = pattern.slice(0, -1);
  return and(gte(agents.name, prefix), lt(agents.name, `${prefix}~`));
}
