/** Turns of an agent with all that came after each: what was said next, feedback, judgements with their hints. */
import { and, asc, desc, eq, inArray, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ListedTurn } from "../../shared/api.ts";
import type { LoggedEvent } from "../../shared/events.ts";
import { besides, type EventLog, readEvents, under } from "./events.ts";
import { events } from "./schema.ts";

export type TurnQuery = {
  readonly agent: string;
  readonly before: number | undefined;
  readonly limit: number;
  readonly user: string | undefined;
  readonly session: string | undefined;
};

const AFTER = ["nextState:arrived", "feedback:given", "judgement:made"];

/** Newest first; at most `limit`, fewer where they are large. Side turns are in it. */
export async function listTurns(log: EventLog, { agent, before, limit, user, session }: TurnQuery): Promise<ListedTurn[]> {
  const db = drizzle(log.DB);
  const rows = await db
    .select()
    .from(events)
    .where(
      and(
        session === undefined ? eq(events.agent, agent) : besides(agent),
        inArray(events.kind, ["turn:finished", "turn:aborted"]),
        before === undefined ? undefined : lt(events.seq, before),
        user === undefined ? undefined : eq(events.user, user),
        session === undefined ? undefined : under(session),
      ),
    )
    .orderBy(desc(events.seq))
    .limit(limit);
  const turns = await readEvents(log, rows);
  const [first, ...others] = turns.map(({ turnId }) =>
    db
      .select()
      .from(events)
      .where(and(under(turnId), besides(agent), inArray(events.kind, AFTER)))
      .orderBy(asc(events.seq)),
  );
  if (first === undefined) return [];
  const after = await db.batch([first, ...others]);
  const listed: ListedTurn[] = [];
  for (const [index, turn] of turns.entries()) listed.push(toListed(turn, await readEvents(log, after[index] ?? [])));
  return listed;
}

function toListed({ turnId, sessionId, user, keyId, createdAt, seq, payload }: LoggedEvent, after: readonly LoggedEvent[]): ListedTurn {
  const finished = payload.kind === "turn:finished" ? payload : undefined;
  const aborted = payload.kind === "turn:aborted" ? payload : undefined;
  return {
    ...{ turnId, sessionId, user, createdAt, seq },
    keyId: keyId ?? null,
    completionId: finished?.completionId ?? aborted?.completionId ?? "",
    policyVersion: finished?.policyVersion ?? aborted?.policyVersion ?? 0,
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
