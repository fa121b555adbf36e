/**
 * Publishes a candidate: files first, then the manifest by compare-and-set on parent and cursor. The edge flips its
 * pointer only when it holds every file that the manifest names.
 */
import { AppError } from "../../shared/errors.ts";
import type { AdapterFiles, PolicyManifest, PublishRequest } from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import type { AdapterBytes } from "./adapter.ts";

export type Published =
  | { readonly status: "published"; readonly version: number; readonly release: VersionStatus }
  | { readonly status: "stale" };

const UPLOAD_ATTEMPTS = 2; // a file that vanished between upload and publish is sent once more

export async function uploadAdapter(edge: EdgePort, { configBytes, weightBytes, rank, alpha }: AdapterBytes): Promise<AdapterFiles> {
  const [configDigest, weightsDigest] = await Promise.all([edge.putFile(configBytes), edge.putFile(weightBytes)]);
  return { configDigest, weightsDigest, rank, alpha };
}

/** @throws {policy/refused} when the edge still misses files that it was sent. */
export async function publishVersion(
  edge: EdgePort,
  adapter: AdapterBytes,
  {
    manifest,
    credits = [],
    ...handed
  }: Pick<PublishRequest, "refused" | "cases" | "rebuild"> & {
    credits?: PublishRequest["credits"];
    manifest: Omit<PolicyManifest, "adapter">;
  },
): Promise<Published> {
  let missing: readonly string[] = [];
  for (let attempt = 0; attempt < UPLOAD_ATTEMPTS; attempt += 1) {
    const files = await uploadAdapter(edge, adapter);
    const result = await edge.publish(manifest, { parent: manifest.parent, manifest: { ...manifest, adapter: files }, credits, ...handed });
    if (result.status !== "missing") return result.status === "published" ? result : { status: "stale" };
    missing = result.digests;
  }
  throw new AppError("policy/refused", `publish: the edge expected to hold the adapter's files, got ${missing.join(", ")} missing`);
}
