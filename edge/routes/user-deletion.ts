/** The end of what an agent knows of a user: carried out step by step, each of which may be done again, and taken up where it was broken off. */
import { waitUntil } from "cloudflare:workers";
import { SHARED_LINE } from "../../shared/policy.ts";
import type { ForgottenUser } from "../agent/deletion.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import { eraseEvents, finishDeletion, type RequestedDeletion, tracesOf, unfinishedDeletions } from "../db/deletions.ts";
import { appendEvents, signalsOfUser } from "../db/events.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { sessionOf } from "../session/port.ts";

const AT_ONCE = 20; // sessions that are told at the same time
const BROKEN_OFF_MS = 60_000; // so long after it was asked for, nobody is at it any more

type CarriedOut = Partial<ForgottenUser> & {
  readonly agent: string;
  /** How many were told. */ readonly sessions: number;
  /** How many became tombstones. */ readonly events: number;
};

/** Those that are carried out in this isolate, by agent and user: none is begun beside itself. */
const underWay = new Set<string>();

const idOf = ({ agent, user }: RequestedDeletion): string => `${agent} ${user}`;

/** Once at a time here. @throws what a step fails with; it is then taken up again */
export async function carryOut(env: Env, deletion: RequestedDeletion): Promise<CarriedOut> {
  underWay.add(idOf(deletion));
  try {
    return await eraseUser(env, deletion);
  } finally {
    underWay.delete(idOf(deletion));
  }
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

/** Goes on, behind whatever is answered now, with what an end of the process broke off. */
export async function takeUp(env: Env, of: { agent: string } | { user: string }): Promise<void> {
  const brokenOff = await unfinishedDeletions(env, { before: Date.now() - BROKEN_OFF_MS, ...of });
  for (const deletion of brokenOff.filter((each) => !underWay.has(idOf(each))))
    waitUntil(carryOut(env, deletion).catch((thrown: unknown) => logError("deletion:broken", thrown, { agent: deletion.agent })));
}
