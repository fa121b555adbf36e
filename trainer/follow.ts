/**
 * Follows every agent of the edge while it is listed. Any number of trainers share the agents out between them, each agent to one of them at a
 * time; one that dies is replaced when its leases end.
 */
import { SHARED_LINE } from "../shared/policy.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import { pause, reportRetry, retryForever } from "./feed/retry.ts";
import { Follower, isFatal, type FollowerOptions } from "./follower.ts";
import { Random } from "./random.ts";
import { Roster } from "./roster.ts";

const AGENTS_REFRESH_MS = 2_000; // a new agent is followed within this, and one that is gone no longer

export type FollowOptions = FollowerOptions & { readonly edge: Pick<EdgePort, "listAgents"> };

type Followed = { readonly done: Promise<void>; readonly gone: AbortController };

/** Follows agents as they come and go; returns when it is told to stop, with all leases given back. @throws what no line can go on with */
export async function followAgents(options: FollowOptions, stop: AbortController): Promise<void> {
  const { edge, metrics } = options;
  const { signal } = stop;
  const following = new Map<string, Followed>();
  const roster = new Roster();
  const random = new Random(process.pid);
  const onRetry = reportRetry(metrics, "agents");
  const follow = (agent: string): void => {
    const gone = new AbortController();
    const done = new Follower(agent, options, { roster, gone: gone.signal }).run(stop);
    following.set(agent, { done, gone });
    done.then(
      // One of its name may come again.
      () => gone.signal.aborted && following.delete(agent),
      () => undefined, // it has told `stop`, and is heard below
    );
  };
  const followListed = async (): Promise<void> => {
    const agents = await retryForever(() => edge.listAgents(), { random, signal, onRetry });
    if (agents === undefined) return;
    const names = agents.flatMap(({ agent, line }) => (line === SHARED_LINE ? [agent] : []));
    roster.agents = names.length;
    const listed = new Set(names);
    for (const [agent, { gone }] of following) if (!listed.has(agent)) gone.abort(`agent ${agent} is listed no more`);
    for (const agent of names) if (!following.has(agent)) follow(agent);
  };
  try {
    while (!signal.aborted) {
      await followListed().catch((error: unknown) => {
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
    await Promise.allSettled(endsOf(following)); // each gives its lease back
  }
  await Promise.all(endsOf(following)); // throws what stopped one of them
}

function endsOf(following: ReadonlyMap<string, Followed>): Promise<void>[] {
  return [...following.values()].map(({ done }) => done);
}
