/**
 * Follows every agent of the edge. Any number of trainers share the agents out between them, each agent to one of them at a time; one
 * that dies is replaced when its leases end.
 */
import { SHARED_LINE } from "../shared/policy.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import { pause, reportRetry, retryForever } from "./feed/retry.ts";
import { Follower, isFatal, type FollowerOptions } from "./follower.ts";
import { Random } from "./random.ts";
import { Roster } from "./roster.ts";

const AGENTS_REFRESH_MS = 2_000; // a new agent is followed within this

export type FollowOptions = FollowerOptions & { readonly edge: Pick<EdgePort, "listAgents"> };

/** Follows agents as they appear; returns when it is told to stop, with all leases given back. @throws what no line can go on with */
export async function followAgents(options: FollowOptions, stop: AbortController): Promise<void> {
  const { edge, metrics } = options;
  const { signal } = stop;
  const following = new Map<string, Promise<void>>();
  const roster = new Roster();
  const random = new Random(process.pid);
  const onRetry = reportRetry(metrics, "agents");
  const followNew = async (): Promise<void> => {
    const agents = await retryForever(() => edge.listAgents(), { random, signal, onRetry });
    if (agents === undefined) return;
    const names = agents.flatMap(({ agent, line }) => (line === SHARED_LINE ? [agent] : []));
    roster.agents = names.length;
    for (const agent of names.filter((each) => !following.has(each))) {
      const followed = new Follower(agent, options, roster).run(stop);
      followed.catch(() => undefined); // it has told `stop`, and is heard below
      following.set(agent, followed);
    }
  };
  try {
    while (!signal.aborted) {
      await followNew().catch((error: unknown) => {
        if (isFatal(error)) {
          stop.abort("the agents cannot be listed");
          throw error;
        }
        // A proxy's page, or a deploy under way: those that are followed are worked for meanwhile.
        onRetry(error, AGENTS_REFRESH_MS);
      });
      await pause(AGENTS_REFRESH_MS, signal);
    }
  } finally {
    await Promise.allSettled(following.values()); // each gives its lease back
  }
  await Promise.all(following.values()); // throws what stopped one of them
}
