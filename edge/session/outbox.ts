/**
 * Empties what a session still owes to others: its events to the log, its transcripts to the directory, its totals to
 * the counters. Every write is idempotent, so whatever was cut off is simply done again.
 */
import { invariant } from "../../shared/assert.ts";
import type { NewEvent } from "../../shared/events.ts";
import { agentOf, type TurnFact } from "../agent/port.ts";
import { putSessionCounters } from "../db/counters.ts";
import { appendOfSession } from "../db/events.ts";
import { directoryOf } from "../directory/client.ts";
import type { Env } from "../env.ts";
import { fault } from "../faults.ts";
import { logError } from "../log.ts";
import type { SessionStore } from "./store.ts";
import { turnFactOf } from "./turn-facts.ts";

const BATCH = 20; // a payload can be a megabyte, and a batch is in memory

/** Whether something is left to write. */
export function owes(store: SessionStore): boolean {
  return store.state()?.counted === false || store.owesEvents() || store.unregistered().length > 0;
}

/** Writes everything that is owed; no event where the user was deleted meanwhile. @throws where a write fails; what was not written stays owed */
export async function payOwed(env: Env, store: SessionStore): Promise<"paid" | "deleted"> {
  if (!owes(store)) return "paid";
  await registerTranscripts(env, store);
  if ((await appendOutbox(env, store)) === "deleted") return "deleted";
  await writeCounters(env, store);
  return "paid";
}

/** Tells the directory of the transcripts that it lacks. */
export async function registerTranscripts(env: Env, store: SessionStore): Promise<void> {
  const state = store.state();
  if (state === undefined) return;
  for (const { turnId, answerDigest } of store.unregistered()) {
    await directoryOf(env, answerDigest).register(answerDigest, { name: state.name, open: state.closedAt === null });
    store.setRegistered(turnId);
  }
}

async function appendOutbox(env: Env, store: SessionStore): Promise<"paid" | "deleted"> {
  const session = store.state();
  const begunAt = store.begunAt();
  invariant(session !== undefined && begunAt !== undefined, "a session that owes anything has a turn");
  const { agent, user } = session;
  do {
    const { events, last } = store.outbox(BATCH);
    // Also without events: the log has none of answers that are not to be stored, and the session has them.
    const seq = await appendOfSession(env, events, { agent, user, begunAt });
    if (seq === undefined) return "deleted";
    if (events.length === 0) return "paid";
    await fault(env, "event:appended");
    store.dequeue(last);
    await fault(env, "outbox:emptied");
    const turns = events.map(turnFactOf).filter((fact) => fact !== undefined);
    await tellAgent(env, agent, { seq, usedNotes: events.flatMap(notesUsed), turns });
  } while (store.owesEvents());
  return "paid";
}

type Told = { seq: number; usedNotes: readonly string[]; turns: readonly TurnFact[] };

/** A missed notice costs the trainer two seconds, a note a use of its count, a canary's trial an observation; nothing else. */
async function tellAgent(env: Env, agent: string, { seq, ...told }: Told): Promise<void> {
  await agentOf(env, agent)
    .eventsAppended(seq, told)
    .catch((thrown: unknown) => logError("agent:untold", thrown, { agent, seq }));
}

function notesUsed({ payload }: NewEvent): string[] {
  return payload.kind === "turn:finished" ? (payload.notes ?? []).map(({ noteId }) => noteId) : [];
}

async function writeCounters(env: Env, store: SessionStore): Promise<void> {
  const state = store.state();
  if (state === undefined || state.counted) return;
  const { sessionId, agent, generations, replays, aborted, ambiguous } = state;
  await putSessionCounters(env.DB, { sessionId, agent, generations, replays, aborted, ambiguous });
  store.setCounted(state);
}
