/** Open sessions: the one used longest ago is closed where the budget is spent, and none before. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { gemm } from "../../../trainer/autodiff/build.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { SessionCache } from "../../../trainer/engine/session-cache.ts";
import { freeDeviceBytes } from "../../../trainer/onnx/device-memory.ts";

const SESSION_BYTES = 10 * 2 ** 20; // of one without an arena

/** Runs the graphs of `keys` one after another, and tells which were built. */
async function built(cache: SessionCache, keys: readonly string[]): Promise<string[]> {
  const opened: string[] = [];
  for (const key of keys) {
    const { product } = await cache.run(
      key,
      () => {
        opened.push(key);
        const x = new Graph().input("x", [2, 2]);
        return { product: gemm(x, x) };
      },
      { x: { values: Float32Array.of(1, 2, 3, 4), shape: [2, 2] } },
    );
    expect([...(product ?? [])]).toEqual([7, 10, 15, 22]);
  }
  return opened;
}

describe("open sessions", () => {
  it("are kept while the budget holds them, and then closed by their last use", async () => {
    const cache = new SessionCache({ threads: 1, budgetBytes: 2.5 * SESSION_BYTES });
    expect(await built(cache, ["a", "b", "a", "b"])).toEqual(["a", "b"]);
    expect(await built(cache, ["a", "c", "a", "b"])).toEqual(["c", "b"]); // b gave way to c, and c to b
    await cache.close();
  });

  it("are a session at a time where the budget holds none", async () => {
    const cache = new SessionCache({ threads: 1, budgetBytes: 1 });
    expect(await built(cache, ["a", "a", "b", "a"])).toEqual(["a", "b", "a"]);
    await cache.close();
  });
});

describe("a card's free memory", async () => {
  const folder = await mkdtemp(join(tmpdir(), "smi-"));
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => vi.unstubAllEnvs());

  /** Puts a program in nvidia-smi's place. */
  async function stand(lines: string): Promise<void> {
    await writeFile(join(folder, "nvidia-smi"), `#!/bin/sh\n${lines}\n`);
    await chmod(join(folder, "nvidia-smi"), 0o755);
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  }

  it("is what nvidia-smi says of the first device that CUDA may use", async () => {
    await stand('[ "$1 $2" = "--query-gpu=memory.free --format=csv,noheader,nounits" ] && echo "${3#--id=}00"');
    vi.stubEnv("CUDA_VISIBLE_DEVICES", "3,1");
    expect(freeDeviceBytes("cuda")).toBe(300 * 2 ** 20);
    vi.stubEnv("CUDA_VISIBLE_DEVICES", "");
    expect(freeDeviceBytes("cuda")).toBeUndefined(); // "000": a card without any
  });

  it("is unknown where nvidia-smi fails or says no number, and of other devices", async () => {
    await stand("exit 9");
    expect(freeDeviceBytes("cuda")).toBeUndefined();
    await stand("echo '[N/A]'");
    expect(freeDeviceBytes("cuda")).toBeUndefined();
    await stand("echo 81000");
    expect([freeDeviceBytes("cpu"), freeDeviceBytes("webgpu")]).toEqual([undefined, undefined]);
  });
});
