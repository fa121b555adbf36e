/** What Cloudflare allows a Worker, and how much of it this one takes. */
import { readFile } from "node:fs/promises";
import { z } from "zod";

const MIB = 1024 * 1024;

/** https://developers.cloudflare.com/workers/platform/limits/ */
export const LIMITS = {
  /** Upload, compressed with gzip, on the free plan and on the paid one. */
  freeGzipBytes: 3 * MIB,
  paidGzipBytes: 10 * MIB,
  /** JavaScript heap and WebAssembly memory of an isolate together. */
  isolateBytes: 128 * MIB,
  /** Before the first request. */
  startUpMs: 1_000,
} as const;

const Deployed = z.object({
  type: z.literal("deploy"),
  targets: z.array(z.string()).default([]),
  bundle_size: z.object({ raw_bytes: z.number(), gzip_bytes: z.number() }).optional(),
});
export type Deployed = z.infer<typeof Deployed>;

/** What wrangler writes to WRANGLER_OUTPUT_FILE_PATH, a JSON object per line; the last deployment is meant. */
export async function readDeployed(outputFile: string): Promise<Deployed> {
  const entries = (await readFile(outputFile, "utf8")).split("\n").filter((line) => line !== "");
  const deployed = entries.map((line) => Deployed.safeParse(JSON.parse(line))).flatMap(({ data }) => (data === undefined ? [] : [data]));
  return deployed.at(-1) ?? { type: "deploy", targets: [] };
}

export function describeSize({ bundle_size: size }: Deployed): string {
  if (size === undefined) return "";
  const kib = (bytes: number): string => `${Math.ceil(bytes / 1024).toLocaleString("en")} KiB`;
  const share = Math.ceil((100 * size.gzip_bytes) / LIMITS.freeGzipBytes);
  return `${kib(size.raw_bytes)}, ${kib(size.gzip_bytes)} with gzip: ${share} % of the 3 MiB that the free plan allows (paid: 10 MiB)`;
}
