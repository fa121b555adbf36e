/**
 * Adapters of Workers AI: fine-tunes of an account, made over its REST API. None can be deleted or changed, so a slot is spent for good; the
 * name holds the digest, so a version never takes two.
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

const FineTune = z.object({ id: z.string(), name: z.string(), model: z.string().optional() });
// The documented example wraps the list in a second one.
const Listed = z.object({
  success: z.literal(true),
  result: z.array(z.union([FineTune, z.array(FineTune)])).transform((found) => found.flat()),
});
const Made = z.object({ success: z.literal(true), result: FineTune });
const Uploaded = z.object({ success: z.literal(true) });

export function createWorkersAiAdapters(env: Env, { adapters, model, timeoutMs }: WorkersAiEngine): EngineAdapters {
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
      const present = await all();
      if (present.some((each) => each.name === name)) return;
      if (present.length >= slots) throw full(present.length);
      const files = await readFiles(env, policy, modelType);
      const { result } = await api(Made, {
        method: "POST",
        path: "",
        body: jsonBody({ model, name, description: "a Nextstate policy version" }),
      });
      // Weights first: what has its configuration is whole.
      for (const [file, bytes] of files) {
        const form = new FormData();
        form.append("file_name", file);
        form.append("file", new Blob([bytes]), file);
        await api(Uploaded, { method: "POST", path: `/${result.id}/finetune-assets`, body: form });
      }
    },
    unload: () => Promise.reject(new AppError("upstream/invalid", `${WHAT}: adapters cannot be deleted there; their slots are spent`)),
  };
}

async function readFiles(env: Env, { adapter }: AdaptedPolicy, modelType: string): Promise<[string, string | Uint8Array<ArrayBuffer>][]> {
  if (adapter.rank > MOST_RANK) throw new AppError("upstream/invalid", `${WHAT}: rank up to ${MOST_RANK} expected, got ${adapter.rank}`);
  const [config, weights] = await Promise.all(
    [adapter.configDigest, adapter.weightsDigest].map((digest) => getArtifact(env.ARTIFACTS, digest)),
  );
  if (config === undefined || weights === undefined) throw new AppError("internal", "internal: the files of an adapter are not stored");
  const named = { ...z.record(z.string(), z.unknown()).parse(JSON.parse(new TextDecoder().decode(config))), model_type: modelType };
  return [
    ["adapter_model.safetensors", weights],
    ["adapter_config.json", JSON.stringify(named)],
  ];
}

function full(count: number): AppError {
  const advice =
    "use another account, ask Cloudflare for more and raise engine.adapters.slots, or move the agent to an engine that unloads";
  return new AppError("upstream/invalid", `${WHAT}: a free slot expected, got ${count} adapters, and none can be deleted; ${advice}`);
}
