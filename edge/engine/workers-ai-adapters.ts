/**
 * Adapters of Workers AI: fine-tunes of an account, made over its REST API. None can be deleted or changed, so a slot is spent for good; the
 * name holds the digest, so a version never takes two. A fine-tune is listed from when it is made, without its files too, and the account does not say
 * which files it has: the record of what was uploaded does.
 * @see https://developers.cloudflare.com/workers-ai/features/fine-tunes/loras/
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { adapterName, type WorkersAiEngine } from "../../shared/engine.ts";
import { getArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import type { AdaptedPolicy, EngineAdapters } from "./adapters.ts";
import { type Call, connect, jsonBody, requestJson } from "./upstream.ts";

const WHAT = "the Workers AI account";
const MOST_RANK = 32;
const [WEIGHTS, CONFIG] = ["adapter_model.safetensors", "adapter_config.json"] as const;

const FineTune = z.object({ id: z.string(), name: z.string(), model: z.string().optional() });
// The documented example wraps the list in a second one.
const Listed = z.object({
  success: z.literal(true),
  result: z.array(z.union([FineTune, z.array(FineTune)])).transform((found) => found.flat()),
});
const Made = z.object({ success: z.literal(true), result: FineTune });
const Uploaded = z.object({ success: z.literal(true) });

/** Which files a fine-tune, named by its id, was given. */
export type Uploads = { hasUpload(fineTune: string, file: string): boolean; addUpload(fineTune: string, file: string): void };

export function createWorkersAiAdapters(env: Env, { adapters, model, timeoutMs }: WorkersAiEngine, uploads: Uploads): EngineAdapters {
  const account = () => {
    if (adapters === undefined)
      throw new AppError("upstream/invalid", "engine.adapters: the account and the key that adapters are uploaded with expected, got none");
    const { apiUrl, accountId, keySecret, slots, modelType } = adapters;
    const upstream = connect(env, { what: WHAT, url: `${apiUrl}/accounts/${accountId}/ai/finetunes`, keySecret, timeoutMs });
    const api = <Value>(schema: z.ZodType<Value>, call: Call): Promise<Value> => requestJson(upstream, call, { schema });
    const all = async () => (await api(Listed, { method: "GET", path: "" })).result;
    return { api, all, slots, modelType };
  };
  return {
    list: async () =>
      adapters === undefined ? [] : (await account().all()).map(({ name }) => name).filter((name) => name.startsWith("nextstate-")),
    slotsLeft: async () => {
      if (adapters === undefined) return 0;
      const { all, slots } = account();
      return Math.max(slots - (await all()).length, 0);
    },
    load: async (policy) => {
      const { api, all, slots, modelType } = account();
      const name = adapterName(policy.policyDigest);
      const find = async () => (await all()).find((each) => each.name === name);
      const present = await all();
      const mine = present.find((each) => each.name === name);
      if (mine !== undefined && [WEIGHTS, CONFIG].every((file) => uploads.hasUpload(mine.id, file))) return;
      if (mine === undefined && present.length >= slots) throw full(present.length);
      const files = await readFiles(env, policy, modelType);
      const making = jsonBody({ model, name, description: "a Nextstate policy version" });
      const { id } = mine ?? (await made(() => api(Made, { method: "POST", path: "", body: making, again: "never" }), find));
      for (const [file, bytes] of files.filter(([each]) => !uploads.hasUpload(id, each))) {
        const form = new FormData();
        form.append("file_name", file);
        form.append("file", new Blob([bytes]), file);
        // The same bytes under the same name, where an answer was lost. Whether the account takes them twice is documented nowhere: refusing them
        // it refuses the version, which answers nobody.
        await api(Uploaded, { method: "POST", path: `/${id}/finetune-assets`, body: form, again: "always" });
        uploads.addUpload(id, file);
      }
    },
    unload: () => Promise.reject(new AppError("upstream/invalid", `${WHAT}: adapters cannot be deleted there; their slots are spent`)),
  };
}

/** The fine-tune that was made. One whose making failed by what was heard may be there, and its slot spent: it is taken, never made again. */
async function made(
  make: () => Promise<z.infer<typeof Made>>,
  find: () => Promise<z.infer<typeof FineTune> | undefined>,
): Promise<z.infer<typeof FineTune>> {
  try {
    return (await make()).result;
  } catch (thrown) {
    const found = await find();
    if (found === undefined) throw thrown;
    return found;
  }
}

async function readFiles(env: Env, { adapter }: AdaptedPolicy, modelType: string): Promise<[string, string | Uint8Array<ArrayBuffer>][]> {
  if (adapter.rank > MOST_RANK) throw new AppError("upstream/invalid", `${WHAT}: rank up to ${MOST_RANK} expected, got ${adapter.rank}`);
  const [config, weights] = await Promise.all(
    [adapter.configDigest, adapter.weightsDigest].map((digest) => getArtifact(env.ARTIFACTS, digest)),
  );
  if (config === undefined || weights === undefined) throw new AppError("internal", "internal: the files of an adapter are not stored");
  const named = { ...z.record(z.string(), z.unknown()).parse(JSON.parse(new TextDecoder().decode(config))), model_type: modelType };
  // Weights first: what has its configuration is whole.
  return [
    [WEIGHTS, weights],
    [CONFIG, JSON.stringify(named)],
  ];
}

function full(count: number): AppError {
  const advice =
    "use another account, ask Cloudflare for more and raise engine.adapters.slots, or move the agent to an engine that unloads";
  return new AppError("upstream/invalid", `${WHAT}: a free slot expected, got ${count} adapters, and none can be deleted; ${advice}`);
}
