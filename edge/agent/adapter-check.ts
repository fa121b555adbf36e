/**
 * Whether an adapter's stored files are what its manifest says and fit the base. They are read back before a version
 * exists: one that does not fit would fail every answer of its line.
 */
import { AppError } from "../../shared/errors.ts";
import { type Adapter, adapterSizes, parseAdapter } from "../../shared/lora.ts";
import { parseModelConfig, type ModelConfig } from "../../shared/model-config.ts";
import { BaseManifest, type AdapterFiles } from "../../shared/policy.ts";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { adapterFault } from "../policy/adapter-table.ts";
import { toTokenizerFiles } from "../policy/resident.ts";
import { getArtifact, missingArtifacts } from "../artifacts.ts";

export type AdapterCheck = { status: "fits" } | { status: "missing"; digests: string[] } | { status: "refused"; reason: string };

export async function checkAdapter(bucket: R2Bucket, baseDigest: string, adapter: AdapterFiles | null): Promise<AdapterCheck> {
  if (adapter === null) return { status: "fits" };
  const digests = await missingArtifacts(bucket, [adapter.configDigest, adapter.weightsDigest]);
  if (digests.length > 0) return { status: "missing", digests };
  try {
    const { files } = BaseManifest.parse(JSON.parse(await readText(bucket, baseDigest)));
    // A base that only its engine knows: whether the adapter fits is seen when it is loaded.
    if (files["config.json"] === undefined) return compare(adapter, adapterSizes(await readText(bucket, adapter.configDigest)));
    const config = parseModelConfig(JSON.parse(await readFileOf(bucket, files, "config.json")));
    const stored = await readAdapter(bucket, config, adapter);
    const fault = adapterFault(config, stored) ?? (await invocationFault(bucket, files, stored));
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

/** An adapter that waits for another invocation than the one that opens every answer would fail every answer. */
async function invocationFault(bucket: R2Bucket, files: BaseManifest["files"], { invocation }: Adapter): Promise<string | undefined> {
  if (invocation === undefined) return undefined;
  const [tokenizer, config] = await Promise.all([
    readFileOf(bucket, files, "tokenizer.json"),
    readFileOf(bucket, files, "tokenizer_config.json"),
  ]);
  const opens = new Tokenizer(toTokenizerFiles(tokenizer, config)).invocation;
  if (invocation.join() === opens.join()) return undefined;
  return `adapter_config.json: alora_invocation_tokens [${opens.join(", ")}] as the base's chat template opens an answer expected, got [${invocation.join(", ")}]`;
}

function readFileOf(bucket: R2Bucket, files: BaseManifest["files"], name: string): Promise<string> {
  return readText(bucket, files[name] ?? name);
}

async function readText(bucket: R2Bucket, digest: string): Promise<string> {
  return new TextDecoder().decode(await read(bucket, digest));
}

async function read(bucket: R2Bucket, digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await getArtifact(bucket, digest);
  if (bytes === undefined) throw new AppError("internal", `internal: file ${digest} of a base is not stored`);
  return bytes;
}
