/** Who did what to keys and to whole agents, in D1: what an agent's own audit cannot tell. */
import { desc, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { covers, type Scope } from "../scope.ts";
import type { Statement } from "./batch.ts";
import { deploymentAudit } from "./schema.ts";

export type NewMove = typeof deploymentAudit.$inferInsert;
type Row = typeof deploymentAudit.$inferSelect;

/** Rows that are read at a time until a page is full. */
const AT_ONCE = 500;

/** For one transaction with what it tells of. */
export function auditStatement(database: D1Database, move: NewMove): Statement {
  return drizzle(database).insert(deploymentAudit).values(move);
}

/** Newest first, below `before`: moves about what the scope covers. */
export async function readDeploymentAudit(
  database: D1Database,
  scope: Scope,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<Row[]> {
  const found: Row[] = [];
  for (let below = before; ;) {
    const older = below === undefined ? undefined : lt(deploymentAudit.id, below);
    const rows = await drizzle(database).select().from(deploymentAudit).where(older).orderBy(desc(deploymentAudit.id)).limit(AT_ONCE);
    found.push(...rows.filter(({ agents }) => covers(scope, agents)));
    below = rows.at(-1)?.id;
    if (rows.length < AT_ONCE || found.length >= limit) return found.slice(0, limit);
  }
}
