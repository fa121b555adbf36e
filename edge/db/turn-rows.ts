/** Keeps `turns` and `said` beside the log, in the transaction that appends to it: each event counts once, however often it is sent. */
import { and, eq, inArray, sql, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { NewEvent } from "../../shared/events.ts";
import { runBatch, type Statement } from "./batch.ts";
import { facetsOf, PARTS, wordsOf } from "./said.ts";
import { events, turns } from "./schema.ts";

/** An event's statements around the one that inserts it: those before find out whether it is new. */
export function turnRowsOf({ eventId, agent, user, turnId, payload }: NewEvent): { before: Statement[]; after: Statement[] } {
  const words = wordsOf(payload);
  if (payload.kind === "turn:finished" || payload.kind === "turn:aborted") {
    const { policyVersion: version } = payload;
    const first = sql`SELECT seq, turn_id, agent, user, ${version}, NULL, 0 FROM ${events} WHERE event_id = ${eventId} AND kind = ${payload.kind}`;
    return {
      before: [],
      after: [
        sql`INSERT OR IGNORE INTO ${turns} (seq, turn_id, agent, user, version, reward, parts) ${first}`,
        say(facetsOf({ agent, version, user }), words, sql`turn_id = ${turnId} AND parts = 0`),
        sql`UPDATE ${turns} SET parts = 1 WHERE turn_id = ${turnId} AND parts = 0`,
      ],
    };
  }
  const reward = payload.kind === "judgement:made" ? payload.reward : undefined;
  if (words === "" && reward === undefined) return { before: [], after: [] };
  const isNew = sql`turn_id = ${turnId} AND agent = ${agent} AND parts < ${PARTS} AND NOT EXISTS (SELECT 1 FROM ${events} WHERE event_id = ${eventId})`;
  const judged = reward === undefined ? sql`reward` : sql`iif(${reward} <> 0 OR reward IS NULL, ${reward}, reward)`;
  return {
    before: [
      ...(words === "" ? [] : [sayMore(words, isNew)]),
      sql`UPDATE ${turns} SET parts = parts + ${words === "" ? 0 : 1}, reward = ${judged} WHERE ${isNew}`,
    ],
    after: [],
  };
}

function say(facets: string, words: string, where: SQL): SQL {
  return sql`INSERT INTO said (rowid, facets, words) SELECT seq * ${PARTS} + parts, ${facets}, ${words} FROM ${turns} WHERE ${where}`;
}

/** With the facets that the turn began with. */
function sayMore(words: string, where: SQL): SQL {
  const facets = sql`(SELECT facets FROM said WHERE rowid = seq * ${PARTS})`;
  return sql`INSERT INTO said (rowid, facets, words) SELECT seq * ${PARTS} + parts, ${facets}, ${words} FROM ${turns} WHERE ${where}`;
}

const AT_ONCE = 50;

/** Takes what a user said to an agent, or all that was said to it, out of both. */
export async function eraseTurnRows(database: D1Database, { agent, user }: { agent: string; user?: string }): Promise<void> {
  const db = drizzle(database);
  for (;;) {
    const rows = await db
      .select({ seq: turns.seq })
      .from(turns)
      .where(and(eq(turns.agent, agent), user === undefined ? undefined : eq(turns.user, user)))
      .limit(AT_ONCE);
    const seqs = rows.map(({ seq }) => seq);
    if (seqs.length === 0) return;
    await runBatch(database, [
      db.delete(turns).where(inArray(turns.seq, seqs)),
      ...seqs.map((seq) => sql`DELETE FROM said WHERE rowid >= ${seq * PARTS} AND rowid < ${(seq + 1) * PARTS}`),
    ]);
  }
}
