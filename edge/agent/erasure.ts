/** The end of an agent in its object: what it had elsewhere goes first, since only it knows of that. */
import type { Env } from "../env.ts";
import { releaseArtifact } from "../artifacts.ts";
import type { EngineLine } from "./engine-line.ts";
import type { AgentStore } from "./store.ts";

type Parts = {
  readonly ctx: Pick<DurableObjectState, "storage">;
  readonly env: Pick<Env, "ARTIFACTS">;
  readonly store: AgentStore;
  readonly engine: EngineLine;
};

/** Nothing is left but the number of the last lease, so that no trainer of before holds one of an agent that has its name. May be done again. */
export async function eraseAgent({ ctx, env, store, engine }: Parts): Promise<void> {
  const agent = store.readAgent()?.name;
  if (agent === undefined) return;
  await engine.unloadAll();
  for (const digest of store.allWeights()) await releaseArtifact(env.ARTIFACTS, digest, agent);
  const { token } = store.lease.last();
  await ctx.storage.deleteAlarm();
  await ctx.storage.deleteAll();
  store.forget();
  store.lease.create();
  store.lease.skip(token + 1);
}
