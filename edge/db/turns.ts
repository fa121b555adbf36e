/** Turns of an agent with all that came after each: what was said next, feedback, judgements with their hints. */
import { and, asc, desc, eq, inArray, isNull, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ListedTurn } from "../../shared/api.ts";
import type { LoggedEvent } from "../../shared/events.ts";
import { besides, type EventLog, readEvents, under } from "./events.ts";
import { matchOf, PARTS } from "./said.ts";
import { events, turns } from "./schema.ts";

/** What the log knows of a turn. */
type LoggedTurn = Omit<ListedTurn, "trained">;

export type TurnQuery = {
  readonly agent: string;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  /** Words that one message, the feedback or the hint must all have. */
  readonly words?: string | undefined;
  /** `none`: not judged yet. */
  readonly reward?: -1 | 0 | 1 | "none" | undefined;
  readonly version?: number | undefined;
};

/** In the statement itself: a bound number is a REAL to D1, by which nothing divides whole, and FTS5 heeds no bound on rowids but an integer. */
const WHOLE = sql.raw(String(PARTS));

const AFTER = ["nextState:arrived", "feedback:given", "judgement:made"];

/** Newest first; at most `limit`, fewer where they are large. Side turns are in it. */
export async function listTurns(log: EventLog, query: TurnQuery): Promise<LoggedTurn[]> {
  const db = drizzle(log.DB);
  const seqs = await findTurns(db, query);
  if (seqs.length === 0) return [];
  const rows = await db.select().from(events).where(inArray(events.seq, seqs)).orderBy(desc(events.seq));
  const ended = await readEvents(log, rows);
  const [first, ...others] = ended.map(({ turnId }) =>
    db
      .select()
      .from(events)
      .where(and(under(events.eventId, turnId), besides(events.agent, query.agent), inArray(events.kind, AFTER)))
      .orderBy(asc(events.seq)),
  );
  if (first === undefined) return [];
  const after = await db.batch([first, ...others]);
  const listed: LoggedTurn[] = [];
  for (const [index, turn] of ended.entries()) listed.push(toListed(turn, await readEvents(log, after[index] ?? [])));
  return listed;
}

/** The places in the log of the turns that have all that is asked for, newest first. */
async function findTurns(db: ReturnType<typeof drizzle>, query: TurnQuery): Promise<number[]> {
  const { agent, before, limit, user, session, words, reward, version } = query;
  const where = and(
    session === undefined ? eq(turns.agent, agent) : besides(turns.agent, agent),
    version === undefined ? undefined : eq(turns.version, version),
    reward === undefined ? undefined : reward === "none" ? isNull(turns.reward) : eq(turns.reward, reward),
    user === undefined ? undefined : eq(turns.user, user),
    session === undefined ? undefined : under(turns.turnId, session),
  );
  if (words === undefined) {
    const older = before === undefined ? undefined : lt(turns.seq, before);
    const found = await db.select({ seq: turns.seq }).from(turns).where(and(where, older)).orderBy(desc(turns.seq)).limit(limit);
    return found.map(({ seq }) => seq);
  }
  const match = matchOf(words, { agent, version, user });
  const newest = before === undefined ? Number.MAX_SAFE_INTEGER : before * PARTS;
  // A conversation has few turns, which are looked up one by one; else the words lead, newest first as their rows are numbered.
  const place = sql`said.rowid >= ${turns.seq} * ${WHOLE} AND said.rowid < (${turns.seq} + 1) * ${WHOLE}`;
  const joined =
    session === undefined
      ? sql`said CROSS JOIN ${turns} ON ${turns.seq} = said.rowid / ${WHOLE}`
      : sql`${turns} CROSS JOIN said ON ${place}`;
  const rows = await db.all<{ seq: number }>(
    sql`SELECT DISTINCT ${turns.seq} AS seq FROM ${joined}
      WHERE said MATCH ${match} AND said.rowid < CAST(${newest} AS INTEGER) AND ${where} ORDER BY said.rowid DESC LIMIT ${limit}`,
  );
  return rows.map(({ seq }) => seq);
}

function toListed(
  { line, turnId, sessionId, user, keyId, createdAt, seq, payload }: LoggedEvent,
  after: readonly LoggedEvent[],
): LoggedTurn {
  const finished = payload.kind === "turn:finished" ? payload : undefined;
  const aborted = payload.kind === "turn:aborted" ? payload : undefined;
  return {
    ...{ turnId, sessionId, user, createdAt, seq },
    keyId: keyId ?? null,
    completionId: finished?.completionId ?? aborted?.completionId ?? "",
    line,
    policyLine: finished?.policyLine ?? aborted?.policyLine ?? line,
    policyVersion: finished?.policyVersion ?? aborted?.policyVersion ?? 0,
    yieldedTo: finished?.yieldedTo ?? null,
    heldTo: finished?.heldTo ?? [],
    agreedTo: finished?.agreedTo ?? null,
    notes: finished?.notes ?? [],
    prompt: finished?.messages.at(-1) ?? null,
    answer: finished?.answer ?? null,
    finishReason: finished?.finishReason ?? `aborted: ${aborted?.reason ?? "unknown"}`,
    next: after.flatMap(({ eventId, payload: said }) => (said.kind === "nextState:arrived" ? [{ eventId, messages: said.messages }] : [])),
    feedback: after.flatMap(({ eventId, payload: said }) => {
      if (said.kind !== "feedback:given") return [];
      const { kind: _, completionId: __, ...given } = said;
      return [{ eventId, ...given }];
    }),
    judgements: after.flatMap(({ payload: said }) => {
      if (said.kind !== "judgement:made") return [];
      const { kind: _, ...made } = said;
      return [made];
    }),
  };
}
