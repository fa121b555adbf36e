/** Turns of an agent with all that came after each: what was said next, feedback, judgements with their hints. */
import { and, desc, eq, getTableColumns, inArray, isNull, lt, lte, ne, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ListedTurn } from "../../shared/api.ts";
import type { LoggedEvent } from "../../shared/events.ts";
import { besides, type EventLog, MAX_PAGE_PAYLOAD, readEvents, under } from "./events.ts";
import { matchOf, PARTS } from "./said.ts";
import { events, turns } from "./schema.ts";

type Database = ReturnType<typeof drizzle>;

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

const NEXT = "nextState:arrived";
const FEEDBACK = "feedback:given";
const JUDGEMENT = "judgement:made";
/** Of a turn's feedback the newest, and of what was judged of it. */
const MOST_FEEDBACK = 50;

/** Newest first; at most `limit`, fewer where they are large, each with all that came after it but for older feedback. Side turns are in it. */
export async function listTurns(log: EventLog, query: TurnQuery): Promise<LoggedTurn[]> {
  const db = drizzle(log.DB);
  const seqs = await findTurns(db, query);
  if (seqs.length === 0) return [];
  const rows = await db.select().from(events).where(inArray(events.seq, seqs)).orderBy(desc(events.seq));
  const ended = await readEvents(log, rows);
  const room = Math.floor(MAX_PAGE_PAYLOAD / ended.length);
  const [first, ...others] = ended.map(({ turnId }) => selectAfter(db, { agent: query.agent, turnId, room }));
  if (first === undefined) return [];
  const after = await db.batch([first, ...others]);
  const listed: LoggedTurn[] = [];
  for (const [index, turn] of ended.entries()) listed.push(toListed(turn, await readAfter(log, after[index] ?? [], room)));
  return listed;
}

/**
 * What came after a turn, newest first, and how much of its kind there is. Feedback is apart, and what was judged of it: the rest are a few.
 * @param room for feedback in UTF-16 units; the newest has it in any case
 */
function selectAfter(db: Database, { agent, turnId, room }: { agent: string; turnId: string; room: number }) {
  const alike = sql`PARTITION BY ${events.kind}, ${under(events.eventId, `${turnId}/feedback`)}`;
  const ranked = db
    .select({
      place: events.seq,
      rank: sql<number>`row_number() OVER (${alike} ORDER BY ${events.seq} DESC)`.as("rank"),
      filled: sql<number>`total(length(${events.payload})) OVER (${alike} ORDER BY ${events.seq} DESC)`.as("filled"),
      total: sql<number>`count(*) OVER (${alike})`.as("total"),
    })
    .from(events)
    .where(and(under(events.eventId, turnId), besides(events.agent, agent), inArray(events.kind, [NEXT, FEEDBACK, JUDGEMENT])))
    .as("ranked");
  return db
    .select({ ...getTableColumns(events), total: ranked.total })
    .from(ranked)
    .innerJoin(events, eq(events.seq, ranked.place))
    .where(and(lte(ranked.rank, MOST_FEEDBACK), or(ne(events.kind, FEEDBACK), eq(ranked.rank, 1), lte(ranked.filled, room))))
    .orderBy(desc(events.seq));
}

type After = { readonly events: readonly LoggedEvent[]; readonly more: boolean };

/** In log order. Payloads that are not in their rows count here alone. */
async function readAfter(log: EventLog, rows: readonly (typeof events.$inferSelect & { total: number })[], room: number): Promise<After> {
  const of = (kind: string): typeof rows => rows.filter((row) => row.kind === kind);
  const [given, others] = [of(FEEDBACK), [...of(NEXT), ...of(JUDGEMENT)]];
  const read = [...(await readEvents(log, others)), ...(await readEvents(log, given, room))];
  const total = others.length + (given[0]?.total ?? 0);
  return { events: read.toSorted((one, other) => one.seq - other.seq), more: read.length < total };
}

/** The places in the log of the turns that have all that is asked for, newest first. */
async function findTurns(db: Database, query: TurnQuery): Promise<number[]> {
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
  { events: after, more }: After,
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
    more,
  };
}
