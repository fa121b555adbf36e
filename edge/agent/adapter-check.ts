/**
 * Whether an adapter's stored files are what its manifest says and fit the base. They are read back before a version
 * exists: one that does not fit would fail every answer of its line. Where the embedded kernel answers, all of it, against the kernel's
 * budget; where an engine does, the header of the weights, which may be larger than an isolate: what it has room for, and whether values are too
 * large, the engine says.
 */
import { AppError } from "../../shared/errors.ts";
import { boundFault } from "../../shared/lora-bound.ts";
import { type Adapter, adapterLayout, adapterSizes, parseAdapter } from "../../shared/lora.ts";
import { parseModelConfig, type ModelConfig } from "../../shared/model-config.ts";
import { BaseManifest, type AdapterFiles, type PolicyManifest } from "../../shared/policy.ts";
import { headerBytes, LENGTH_BYTES, parseSafetensorsHeader } from "../../shared/safetensors.ts";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { adapterFault } from "../policy/adapter-table.ts";
import { CHAT_TEMPLATE, toTokenizerFiles } from "../policy/resident.ts";
import { artifactBytes, getArtifact, MAX_ARTIFACT_BYTES, openArtifact } from "../artifacts.ts";

export type AdapterCheck = { status: "fits" } | { status: "missing"; digests: string[] } | { status: "refused"; reason: string };

type Stored = Pick<Adapter, "rank" | "alpha" | "invocation">;

const MOST_CONFIG_BYTES = 1_048_576;
/** Names and places of a few thousand matrices. */
const MOST_HEADER_BYTES = 4_194_304;

/** @param onEngine whether an engine serves the base, and not the embedded kernel */
export async function checkAdapter(
  bucket: R2Bucket,
  { baseDigest, adapter }: Pick<PolicyManifest, "baseDigest" | "adapter">,
  onEngine: boolean,
): Promise<AdapterCheck> {
  if (adapter === null) return { status: "fits" };
  const digests = [adapter.configDigest, adapter.weightsDigest];
  const [configBytes, weightBytes] = await Promise.all(digests.map((digest) => artifactBytes(bucket, digest)));
  if (configBytes === undefined || weightBytes === undefined)
    return { status: "missing", digests: digests.filter((_, index) => [configBytes, weightBytes][index] === undefined) };
  try {
    checkBytes("adapter_config.json", configBytes, MOST_CONFIG_BYTES);
    const { files } = BaseManifest.parse(JSON.parse(await readText(bucket, baseDigest)));
    // A base that only its engine knows: whether the adapter fits is seen when it is loaded.
    if (files["config.json"] === undefined) return compare(adapter, adapterSizes(await readText(bucket, adapter.configDigest)));
    const config = parseModelConfig(JSON.parse(await readFileOf(bucket, files, "config.json")));
    const read = onEngine ? readLayout : readForKernel;
    const stored = await read(bucket, config, { ...adapter, weightBytes });
    const fault = await invocationFault(bucket, files, stored);
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

type Files = AdapterFiles & { readonly weightBytes: number };

/** @throws {policy/refused} for what the embedded kernel could not run */
async function readForKernel(bucket: R2Bucket, config: ModelConfig, { configDigest, weightsDigest, weightBytes }: Files): Promise<Stored> {
  checkBytes("adapter_model.safetensors, which the embedded policy holds,", weightBytes, MAX_ARTIFACT_BYTES);
  const [adapterConfig, adapterModel] = await Promise.all([readText(bucket, configDigest), read(bucket, weightsDigest)]);
  const stored = parseAdapter(config, { adapterConfig, adapterModel });
  const fault = adapterFault(config, stored) ?? boundFault(stored);
  if (fault !== undefined) throw new AppError("policy/refused", fault);
  return stored;
}

/** @throws {policy/refused} for tensors that are not the base's */
async function readLayout(bucket: R2Bucket, config: ModelConfig, { configDigest, weightsDigest, weightBytes }: Files): Promise<Stored> {
  const length = headerBytes(
    await readRange(bucket, weightsDigest, { offset: 0, length: Math.min(LENGTH_BYTES, weightBytes) }),
    weightBytes,
  );
  checkBytes("a header of adapter_model.safetensors", length, MOST_HEADER_BYTES);
  const header = await readRange(bucket, weightsDigest, { offset: LENGTH_BYTES, length });
  return adapterLayout(config, {
    adapterConfig: await readText(bucket, configDigest),
    tensors: parseSafetensorsHeader(header, weightBytes),
  });
}

function checkBytes(what: string, bytes: number, most: number): void {
  if (bytes > most) throw new AppError("policy/refused", `adapter: ${what} of at most ${most} bytes expected, got ${bytes}`);
}

/** An adapter that waits for another invocation than the one that opens every answer would fail every answer. */
async function invocationFault(bucket: R2Bucket, files: BaseManifest["files"], { invocation }: Stored): Promise<string | undefined> {
  if (invocation === undefined) return undefined;
  const [tokenizer, config, template] = await Promise.all([
    readFileOf(bucket, files, "tokenizer.json"),
    readFileOf(bucket, files, "tokenizer_config.json"),
    files[CHAT_TEMPLATE] === undefined ? undefined : readText(bucket, files[CHAT_TEMPLATE]),
  ]);
  const opens = new Tokenizer(toTokenizerFiles(tokenizer, config, template)).invocation;
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
  if (bytes === undefined)
    throw new AppError("policy/refused", `base: a stored file ${digest} expected, got none; upload what its manifest names`);
  return bytes;
}

async function readRange(bucket: R2Bucket, digest: string, range: { offset: number; length: number }): Promise<Uint8Array> {
  if (range.length === 0) return new Uint8Array();
  const opened = await openArtifact(bucket, digest, range);
  if (opened === undefined) throw new AppError("internal", `internal: file ${digest} of an adapter is not stored any more`);
  return new Uint8Array(await new Response(opened.body).arrayBuffer());
}
