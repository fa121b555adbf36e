/** How long the product's Worker takes before its first answer, beyond what an empty one on the same bindings takes. */
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions as readWranglerConfig } from "wrangler";
import { z } from "zod";
import { bundleWorker } from "../cli/bundle.ts";
import { median } from "./bench.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Median milliseconds over interleaved rounds; nothing is loaded from storage, as Cloudflare measures it. */
export async function startUpMs(rounds: number): Promise<number> {
  const { workerOptions, define } = readWranglerConfig(`${ROOT}/wrangler.toml`);
  const { assets: _, ...bound } = workerOptions; // served without the Worker
  const worker: V4WorkerOptions = { ...bound, modules: await bundleWorker(ROOT, "edge/index.ts", define) };
  const classes = z.record(z.string(), z.object({ className: z.string() })).parse(workerOptions["durableObjects"]);
  const objects = Object.values(classes).map(({ className }) => `export class ${className} extends DurableObject {}`);
  const contents = `import { DurableObject } from "cloudflare:workers"; ${objects.join(" ")} export default { fetch: () => new Response() }`;
  const empty: V4WorkerOptions = { ...bound, modules: [{ type: "ESModule", path: "index.mjs", contents }] };
  const differences: number[] = [];
  await firstAnswerMs(empty); // the binary is read from disk once
  for (let round = 0; round < rounds; round += 1) differences.push((await firstAnswerMs(worker)) - (await firstAnswerMs(empty)));
  return median(differences);
}

async function firstAnswerMs(worker: V4WorkerOptions): Promise<number> {
  const started = performance.now();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ log: new Log(LogLevel.ERROR), cf: false, telemetry: { enabled: false }, workers: [worker] }),
  );
  try {
    const { status } = await fetch(new URL("/healthz", (await miniflare.ready).origin));
    if (status !== 200) throw new Error(`/healthz: 200 expected, got ${status}`);
    return performance.now() - started;
  } finally {
    await miniflare.dispose();
  }
}
