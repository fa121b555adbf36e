/** Answers of a base that is run a layer at a time are those of the same base as one graph, and its weights do not cross for every token. */
import { describe, expect, it } from "vitest";
import { EngineCore } from "../../../trainer/engine/core.ts";
import type { Generation } from "../../../trainer/engine/generator.ts";
import type { EngineOptions } from "../../../trainer/engine/protocol.ts";
import { Random } from "../../../trainer/random.ts";
import { spreadWeights, tinyConfig } from "../tiny.ts";

const INVOCATION = [17, 18, 16];
const random = new Random(7);
const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 15));
const opening = draw(140);
// Ragged, and two that begin alike for longer than a prefix has to be shared to be gone on from.
const prompts = [draw(3), [...opening, ...draw(30)], [...opening, ...draw(9)], draw(1), draw(64)].map((tokens) =>
  Int32Array.from([...tokens, ...INVOCATION]),
);
const asked = { maxTokens: 12, stopTokens: [], temperature: 0, seed: 0 };
const BY_LAYER = { keptBytes: 0, logitBytes: 2 ** 20 };

async function engineOf(config: EngineOptions["config"], options: Partial<EngineOptions>): Promise<EngineCore> {
  const engine = new EngineCore({ config, threads: 1, ...options });
  await engine.initialise({ seed: 1 });
  await engine.loadWeights(spreadWeights(await engine.readWeights()));
  await engine.createAdapter("made", { rank: 2, alpha: 6, targets: ["q_proj", "v_proj", "down_proj"], seed: 5 });
  const tensors = spreadWeights((await engine.readAdapter("made")).tensors);
  await engine.loadAdapter("everywhere", { rank: 2, alpha: 6, tensors });
  await engine.loadAdapter("activated", { rank: 2, alpha: 6, tensors, invocation: INVOCATION });
  return engine;
}

const ADAPTERS = [{}, { adapter: "everywhere" }, { adapter: "activated" }];

/** Under the base, an adapter and an activated one; by lot under the last. */
async function answers(options: Partial<EngineOptions>): Promise<Generation[]> {
  const engine = await engineOf(tinyConfig({ num_hidden_layers: 3, max_position_embeddings: 256 }), options);
  try {
    const greedy: Generation[] = [];
    for (const adapter of ADAPTERS) greedy.push(...(await engine.generate({ ...asked, prompts, ...adapter })));
    return [...greedy, ...(await engine.generate({ ...asked, prompts, temperature: 1, seed: 3, adapter: "activated" }))];
  } finally {
    await engine.close();
  }
}

describe("a layer at a time", () => {
  it.each(["inputs", "device"] as const)("every answer is that of one graph: %s", async (placement) => {
    const [layered, whole] = [await answers({ byLayer: BY_LAYER, placement }), await answers({ byLayer: false })];
    expect(layered).toHaveLength(4 * prompts.length);
    expect(layered.map(({ tokens }) => [...tokens])).toEqual(whole.map(({ tokens }) => [...tokens]));
    expect(new Set(whole.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(prompts.length); // adapters matter
    layered.forEach(({ logProbs }, index) =>
      logProbs.forEach((logProb, place) => expect(logProb).toBeCloseTo(whole[index]?.logProbs[place] ?? Number.NaN, 4)),
    );
  });

  it("what crosses for a token is little beside the weights, where these are held", async () => {
    const wide = tinyConfig({ hidden_size: 128, intermediate_size: 512, head_dim: 32, num_hidden_layers: 4, vocab_size: 256 });
    const engine = await engineOf(wide, { byLayer: BY_LAYER, placement: "device" });
    const weightBytes = [...(await engine.readWeights()).values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    const [prompt] = prompts.slice(-1);
    const bytesFor = async (maxTokens: number, adapter: string): Promise<number> => {
      const before = engine.bytesMoved;
      await engine.generate({ ...asked, prompts: [prompt ?? new Int32Array(1)], maxTokens, adapter });
      return engine.bytesMoved - before;
    };
    for (const adapter of ["everywhere", "activated"])
      expect((await bytesFor(9, adapter)) - (await bytesFor(1, adapter))).toBeLessThan(8 * 0.25 * weightBytes);
    await engine.close();
  });
});
