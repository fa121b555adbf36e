/** The Worker keeps to what Cloudflare allows it, with room: its size, and its memory once every cache is full. The page beside it is built for users. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { buildDashboard, bundleWorker } from "../../cli/bundle.ts";
import { LIMITS } from "../../cli/deploy/budgets.ts";
import { createPolicy, type Policy } from "../../edge/policy/policy.ts";
import { parseModelConfig } from "../../shared/model-config.ts";
import { kernelModule } from "../edge/kernel/decode.ts";
import { complete, readBaseFolder, storedAdapter } from "../edge/policy/small-base.ts";

const MIB = 1024 * 1024;
/** Half of what the free plan takes. */
const GZIP_BYTES = LIMITS.freeGzipBytes / 2;
/** Of 128 MiB; the rest is for JavaScript: the tokenizer, requests under way, and a file while it is read. */
const WASM_BYTES = 100 * MIB;

describe("the Worker's limits", () => {
  it("takes at most half of the compressed size that the free plan allows", async () => {
    const modules = await bundleWorker(process.cwd(), "edge/index.ts");
    const bytes = modules.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
    process.stdout.write(
      `Worker: ${Math.ceil(bytes / 1024)} KiB with gzip, budget ${GZIP_BYTES / 1024}, limit ${LIMITS.freeGzipBytes / 1024}\n`,
    );
    expect(bytes).toBeGreaterThan(100 * 1024);
    expect(bytes).toBeLessThan(GZIP_BYTES);
  });

  it("holds a page that tells nothing of the machine it was built on, tests' own environment or not", async () => {
    await buildDashboard(process.cwd());
    const folder = "dashboard/dist/assets";
    const scripts = (await readdir(folder)).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(scripts.map((name) => readFile(join(folder, name), "utf8")));
    expect(process.env["NODE_ENV"]).toBe("test");
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).not.toContain(process.cwd());
  });

  it("leaves a fifth of an isolate's memory to JavaScript when base, conversations and adapters fill their caches", async () => {
    const files = await readBaseFolder("base");
    const policy = createPolicy({ kernelModule, files });
    const { contextTokens } = parseModelConfig(files.config);
    const prompt = (seed: number): number[] => Array.from({ length: contextTokens - 8 }, (_, index) => 7 + ((index * 131 + seed) % 250));
    for (let turn = 1; isRoomLeft(policy); turn += 1) {
      const adapter = await storedAdapter(files, turn, undefined, 32);
      await complete(policy, { promptTokens: prompt(turn), maxTokens: 1, cacheKey: `${turn}`, ...adapter });
    }
    const { memoryBytes } = policy.stats();
    process.stdout.write(
      `WASM memory, caches full: ${Math.ceil(memoryBytes / MIB)} MiB, budget ${WASM_BYTES / MIB}, isolate ${LIMITS.isolateBytes / MIB}\n`,
    );
    expect(memoryBytes).toBeLessThan(WASM_BYTES);
    expect(WASM_BYTES).toBeLessThan(0.8 * LIMITS.isolateBytes);
  });
});

function isRoomLeft(policy: Policy): boolean {
  const { kvEvictions, adapterEvictions } = policy.stats();
  return kvEvictions === 0 || adapterEvictions === 0;
}
