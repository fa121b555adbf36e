/** The policy of an isolate, from the files that are stored. */
import { AppError } from "../../shared/errors.ts";
import { getArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import kernelModule from "../kernel/kernel.wasm";
import type { ReadFile } from "../policy/completion.ts";
import type { Policy } from "../policy/policy.ts";
import { residentPolicy } from "../policy/resident.ts";

/** The policy of a base, once it is there. */
export function storedPolicy(baseDigest: string, readFile: ReadFile): Promise<Policy> {
  return residentPolicy({ kernelModule, baseDigest, readFile });
}

/** The policy of the deployment's own base. */
export function ownPolicy({ ARTIFACTS, BASE_DIGEST }: Pick<Env, "ARTIFACTS" | "BASE_DIGEST">): Promise<Policy> {
  return storedPolicy(BASE_DIGEST, fileReader(ARTIFACTS));
}

export function fileReader(bucket: R2Bucket): ReadFile {
  return async (digest) => {
    const bytes = await getArtifact(bucket, digest);
    if (bytes === undefined) throw new AppError("upstream/failed", `file ${digest}: stored bytes expected, got none`);
    return bytes;
  };
}
