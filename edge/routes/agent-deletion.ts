/** The end of an agent: carried out step by step, each of which may be done again, and taken up where it was broken off. */
import type { DeletedAgent } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import {
  eraseAgentRows,
  eraseSessions,
  finishAgentDeletion,
  type RequestedAgentDeletion,
  someSessionsOf,
  unfinishedAgentDeletions,
} from "../db/agent-deletions.ts";
import { readKeys, revokeKeys } from "../db/keys.ts";
import type { Env } from "../env.ts";
import { forgetKey } from "../middleware/auth.ts";
import { sessionOf } from "../session/port.ts";
import { Resumable } from "./resumable.ts";

const erasures = new Resumable({ idOf: ({ agent }: RequestedAgentDeletion) => agent, run: eraseWhole });

/** @throws what a step fails with; it is then taken up again */
export function carryOutAgent(env: Env, deletion: RequestedAgentDeletion): Promise<DeletedAgent> {
  return erasures.carryOut(env, deletion);
}

/** Goes on, behind whatever is answered now, with what an end of the process broke off. */
export function takeUpAgents(env: Env): Promise<void> {
  return erasures.takeUp(env, (before) => unfinishedAgentDeletions(env.DB, before));
}

/** First the agent, which then answers nobody and takes nothing from a trainer; then what was said to it. */
async function eraseWhole(env: Env, deletion: RequestedAgentDeletion): Promise<DeletedAgent> {
  const { agent } = deletion;
  await agentOf(env, agent).erase();
  forgetLineHead(agent, SHARED_LINE);
  const said = await eraseSaid(env, agent);
  await eraseAgentRows(env, agent);
  const keys = await revokeOwnKeys(env, deletion);
  await finishAgentDeletion(env.DB, deletion);
  return { agent, ...said, keys };
}

/** Each session first, with what it owes to the log, and then what the log has of it. */
async function eraseSaid(env: Env, agent: string): Promise<{ sessions: number; events: number }> {
  let [sessions, events] = [0, 0];
  for (;;) {
    const some = await someSessionsOf(env.DB, agent);
    if (some.length === 0) return { sessions, events };
    const named = some.filter((sessionId) => sessionId !== "");
    await Promise.all(named.map((sessionId) => sessionOf(env, sessionId).erase({ agent })));
    sessions += named.length;
    events += await eraseSessions(env, agent, some);
  }
}

/** Keys that reach this agent and no other, nor any that may come to be. */
async function revokeOwnKeys(env: Env, { agent, actor }: RequestedAgentDeletion): Promise<string[]> {
  const own = (await readKeys(env.DB)).filter(
    ({ id, agents, revokedAt }) =>
      revokedAt === null && agents !== null && agents.every((pattern) => pattern === agent) && !actor.endsWith(`:${id}`),
  );
  const createdAt = Date.now();
  await revokeKeys(
    env.DB,
    own.map(({ id, kind, name, agents }) => {
      const detail = `${kind} key ${name} of ${agent}, which was deleted`;
      return { move: "revokeKey" as const, actor, subject: id, detail, agents, createdAt };
    }),
  );
  for (const { hash } of own) forgetKey(hash);
  return own.map(({ id }) => id);
}
