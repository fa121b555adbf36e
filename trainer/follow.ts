/**
 * Follows every agent of the edge. Any number of trainers share the agents out between them, each agent to one of them at a time; one
 * that dies is replaced when its leases end.
 */
import { SHARED_LINE } from "../shared/policy.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import { pause, reportRetry, retryForever } from "./feed/retry.ts";
import { Follower, type FollowerOptions } from "./follower.ts";
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
  while (!signal.aborted) {
    const agents = await retryForever(() => edge.listAgents(), { random, signal, onRetry });
    const names = (agents ?? []).flatMap(({ agent, line }) => (line === SHARED_LINE ? [agent] : []));
    roster.agents = names.length;
    for (const agent of names.filter((each) => !following.has(each))) {
      const followed = new Follower(agent, options, roster).run(stop);
      followed.catch(() => undefined); // it has told `stop`, and is heard below
      following.set(agent, followed);
    }
    await pause(AGENTS_REFRESH_MS, signal);
  }
  await Promise.all(following.values()); // throws what stopped one of them
}
