/** A deeper model computes what the shallower one did, until it is trained; then its new blocks learn, too. */
import { describe, expect, it } from "vitest";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { deepened } from "../../../trainer/pretrain/deepen.ts";
import { randomBatch, spreadWeights, tinyConfig } from "../tiny.ts";

const [shallow, deep] = [tinyConfig({ num_hidden_layers: 3 }), tinyConfig({ num_hidden_layers: 5 })];
const { weights: batchWeights, ...positions } = randomBatch({ rows: 2, length: 12, positions: 10 });

async function start(config: typeof shallow): Promise<EngineCore> {
  const engine = new EngineCore({ config, threads: 1 });
  await engine.initialise({ seed: 1 });
  return engine;
}

describe("deepened", () => {
  it("keeps every log-probability, and puts the new blocks among the old", async () => {
    const engine = await start(shallow);
    const weights = spreadWeights(await engine.readWeights());
    await engine.loadWeights(weights);
    const before = await engine.score(positions);
    const grown = await start(deep);
    await grown.loadWeights(deepened(weights, shallow, deep));
    expect((await grown.score(positions)).logProbs).toEqual(before.logProbs);

    const read = await grown.readWeights();
    const isNew = [0, 1, 2, 3, 4].map((block) => read.get(`model.layers.${block}.mlp.down_proj.weight`)?.every((value) => value === 0));
    expect(isNew).toEqual([false, true, false, true, false]);
    expect(read.get("model.layers.4.self_attn.q_proj.weight")).toEqual(weights.get("model.layers.2.self_attn.q_proj.weight"));

    await grown.accumulate({ ...positions, weights: batchWeights });
    await grown.step({ lr: 1e-3 });
    for (const block of [1, 3]) {
      const learnt = (await grown.readWeights()).get(`model.layers.${block}.self_attn.o_proj.weight`);
      expect(learnt?.some((value) => value !== 0)).toBe(true);
    }
    await Promise.all([engine.close(), grown.close()]);
  });

  it("refuses another width, and fewer layers", async () => {
    const weights = new Map<string, Float32Array>();
    expect(() => deepened(weights, shallow, tinyConfig({ num_hidden_layers: 5, intermediate_size: 20 }))).toThrow(
      "only layers can be added",
    );
    expect(() => deepened(weights, deep, shallow)).toThrow("the checkpoint has 5 layers, the run 3");
  });
});
