/**
 * Which agents have an adapter's weights, which lie in R2 under the digest of their bytes: two agents may publish the same ones, and the one whose
 * last version of them is deleted takes nothing from the other.
 */
import { claimArtifact, releaseArtifact, unclaimArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import type { AgentStore } from "./store.ts";

const TABLE = "CREATE TABLE IF NOT EXISTS dropped_weights (digest TEXT PRIMARY KEY) WITHOUT ROWID";

type Parts = { readonly ctx: Pick<DurableObjectState, "storage">; readonly env: Pick<Env, "ARTIFACTS">; readonly store: AgentStore };

export class Weights {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Does what may make a version with these weights, which are the agent's meanwhile, and after that if there is one. */
  async claimed<Result>(digest: string | undefined, work: () => Promise<Result>): Promise<Result> {
    const { env, store } = this.#parts;
    const agent = store.readAgent()?.name;
    if (digest === undefined || agent === undefined) return work();
    // Before anything is looked for: whoever lets go of the same file meanwhile must know.
    await claimArtifact(env.ARTIFACTS, digest, agent);
    try {
      return await work();
    } finally {
      if (!store.hasWeights(digest)) await unclaimArtifact(env.ARTIFACTS, digest, agent);
    }
  }

  /** Lets go of those that only deleted versions have, each once: whoever stores the same bytes later is somebody else. */
  async drop(): Promise<void> {
    const { ctx, env, store } = this.#parts;
    const { sql } = ctx.storage;
    const agent = store.readAgent()?.name;
    if (agent === undefined) return;
    sql.exec(TABLE);
    const dropped = new Set(
      sql
        .exec<{ digest: string }>("SELECT digest FROM dropped_weights")
        .toArray()
        .map(({ digest }) => digest),
    );
    const lost = new Set(store.lostWeights());
    for (const digest of dropped) if (!lost.has(digest)) sql.exec("DELETE FROM dropped_weights WHERE digest = ?", digest);
    for (const digest of lost) {
      if (dropped.has(digest)) continue;
      await releaseArtifact(env.ARTIFACTS, digest, agent);
      sql.exec("INSERT OR IGNORE INTO dropped_weights VALUES (?)", digest);
    }
  }
}
