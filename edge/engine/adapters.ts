/**
 * Adapters where an engine elsewhere has them: put there, loaded under a name that holds the digest, taken away. What an engine says of
 * itself decides: an adapter is loaded once it is listed, and gone once it is not.
 * @see https://docs.vllm.ai/en/latest/features/lora/ vLLM `/v1/load_lora_adapter`
 * @see https://docs.sglang.ai/advanced_features/lora.html SGLang `/load_lora_adapter`
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { adapterName, type OpenAiEngine, type RemoteEngine } from "../../shared/engine.ts";
import type { Invocation } from "../../shared/lora.ts";
import type { AdapterFiles, ServedPolicy } from "../../shared/policy.ts";
import type { Env } from "../env.ts";
import { placeFiles, removeFiles } from "./adapter-host.ts";
import { checkAdapter, llamaAdapters } from "./llama-adapters.ts";
import { connect, jsonBody, requestJson, type Upstream } from "./upstream.ts";
import { createWorkersAiAdapters, type Uploads } from "./workers-ai-adapters.ts";

export type AdaptedPolicy = Pick<ServedPolicy, "policyDigest"> & {
  readonly adapter: AdapterFiles;
  /** Absent where it acts on every token. */
  readonly invocation?: Invocation | undefined;
};

export interface EngineAdapters {
  /** Those of ours that the engine has. */
  list(): Promise<readonly string[]>;
  /** Resolves once the engine lists it; loading one that is there changes nothing. @throws {upstream/…} */
  load(policy: AdaptedPolicy): Promise<void>;
  /** Resolves once the engine does not list it any more. @throws {upstream/…} */
  unload(policy: Pick<AdaptedPolicy, "policyDigest">): Promise<void>;
  /** How many more it can ever hold; null where that is no question. */
  slotsLeft(): Promise<number | null>;
}

/** @param uploads what is known of files that went to Workers AI */
export function createEngineAdapters(env: Env, engine: RemoteEngine, uploads: Uploads): EngineAdapters {
  if (engine.kind === "workers-ai") return createWorkersAiAdapters(env, engine, uploads);
  const upstream = connect(env, { what: "the agent's engine", ...engine });
  switch (engine.flavour) {
    case "vllm":
      return dynamicAdapters({ env, engine, upstream, prefix: "/v1" });
    case "sglang":
      return dynamicAdapters({ env, engine, upstream, prefix: "" });
    case "llamacpp":
      return startedAdapters({ env, engine, upstream });
    case "generic":
      return noAdapters();
  }
}

type Parts = { readonly env: Env; readonly engine: OpenAiEngine; readonly upstream: Upstream };

const Models = z.object({ data: z.array(z.object({ id: z.string() })) });
// vLLM answers a sentence, SGLang an object that may say, with status 200, that nothing came of it.
const Outcome = z.union([
  z.object({ success: z.boolean(), error_message: z.string().nullish() }),
  z.string(),
  z.unknown().transform(() => ""),
]);

/** vLLM and SGLang take adapters while they run. */
function dynamicAdapters({ env, engine, upstream, prefix }: Parts & { prefix: string }): EngineAdapters {
  const list = async (): Promise<string[]> => {
    const { data } = await requestJson(upstream, { method: "GET", path: "/v1/models" }, { schema: Models });
    return data.map(({ id }) => id).filter((id) => id.startsWith("nextstate-"));
  };
  const tell = async (path: string, body: object): Promise<void> => {
    const outcome = await requestJson(upstream, { method: "POST", path: `${prefix}${path}`, body: jsonBody(body) }, { schema: Outcome });
    if (typeof outcome === "object" && !outcome.success)
      throw new AppError(
        "upstream/failed",
        `the agent's engine: ${path} expected to succeed: ${outcome.error_message ?? "no reason given"}`,
      );
  };
  return {
    list,
    load: async ({ policyDigest, adapter }) => {
      const name = adapterName(policyDigest);
      if ((await list()).includes(name)) return;
      const path = await placeFiles(env, engine, { name, adapter });
      // Whatever it answers, what it lists afterwards counts: a load whose answer was lost may have been done.
      const failure = await tell("/load_lora_adapter", { lora_name: name, lora_path: path }).catch((thrown: unknown) => thrown);
      if (!(await list()).includes(name)) throw failure ?? notThere(name, "listed after it was loaded", "none");
    },
    unload: async ({ policyDigest }) => {
      const name = adapterName(policyDigest);
      // As above: one that was gone before is gone.
      const failure = await tell("/unload_lora_adapter", { lora_name: name }).catch((thrown: unknown) => thrown);
      if ((await list()).includes(name)) throw failure ?? notThere(name, "gone after it was unloaded", "one that is still listed");
      await removeFiles(env, engine, name);
    },
    slotsLeft: async () => null,
  };
}

/** llama.cpp's server has the adapters that it was started with; a host beside it may start another with more. */
function startedAdapters({ env, engine, upstream }: Parts): EngineAdapters {
  const list = async (): Promise<string[]> => {
    const present = await llamaAdapters(upstream);
    return present.flatMap(({ path }) => path.match(/nextstate-[0-9a-f]{64}(?=\.gguf$)/) ?? []);
  };
  return {
    list,
    load: async ({ policyDigest, adapter, invocation }) => {
      const name = adapterName(policyDigest);
      if (engine.adapterHost !== undefined && !(await list()).includes(name)) await placeFiles(env, engine, { name, adapter });
      checkAdapter(await llamaAdapters(upstream), { name, invocation });
    },
    unload: () =>
      Promise.reject(new AppError("upstream/invalid", "the agent's engine: llama.cpp's server keeps its adapters until it ends")),
    slotsLeft: async () => null,
  };
}

function noAdapters(): EngineAdapters {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new AppError(
        "upstream/invalid",
        "the agent's engine: a flavour that takes adapters expected (vllm, sglang or llamacpp), got generic",
      ),
    );
  return { list: async () => [], load: refuse, unload: refuse, slotsLeft: async () => 0 };
}

function notThere(name: string, expected: string, got: string): AppError {
  return new AppError("upstream/failed", `the agent's engine: adapter ${name} ${expected} expected, got ${got}`);
}
