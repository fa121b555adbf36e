/** The directory as a whole: sharded on the digest, so no object holds more than its part. */
import type { Env } from "../env.ts";
import type { DirectoryPort } from "./port.ts";

const SHARDS = 64;

/** The shard on which a digest lives. */
export function directoryOf(env: Pick<Env, "DIRECTORY">, digest: string): DirectoryPort {
  return env.DIRECTORY.getByName(shardName(digest));
}

export function shardName(digest: string): string {
  return `shard-${Number.parseInt(digest.slice(0, 4), 16) % SHARDS}`;
}
