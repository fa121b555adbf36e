/** The isolate's policy: loaded once, shared by every Durable Object that runs in the isolate. */
import { AppError } from "../../shared/errors.ts";
import { BaseManifest } from "../../shared/policy.ts";
import type { TokenizerFiles } from "../../shared/tokenizer.ts";
import type { ReadFile } from "./completion.ts";
import { type BaseFiles, createPolicy, type Policy } from "./policy.ts";

export type ResidentOptions = {
  readonly kernelModule: WebAssembly.Module;
  /** Digest of the stored base manifest. */
  readonly baseDigest: string;
  readonly readFile: ReadFile;
};

// Long enough for a load from storage; after it, the loading request is taken for dead.
const LOAD_MS = 10_000;
const RETRY_MS = 10;

let resident: { baseDigest: string; policy: Policy } | undefined;
let loadingSince: number | undefined;

/**
 * The policy on this base, loading it on first use. Requests that come meanwhile wait by asking again: a promise of
 * another request may never continue in workerd. One base per isolate: a new one replaces it.
 * @throws {upstream/invalid} for stored files that the kernel cannot run, and whatever `readFile` throws
 */
export async function residentPolicy(options: ResidentOptions): Promise<Policy> {
  while (resident?.baseDigest !== options.baseDigest) {
    if (loadingSince === undefined || Date.now() - loadingSince > LOAD_MS) return load(options);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return resident.policy;
}

async function load({ kernelModule, baseDigest, readFile }: ResidentOptions): Promise<Policy> {
  loadingSince = Date.now();
  try {
    const files = await readBase(baseDigest, readFile);
    const policy = createStored({ kernelModule, files }, baseDigest);
    resident = { baseDigest, policy };
    return policy;
  } finally {
    loadingSince = undefined;
  }
}

/** What is stored is the operator's: a client that meets a base which cannot run has done nothing wrong. */
function createStored(options: Parameters<typeof createPolicy>[0], baseDigest: string): Policy {
  try {
    return createPolicy(options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("upstream/invalid", `base ${baseDigest}: one that the kernel can run expected; ${reason}`, { cause });
  }
}

async function readBase(baseDigest: string, readFile: ReadFile): Promise<BaseFiles> {
  const readText = async (digest: string): Promise<string> => new TextDecoder().decode(await readFile(digest));
  const { files } = BaseManifest.parse(JSON.parse(await readText(baseDigest)));
  const digestOf = (name: string): string => {
    const digest = files[name];
    if (digest === undefined)
      throw new AppError("upstream/invalid", `base ${baseDigest}: file ${name} expected, got ${Object.keys(files).join(", ")}`);
    return digest;
  };
  const template = files[CHAT_TEMPLATE];
  const [config, tokenizer, tokenizerConfig, chatTemplate, weights] = await Promise.all([
    readText(digestOf("config.json")),
    readText(digestOf("tokenizer.json")),
    readText(digestOf("tokenizer_config.json")),
    template === undefined ? undefined : readText(template),
    readFile(digestOf("model.safetensors")),
  ]);
  return { config: JSON.parse(config), tokenizer: toTokenizerFiles(tokenizer, tokenizerConfig, chatTemplate), weights };
}

/** Where newer folders keep the template; it is what libraries, and the trainer, take where `tokenizer_config.json` has one, too. */
export const CHAT_TEMPLATE = "chat_template.jinja";

/** Tokenizer and Vocabulary check what they read; this is their boundary. */
export function toTokenizerFiles(tokenizer: string, config: string, template?: string): TokenizerFiles {
  const read = JSON.parse(config) as TokenizerFiles["config"];
  return {
    tokenizer: JSON.parse(tokenizer) as TokenizerFiles["tokenizer"],
    config: template === undefined ? read : { ...read, chat_template: template },
  };
}
