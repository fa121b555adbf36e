/** Starts `bench/edge-worker.ts` in a real workerd, loads a base into it, and asks it for answers. */
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { bundleWorker } from "../cli/bundle.ts";
import { sha256 } from "../shared/digest.ts";
import type { PostedAnswer, PostedRequest } from "./edge-protocol.ts";

export type PolicyWorker = {
  readonly url: string;
  readonly baseDigest: string;
  store(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  complete(request: PostedRequest): Promise<PostedAnswer>;
  stats(): Promise<Record<string, number>>;
  close(): Promise<void>;
};

/** `files`: a base's files by name, as bytes. */
export async function startPolicyWorker(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): Promise<PolicyWorker> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const modules = await bundleWorker(root, "bench/edge-worker.ts");
  const worker = { name: "policy", modules, compatibilityDate: "2026-06-11" };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ log: new Log(LogLevel.ERROR), cf: false, telemetry: { enabled: false }, workers: [worker] }),
  );
  const url = (await miniflare.ready).origin;
  const store = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const digest = await sha256(bytes);
    await fetch(`${url}/files/${digest}`, { method: "PUT", body: bytes });
    return digest;
  };
  const digests = await Promise.all(Array.from(files, async ([name, bytes]) => [name, await store(bytes)] as const));
  const manifest = JSON.stringify({ name: "base", files: Object.fromEntries(digests) });
  const baseDigest = await store(new TextEncoder().encode(manifest));
  const ask = async (path: string, body?: PostedRequest): Promise<unknown> => {
    const response = await fetch(
      `${url}${path}?base=${baseDigest}`,
      body === undefined ? {} : { method: "POST", body: JSON.stringify(body) },
    );
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${path}: 200 expected, got ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    url,
    baseDigest,
    store,
    complete: async (request) => (await ask("/complete", request)) as PostedAnswer,
    stats: async () => (await ask("/stats")) as Record<string, number>,
    close: () => miniflare.dispose(),
  };
}
