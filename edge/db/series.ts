/** What happened to an agent over time, added up from its hours. */
import { and, eq, gte, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SeriesPoint } from "../../shared/api.ts";
import { series } from "./schema.ts";

const HOUR_MS = 3_600_000;

export type SeriesRange = { readonly agent: string; readonly fromMs: number; readonly toMs: number; readonly stepMs: number };

/** A point for every interval of the range, empty ones too. `fromMs`, `toMs` and `stepMs` are multiples of an hour. */
export async function readSeries(database: D1Database, { agent, fromMs, toMs, stepMs }: SeriesRange): Promise<SeriesPoint[]> {
  const total = (column: "turns" | "aborted" | "judged" | "reward" | "corrections") => sql<number>`sum(${series[column]})`;
  const bucket = sql<number>`${series.hour} / ${sql.raw(String(stepMs / HOUR_MS))}`;
  const rows = await drizzle(database)
    .select({
      bucket,
      turns: total("turns"),
      aborted: total("aborted"),
      judged: total("judged"),
      reward: total("reward"),
      corrections: total("corrections"),
    })
    .from(series)
    .where(and(eq(series.agent, agent), gte(series.hour, fromMs / HOUR_MS), lt(series.hour, toMs / HOUR_MS)))
    .groupBy(bucket);
  const known = new Map(rows.map((row) => [row.bucket, row]));
  return Array.from({ length: Math.round((toMs - fromMs) / stepMs) }, (_, index) => {
    const at = fromMs + index * stepMs;
    const { turns = 0, aborted = 0, judged = 0, reward = 0, corrections = 0 } = known.get(at / stepMs) ?? {};
    return { at: new Date(at).toISOString(), turns, aborted, judged, reward: judged === 0 ? null : reward / judged, corrections };
  });
}
