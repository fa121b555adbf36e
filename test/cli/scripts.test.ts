/** What the repository promises of itself: pinned versions, one test command, a Worker that fits Cloudflare's limits. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bundleWorker } from "../../cli/bundle.ts";

const Package = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const manifest = Package.parse(JSON.parse(readFileSync("package.json", "utf8")));

/** What Cloudflare takes on its free plan, compressed: https://developers.cloudflare.com/workers/platform/limits/ */
const WORKER_LIMIT_BYTES = 3 * 2 ** 20;

describe("package.json", () => {
  it.for(Object.entries(manifest.scripts))("npm run %s installs what is missing and runs a file that exists", ([, command]) => {
    const [node, launcher, target = ""] = command.split(" ");
    expect([node, launcher]).toEqual(["node", "cli/bootstrap.mjs"]);
    expect(existsSync(target)).toBe(true);
  });

  it("pins every version exactly", () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it("lets .ci/run call npm test", () => {
    expect(statSync(".ci/run").mode & 0o111).toBe(0o111);
    expect(readFileSync(".ci/run", "utf8")).toContain("npm test");
  });
});

describe("the Worker's bundle", () => {
  it("fits in what Cloudflare takes, kernel included", async () => {
    const modules = await bundleWorker(process.cwd(), "edge/index.ts");
    const bytes = modules.map(({ contents }) => gzipSync(contents).length).reduce((sum, size) => sum + size, 0);
    expect(modules.map(({ type }) => type)).toEqual(["ESModule", "CompiledWasm"]);
    expect(bytes).toBeLessThan(WORKER_LIMIT_BYTES);
  });
});
