/** The end of what an agent knows of a user: carried out step by step, each of which may be done again, and taken up where it was broken off. */
import { SHARED_LINE } from "../../shared/policy.ts";
import type { ForgottenUser } from "../agent/deletion.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import { eraseEvents, finishDeletion, type RequestedDeletion, tracesOf, unfinishedDeletions } from "../db/deletions.ts";
import { appendEvents, signalsOfUser } from "../db/events.ts";
import type { Env } from "../env.ts";
import { sessionOf } from "../session/port.ts";
import { Resumable } from "./resumable.ts";

const AT_ONCE = 20; // sessions that are told at the same time

type CarriedOut = Partial<ForgottenUser> & {
  readonly agent: string;
  /** How many were told. */ readonly sessions: number;
  /** How many became tombstones. */ readonly events: number;
};

const erasures = new Resumable({ idOf: ({ agent, user }: RequestedDeletion) => `${agent} ${user}`, run: eraseUser });

/** @throws what a step fails with; it is then taken up again */
export function carryOut(env: Env, deletion: RequestedDeletion): Promise<CarriedOut> {
  return erasures.carryOut(env, deletion);
}

/** Goes on, behind whatever is answered now, with what an end of the process broke off. */
export function takeUp(env: Env, of: { agent: string } | { user: string }): Promise<void> {
  return erasures.takeUp(env, (before) => unfinishedDeletions(env, { before, ...of }));
}

/** What the user said goes last: until it is gone, all that was made from it can be found by it, however often this begins anew. */
async function eraseUser(env: Env, deletion: RequestedDeletion): Promise<CarriedOut> {
  const { agent, user, requestedAt, actor } = deletion;
  const traces = await tracesOf(env, { user, agent });
  // Sessions first: what they still owe to the log goes with them.
  const sessions = [...new Set(traces.map(({ sessionId }) => sessionId))].filter((sessionId) => sessionId !== "");
  for (let start = 0; start < sessions.length; start += AT_ONCE)
    await Promise.all(sessions.slice(start, start + AT_ONCE).map((sessionId) => sessionOf(env, sessionId).erase({ user })));
  const signals = await signalsOfUser(env, { agent, user });
  // Before the rebuild is asked for, so that whoever does it has forgotten the user.
  const told = [SHARED_LINE, user].map((line) => ({
    ...{ eventId: `${agent}/${user}/deleted/${requestedAt}/${line}`, agent, line, sessionId: "", turnId: "", user },
    ...{ createdAt: new Date(requestedAt).toISOString(), payload: { kind: "user:deleted" as const } },
  }));
  const seq = await appendEvents(env, told);
  const forgotten = await agentOf(env, agent).forgetUser(SHARED_LINE, { user, events: signals, sessions }, actor);
  const events = await eraseEvents(env, { agent, user });
  await finishDeletion(env, deletion);
  await agentOf(env, agent).eventsAppended(seq);
  forgetLineHead(agent, SHARED_LINE);
  return { agent, sessions: sessions.length, events, ...forgotten };
}
