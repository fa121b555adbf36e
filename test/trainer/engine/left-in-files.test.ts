/** A checkpoint whose tensors are left in its files: what is computed from it, what it takes in memory, and what is refused. */
import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { FloatTensor } from "../../../shared/safetensors.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { listParameters } from "../../../trainer/model/parameters.ts";
import { FAMILIES, familyWeights, writeFamily } from "../model/families.ts";
import type { RawConfig } from "../model/reference.ts";
import { randomBatch, WEIGHTY } from "../tiny.ts";

const byLayer = { keptBytes: 0, logitBytes: 2 ** 20, groupBytes: 20_000 };
const families = ["Qwen3, tied head, heads wider than their share", "Qwen2.5, biases, untied head"];

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "left-"))));
afterAll(() => rm(folder, { recursive: true }));

const write = (
  name: string,
  config: RawConfig,
  change: (weights: ReturnType<typeof familyWeights>) => void = () => undefined,
): Promise<string> => {
  const weights = familyWeights(config, "BF16");
  change(weights);
  return writeFamily(join(folder, name), { config, weights, type: "BF16", shards: 3 });
};
const start = (config: RawConfig): EngineCore =>
  new EngineCore({ config: parseModelConfig(config), threads: 1, placement: "device", byLayer });

/** Everything that an engine does with a base. */
async function use(engine: EngineCore): Promise<unknown[]> {
  const { weights, ...positions } = randomBatch({ rows: 2, length: 12, positions: 20, vocab: 61 });
  await engine.createAdapter("a", { rank: 2, alpha: 4, targets: ["q_proj", "down_proj"], seed: 3 });
  const loss = await engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights } });
  await engine.stepAdapter("a", { lr: 1e-2 });
  const scores = await engine.score(positions, { adapter: "a", fullLogProbs: true });
  const prompts = [Int32Array.of(3, 1, 4, 1, 5), Int32Array.of(2, 7)];
  const answers = await engine.generate({ prompts, maxTokens: 4, stopTokens: [], temperature: 0, seed: 0 });
  return [loss, await engine.readAdapter("a"), scores, answers];
}

describe.each(families)("%s", (family) => {
  const config = FAMILIES[family] ?? {};

  it("computes what it does from memory, to the bit", async () => {
    const path = await write(family, config);
    const [left, held] = [start(config), start(config)];
    await left.loadCheckpoint(path);
    await held.loadWeights(await left.readWeights());
    expect(await use(left)).toEqual(await use(held));
    await Promise.all([left.close(), held.close()]);
  });

  it("is in memory, and trained there, once every parameter is trained", async () => {
    const path = await write(`${family} whole`, config);
    const [left, held] = [start(config), start(config)];
    await left.loadCheckpoint(path);
    await held.loadWeights(await left.readWeights());
    for (const engine of [left, held]) {
      await engine.accumulate(randomBatch({ rows: 2, length: 12, positions: 20, vocab: 61 }));
      await engine.step({ lr: 1e-2 });
    }
    const trained = await left.readWeights();
    expect(trained).toEqual(await held.readWeights());
    expect(trained).not.toEqual(new Map([...familyWeights(config, "BF16")].map(([name, { values }]) => [name, values])));
    expect(await use(left)).toEqual(await use(held));
    await Promise.all([left.close(), held.close()]);
  });
});

describe("what is refused", () => {
  const config = FAMILIES[families[0] ?? ""] ?? {};

  it("is a value that is no number, when it is loaded; the base before it goes on", async () => {
    const [good, bad] = [
      await write("good", config),
      await write("bad", config, (weights) => weights.get("model.norm.weight")?.values.fill(NaN, 3, 4)),
    ];
    const engine = start(config);
    await engine.loadCheckpoint(good);
    await expect(engine.loadCheckpoint(bad)).rejects.toMatchObject({
      code: "policy/refused",
      message: expect.stringContaining("tensor model.norm.weight of 64 bytes: finite values expected, got NaN at 3"),
    });
    const before = start(config);
    await before.loadCheckpoint(good);
    expect(await use(engine)).toEqual(await use(before));
    await Promise.all([engine.close(), before.close()]);
  });

  it("is a file that was written since it was opened: its tensors may be another base's", async () => {
    const path = await write("changed", config);
    const engine = start(config);
    await engine.loadCheckpoint(path);
    const file = join(path, "model-00001-of-00003.safetensors");
    await copyFile(file, `${file}.copy`);
    await writeFile(file, Buffer.alloc(64), { flag: "r+" });
    await utimes(file, new Date(), new Date(Date.now() + 5_000));
    await expect(use(engine)).rejects.toThrow(
      "model-00001-of-00003.safetensors: the file that was opened expected, got one that was written since",
    );
    await engine.close();
  });
});

it("takes no memory when it is loaded, and what sessions hold once it is used", async () => {
  const config = { ...FAMILIES[families[0] ?? ""], ...WEIGHTY };
  const all = listParameters(parseModelConfig(config)).map(({ name, shape, size }): [string, FloatTensor] => [
    name,
    { shape, values: new Float32Array(size).fill(0.01) },
  ]);
  const path = await writeFamily(join(folder, "large"), { config, weights: new Map(all), type: "BF16", shards: 3 });
  const script = new URL("left-growth.ts", import.meta.url).pathname;
  const told = execFileSync(process.execPath, ["--expose-gc", script, path], { encoding: "utf8" });
  const { loaded, trained, held } = z.object({ loaded: z.number(), trained: z.number(), held: z.number() }).parse(JSON.parse(told));
  expect(held).toBeGreaterThan(130e6); // every parameter in float32
  expect(loaded).toBeLessThan(held / 5);
  expect(trained).toBeGreaterThan(held);
  expect(trained).toBeLessThan(2.2 * held); // with a copy on the host it is 2.7 times as much
}, 120_000);
