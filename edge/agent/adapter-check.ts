/**
 * Whether an adapter's stored files are what its manifest says and fit the base. They are read back before a version
 * exists: one that does not fit would fail every answer of its line.
 */
import { AppError } from "../../shared/errors.ts";
import { parseAdapter } from "../../shared/lora.ts";
import { parseModelConfig, type ModelConfig } from "../../shared/model-config.ts";
import { BaseManifest, type AdapterFiles } from "../../shared/policy.ts";
import { adapterFault } from "../policy/adapter-table.ts";
import { getArtifact, missingArtifacts } from "../artifacts.ts";

export type AdapterCheck = { status: "fits" } | { status: "missing"; digests: string[] } | { status: "refused"; reason: string };

export async function checkAdapter(bucket: R2Bucket, baseDigest: string, adapter: AdapterFiles | null): Promise<AdapterCheck> {
  if (adapter === null) return { status: "fits" };
  const digests = await missingArtifacts(bucket, [adapter.configDigest, adapter.weightsDigest]);
  if (digests.length > 0) return { status: "missing", digests };
  try {
    const config = await readConfig(bucket, baseDigest);
    const stored = await readAdapter(bucket, config, adapter);
    const fault = adapterFault(config, stored);
    return fault === undefined ? compare(adapter, stored) : { status: "refused", reason: fault };
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code !== "internal") return { status: "refused", reason: thrown.message };
    throw thrown;
  }
}

function compare({ rank, alpha }: AdapterFiles, stored: { rank: number; alpha: number }): AdapterCheck {
  if (rank === stored.rank && alpha === stored.alpha) return { status: "fits" };
  const reason = `manifest.adapter: rank ${stored.rank} and alpha ${stored.alpha} as in its files expected, got ${rank} and ${alpha}`;
  return { status: "refused", reason };
}

async function readAdapter(bucket: R2Bucket, config: ModelConfig, { configDigest, weightsDigest }: AdapterFiles) {
  const [adapterConfig, adapterModel] = await Promise.all([readText(bucket, configDigest), read(bucket, weightsDigest)]);
  return parseAdapter(config, { adapterConfig, adapterModel });
}

async function readConfig(bucket: R2Bucket, baseDigest: string): Promise<ModelConfig> {
  const { files } = BaseManifest.parse(JSON.parse(await readText(bucket, baseDigest)));
  return parseModelConfig(JSON.parse(await readText(bucket, files["config.json"] ?? "config.json")));
}

async function readText(bucket: R2Bucket, digest: string): Promise<string> {
  return new TextDecoder().decode(await read(bucket, digest));
}

async function read(bucket: R2Bucket, digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await getArtifact(bucket, digest);
  if (bytes === undefined) throw new AppError("internal", `internal: file ${digest} of a base is not stored`);
  return bytes;
}
