/** What happened to an agent over time, counted from its log. */
import { and, eq, gte, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SeriesPoint } from "../../shared/api.ts";
import { events } from "./schema.ts";

export type SeriesRange = { readonly agent: string; readonly fromMs: number; readonly toMs: number; readonly stepMs: number };

/** A point for every interval of the range, empty ones too. `fromMs` and `toMs` are multiples of `stepMs`. */
export async function readSeries(database: D1Database, { agent, fromMs, toMs, stepMs }: SeriesRange): Promise<SeriesPoint[]> {
  const db = drizzle(database);
  const within = and(eq(events.agent, agent), gte(events.createdAt, fromMs), lt(events.createdAt, toMs));
  const bucket = sql<number>`${events.createdAt} / ${sql.raw(String(stepMs))}`;
  const countOf = (kind: string) => sql<number>`sum(${events.kind} = ${kind})`;
  const counted = await db
    .select({ bucket, turns: countOf("turn:finished"), aborted: countOf("turn:aborted") })
    .from(events)
    .where(within)
    .groupBy(bucket);
  const part = (name: string) => sql`json_extract(${events.payload}, ${`$.${name}`})`;
  const telling = sql`(${part("judge")} <> 'verifiable' OR ${part("reward")} <> 0)`;
  const judgedRows = await db
    .select({
      bucket,
      judged: sql<number>`count(*)`,
      reward: sql<number>`avg(${part("reward")})`,
      corrections: sql<number>`sum(${part("reward")} < 0 AND ${part("hint")} IS NOT NULL)`,
    })
    .from(events)
    .where(and(within, eq(events.kind, "judgement:made"), telling))
    .groupBy(bucket);
  const [turns, judged] = [new Map(counted.map((row) => [row.bucket, row])), new Map(judgedRows.map((row) => [row.bucket, row]))];
  return Array.from({ length: Math.round((toMs - fromMs) / stepMs) }, (_, index) => {
    const at = fromMs + index * stepMs;
    const [seen, heard] = [turns.get(at / stepMs), judged.get(at / stepMs)];
    return {
      at: new Date(at).toISOString(),
      turns: seen?.turns ?? 0,
      aborted: seen?.aborted ?? 0,
      judged: heard?.judged ?? 0,
      reward: heard?.reward ?? null,
      corrections: heard?.corrections ?? 0,
    };
  });
}
