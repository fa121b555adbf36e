/** A small policy with random weights that tests can start in milliseconds, on the tokenizer of the random base. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomAdapter } from "../../../bench/random-checkpoint.ts";
import type { CompletionRequest, EndStep, TokenStep } from "../../../edge/policy/completion.ts";
import { type BaseFiles, createPolicy, type Policy, type PolicyOptions } from "../../../edge/policy/policy.ts";
import { toTokenizerFiles } from "../../../edge/policy/resident.ts";
import { sha256 } from "../../../shared/digest.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { writeAdapter } from "../../../shared/lora.ts";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { AdapterFiles } from "../../../shared/policy.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { kernelModule } from "../kernel/decode.ts";

export async function smallBase(seed = 1): Promise<BaseFiles> {
  const folder = await mkdtemp(join(tmpdir(), "nextstate-base-"));
  try {
    return await readBaseFolder(await writeRandomBase(folder, seed));
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function readBaseFolder(folder: string): Promise<BaseFiles> {
  const text = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  return {
    config: JSON.parse(await text("config.json")),
    tokenizer: toTokenizerFiles(await text("tokenizer.json"), await text("tokenizer_config.json")),
    weights: new Uint8Array(await readFile(join(folder, "model.safetensors"))),
  };
}

export async function smallPolicy(options: Partial<PolicyOptions> = {}): Promise<Policy> {
  return createPolicy({ kernelModule, files: await smallBase(), ...options });
}

/** A request with every field at a plain value. */
export function completionRequest(fields: Partial<CompletionRequest> & { promptTokens: readonly number[] }): CompletionRequest {
  return {
    policyDigest: "base",
    adapter: null,
    readFile: async (digest) => Promise.reject(new Error(`no file expected to be read, got ${digest}`)),
    maxTokens: 24,
    temperature: 1,
    topP: 1,
    seed: 1,
    stop: [],
    topLogProbs: 0,
    ...FREE_FORM,
    tools: [],
    cacheKey: "session",
    ...fields,
  };
}

export type Answered = { tokens: TokenStep[]; end: EndStep; ids: number[]; text: string };

export async function complete(
  policy: Policy,
  request: Partial<CompletionRequest> & { promptTokens: readonly number[] },
): Promise<Answered> {
  const tokens: TokenStep[] = [];
  for await (const step of policy.complete(completionRequest(request))) {
    if (step.kind === "token") tokens.push(step);
    else return { tokens, end: step, ids: tokens.map(({ tokenId }) => tokenId), text: contentOf([...tokens, step]) };
  }
  throw new Error("an end expected, got none");
}

function contentOf(steps: readonly (TokenStep | EndStep)[]): string {
  return steps
    .flatMap(({ deltas }) => deltas)
    .map((delta) => (delta.kind === "content" ? delta.text : ""))
    .join("");
}

/** A random adapter for a base, as files in a store, and what a request needs to name it. */
export async function storedAdapter(
  base: BaseFiles,
  seed: number,
  invocation?: readonly number[],
  rank = 4,
): Promise<Pick<CompletionRequest, "policyDigest" | "adapter" | "readFile">> {
  const config = parseModelConfig(base.config);
  const made = { ...randomAdapter(config, { seed, rank }), ...(invocation && { invocation }) };
  const { adapterConfig, adapterModel } = writeAdapter(config, made, { baseModel: "random" });
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const store = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const digest = await sha256(bytes);
    files.set(digest, bytes);
    return digest;
  };
  const adapter: AdapterFiles = {
    configDigest: await store(new TextEncoder().encode(adapterConfig)),
    weightsDigest: await store(adapterModel),
    rank,
    alpha: made.alpha,
  };
  const readFile = async (digest: string): Promise<Uint8Array<ArrayBuffer>> => {
    const bytes = files.get(digest);
    if (bytes === undefined) throw new Error(`stored file expected, got ${digest}`);
    return bytes;
  };
  return { policyDigest: adapter.weightsDigest, adapter, readFile };
}
