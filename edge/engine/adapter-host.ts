/** Files of adapters onto the machine of the engine: what cli/adapter-host takes. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { OpenAiEngine } from "../../shared/engine.ts";
import type { AdapterFiles } from "../../shared/policy.ts";
import { MAX_ARTIFACT_BYTES, openArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import { type Call, connect, jsonBody, patientFor, requestJson, type Upstream } from "./upstream.ts";

/** Where the adapter lies for the engine, or which of its files the host lacks. */
const Placed = z.union([z.object({ path: z.string() }), z.object({ missing: z.array(z.string()) })]);

/** @returns the adapter's folder as the engine sees it. @throws {upstream/…} */
export async function placeFiles(
  env: Env,
  engine: OpenAiEngine,
  { name, adapter }: { name: string; adapter: AdapterFiles },
): Promise<string> {
  const host = hostOf(env, engine);
  const files = { "adapter_config.json": adapter.configDigest, "adapter_model.safetensors": adapter.weightsDigest };
  // Put there twice, the same files lie there.
  const call: Call = { method: "POST", path: `/adapters/${name}`, body: jsonBody({ files }), again: "always" };
  const place = () => requestJson(host, call, { schema: Placed });
  const first = await place();
  if ("path" in first) return first.path;
  for (const digest of first.missing) await sendFile(env, host, digest);
  const second = await place();
  if ("path" in second) return second.path;
  throw new AppError("upstream/failed", `${host.what}: adapter ${name} in place expected, got missing files ${second.missing.join(", ")}`);
}

export async function removeFiles(env: Env, engine: OpenAiEngine, name: string): Promise<void> {
  await requestJson(hostOf(env, engine), { method: "DELETE", path: `/adapters/${name}` }, { schema: z.unknown() });
}

/** What an isolate may hold can be sent again; what is larger passes through. The host checks the digest of either. */
async function sendFile(env: Env, host: Upstream, digest: string): Promise<void> {
  const file = await openArtifact(env.ARTIFACTS, digest);
  if (file === undefined) throw new AppError("internal", `internal: file ${digest} of an adapter is not stored`);
  const body = file.bytes > MAX_ARTIFACT_BYTES ? file.body : new Uint8Array(await new Response(file.body).arrayBuffer());
  await requestJson(patientFor(host, file.bytes), { method: "PUT", path: `/files/${digest}`, body }, { schema: z.unknown() });
}

/** @throws {upstream/invalid} where the engine's settings name no host */
function hostOf(env: Env, { adapterHost, timeoutMs }: OpenAiEngine): Upstream {
  if (adapterHost === undefined)
    throw new AppError("upstream/invalid", "engine.adapterHost: the address of an `npm run adapters` beside the engine expected, got none");
  return connect(env, { what: "the engine's adapter host", ...adapterHost, timeoutMs });
}
