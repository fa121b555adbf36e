/** Decoding in the engine gives what a full forward pass would. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Engine } from "../../../trainer/engine/engine.ts";
import { Random } from "../../../trainer/random.ts";
import { spreadWeights, tinyConfig } from "../tiny.ts";

const random = new Random(7);
const prompts = [3, 70, 1, 64, 20].map((length) => Int32Array.from({ length }, () => Math.floor(random.next() * 19)));
const greedy = { prompts, maxTokens: 12, stopTokens: [], temperature: 0, seed: 0 };

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start({ config: tinyConfig({ max_position_embeddings: 80 }), threads: 1 });
  await engine.initialise({ seed: 1 });
  await engine.loadWeights(spreadWeights(await engine.readWeights()));
  await engine.createAdapter("tuned", { rank: 2, alpha: 4, targets: ["q_proj", "v_proj", "down_proj"], seed: 5 });
  const { tensors, ...shape } = await engine.readAdapter("tuned");
  await engine.loadAdapter("tuned", { ...shape, tensors: spreadWeights(tensors) });
});
afterAll(() => engine.close());

/** Scores prompt + answer in one pass: the log-probability and the most probable token at each answer position. */
async function scoreWhole(
  prompt: Int32Array,
  tokens: Int32Array,
  adapter?: string,
): Promise<{ logProbs: Float32Array; argmax: Int32Array }> {
  const whole = Int32Array.from([...prompt, ...tokens]);
  const positions = tokens.map((_, index) => prompt.length + index - 1);
  return engine.score(
    { rows: 1, length: whole.length, tokens: whole, positions, targets: tokens },
    adapter === undefined ? {} : { adapter },
  );
}

describe("Engine.generate", () => {
  it.each([undefined, "tuned"])("gives what a full forward pass would choose, for ragged prompts (adapter %s)", async (adapter) => {
    const answers = await engine.generate({ ...greedy, ...(adapter === undefined ? {} : { adapter }) });
    for (const [index, { tokens, logProbs }] of answers.entries()) {
      const prompt = prompts[index] ?? new Int32Array(0);
      const scored = await scoreWhole(prompt, tokens, adapter);
      expect([...tokens]).toEqual([...scored.argmax]);
      logProbs.forEach((logProb, place) => expect(logProb).toBeCloseTo(scored.logProbs[place] ?? 0, 4));
    }
  });

  it("answers more prompts than fit in the batches of all lanes as it answers each alone", async () => {
    const many = Array.from({ length: 150 }, (_, index) =>
      Int32Array.from({ length: 1 + (index % 60) }, () => Math.floor(random.next() * 19)),
    );
    const lanes = await Engine.start({ config: tinyConfig({ max_position_embeddings: 80 }), threads: 2 });
    try {
      await lanes.loadWeights(await engine.readWeights());
      const asked = { ...greedy, stopTokens: [3], temperature: 1 };
      const together = await lanes.generate({ ...asked, prompts: many });
      const [alone] = await engine.generate({ ...asked, prompts: many.slice(0, 1) });
      expect(together[0]?.tokens).toEqual(alone?.tokens);
      const one = await engine.generate({ ...asked, prompts: many });
      expect(together.map(({ tokens }) => [...tokens])).toEqual(one.map(({ tokens }) => [...tokens]));
    } finally {
      await lanes.close();
    }
  });

  it("answers differently with an adapter", async () => {
    const plain = await engine.generate(greedy);
    const tuned = await engine.generate({ ...greedy, adapter: "tuned" });
    expect(plain.map(({ tokens }) => [...tokens])).not.toEqual(tuned.map(({ tokens }) => [...tokens]));
  });

  it("ends at the end of the context", async () => {
    const [answer] = await engine.generate({ ...greedy, prompts: [prompts[1] ?? new Int32Array(1)], maxTokens: 50 });
    expect(answer?.tokens.length).toBe(10); // 80 positions, 70 of them the prompt's
  });

  it("ends at a stop token, which it keeps", async () => {
    const [free] = await engine.generate({ ...greedy, prompts: prompts.slice(0, 1) });
    const stop = free?.tokens[4] ?? -1;
    const [stopped] = await engine.generate({ ...greedy, prompts: prompts.slice(0, 1), stopTokens: [stop] });
    const end = [...(free?.tokens ?? [])].indexOf(stop) + 1;
    expect([...(stopped?.tokens ?? [])]).toEqual([...(free?.tokens.subarray(0, end) ?? [])]);
  });

  it("draws the same tokens for the same seed and index, whatever they are batched with", async () => {
    const drawn = { ...greedy, temperature: 1, seed: 11 };
    const together = await engine.generate(drawn);
    const [alone] = await engine.generate({ ...drawn, prompts: prompts.slice(0, 1) });
    const [other] = await engine.generate({ ...drawn, prompts: prompts.slice(0, 1), seed: 12 });
    expect([...(alone?.tokens ?? [])]).toEqual([...(together[0]?.tokens ?? [])]);
    expect([...(alone?.tokens ?? [])]).not.toEqual([...(other?.tokens ?? [])]);
  });

  it("refuses a prompt that fills the context", async () => {
    await expect(engine.generate({ ...greedy, prompts: [new Int32Array(80)] })).rejects.toMatchObject({ code: "input/invalid" });
  });
});
