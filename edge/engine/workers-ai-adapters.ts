/**
 * Adapters of Workers AI: fine-tunes of an account, made over its REST API. None can be deleted or changed, so a slot is spent for good; the
 * name holds the digest, so a version never takes two. A fine-tune is listed from when it is made, without its files too, and the account does not say
 * which files it has: the record of what was uploaded does.
 * @see https://developers.cloudflare.com/workers-ai/features/fine-tunes/loras/
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { adapterName, type WorkersAiEngine } from "../../shared/engine.ts";
import { artifactBytes, getArtifact, MAX_ARTIFACT_BYTES, openArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import type { AdaptedPolicy, EngineAdapters } from "./adapters.ts";
import { streamedForm } from "./streamed-form.ts";
import { type Call, connect, jsonBody, patientFor, requestJson, type Upstream } from "./upstream.ts";

const WHAT = "the Workers AI account";
const MOST_RANK = 32;
const [WEIGHTS, CONFIG] = ["adapter_model.safetensors", "adapter_config.json"] as const;
const MOST_BYTES = 499_999_999; // of adapter_model.safetensors: less than 500 MB

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
    return { api, all, slots, modelType, upstream };
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
      const { api, all, slots, modelType, upstream } = account();
      const name = adapterName(policy.policyDigest);
      const find = async () => (await all()).find((each) => each.name === name);
      const present = await all();
      const mine = present.find((each) => each.name === name);
      if (mine !== undefined && [WEIGHTS, CONFIG].every((file) => uploads.hasUpload(mine.id, file))) return;
      if (mine === undefined && present.length >= slots) throw full(present.length);
      const files = await readFiles(env, policy, modelType);
      const making = jsonBody({ model, name, description: "a Nextstate policy version" });
      const { id } = mine ?? (await made(() => api(Made, { method: "POST", path: "", body: making, again: "never" }), find));
      for (const file of files.filter(([each]) => !uploads.hasUpload(id, each))) {
        await sendFile(upstream, `/${id}/finetune-assets`, file);
        uploads.addUpload(id, file[0]);
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

type Opened = { readonly bytes: number; readonly body: ReadableStream<Uint8Array> };
type SentFile = readonly [name: string, content: string | Uint8Array<ArrayBuffer> | Opened];

/**
 * What an isolate may hold is sent again where an answer was lost; what is larger passes through, once. Whether the account takes a file twice is
 * documented nowhere: refusing it, it refuses the version, which answers nobody.
 */
async function sendFile(upstream: Upstream, path: string, [name, content]: SentFile): Promise<void> {
  if (typeof content === "string" || content instanceof Uint8Array) {
    const form = new FormData();
    form.append("file_name", name);
    form.append("file", new Blob([content]), name);
    await requestJson(upstream, { method: "POST", path, body: form, again: "always" }, { schema: Uploaded });
    return;
  }
  const { contentType, body } = streamedForm({ fields: { file_name: name }, file: { field: "file", name, ...content } });
  const typed = { ...patientFor(upstream, content.bytes), headers: { ...upstream.headers, "content-type": contentType } };
  await requestJson(typed, { method: "POST", path, body, again: "never" }, { schema: Uploaded });
}

async function readFiles(env: Env, { adapter }: AdaptedPolicy, modelType: string): Promise<SentFile[]> {
  if (adapter.rank > MOST_RANK) throw new AppError("upstream/invalid", `${WHAT}: rank up to ${MOST_RANK} expected, got ${adapter.rank}`);
  const bytes = (await artifactBytes(env.ARTIFACTS, adapter.weightsDigest)) ?? 0;
  if (bytes > MOST_BYTES)
    throw new AppError("upstream/invalid", `${WHAT}: adapter_model.safetensors of at most ${MOST_BYTES} bytes expected, got ${bytes}`);
  const [config, weights] = await Promise.all([
    getArtifact(env.ARTIFACTS, adapter.configDigest),
    bytes > MAX_ARTIFACT_BYTES ? openArtifact(env.ARTIFACTS, adapter.weightsDigest) : getArtifact(env.ARTIFACTS, adapter.weightsDigest),
  ]);
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
