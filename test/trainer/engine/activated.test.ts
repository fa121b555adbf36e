/** Activated adapters: what precedes the invocation is the bare base's, and only what follows is computed, trained, and differs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PositionBatch } from "../../../trainer/engine/batch.ts";
import { splitBatch } from "../../../trainer/engine/continued-batch.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { Random } from "../../../trainer/random.ts";
import { spreadWeights, tinyConfig } from "../tiny.ts";

const INVOCATION = [17, 18, 16];
const random = new Random(3);
const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 15));
const rows = [
  { prompt: [...draw(7), ...INVOCATION], answer: draw(5) },
  { prompt: [...draw(2), ...INVOCATION, ...draw(4), ...INVOCATION], answer: draw(3) },
];
/** What a template's arguments put behind it. */
const BEHIND = [4, 9];

/** Rows padded to the same length, positions to a multiple of four. */
function toBatch(): PositionBatch {
  const length = 24;
  const tokens = new Int32Array(rows.length * length);
  const [positions, targets]: [number[], number[]] = [[], []];
  rows.forEach(({ prompt, answer }, row) => {
    tokens.set([...prompt, ...answer], row * length);
    answer.forEach((token, index) => {
      positions.push(row * length + prompt.length + index - 1);
      targets.push(token);
    });
  });
  while (positions.length % 4 !== 0) [positions, targets].forEach((list) => list.push(0));
  return { rows: rows.length, length, tokens, positions: Int32Array.from(positions), targets: Int32Array.from(targets) };
}

const batch = toBatch();
const STEP = 1e-2;
const COUNT = rows.reduce((sum, { answer }) => sum + answer.length, 0);
let engine: Engine;
let tensors: Map<string, Float32Array>;

beforeAll(async () => {
  engine = await Engine.start({ config: tinyConfig({ max_position_embeddings: 96 }), threads: 1 });
  await engine.initialise({ seed: 1 });
  await engine.loadWeights(spreadWeights(await engine.readWeights()));
  await engine.createAdapter("made", { rank: 2, alpha: 4, targets: ["q_proj", "k_proj", "v_proj", "down_proj"], seed: 5 });
  tensors = spreadWeights((await engine.readAdapter("made")).tensors);
  await load("activated", INVOCATION);
  await load("everywhere");
});
afterAll(() => engine.close());

async function load(name: string, invocation?: number[], values = tensors): Promise<void> {
  await engine.loadAdapter(name, { rank: 2, alpha: 4, tensors: values, invocation });
}

const scoresOf = async (adapter?: string): Promise<number[]> =>
  [...(await engine.score(batch, adapter === undefined ? {} : { adapter })).logProbs].slice(0, COUNT);

describe("an activated adapter", () => {
  it("changes nothing where it is zero", async () => {
    await load(
      "zero",
      INVOCATION,
      new Map([...tensors].map(([name, values]) => [name, name.includes("lora_B") ? values.map(() => 0) : values])),
    );
    const [plain, zero] = [await scoresOf(), await scoresOf("zero")];
    zero.forEach((logProb, index) => expect(logProb).toBeCloseTo(plain[index] ?? 0, 5));
  });

  it("acts on the answer and its opening alone", async () => {
    const [plain, everywhere, activated] = [await scoresOf(), await scoresOf("everywhere"), await scoresOf("activated")];
    expect(activated).not.toEqual(plain);
    expect(activated).not.toEqual(everywhere);
    // Generation feeds a token at a time, after a prefill of its own: another way to the same numbers.
    for (const prompt of rows.flatMap((row) => [row.prompt, [...row.prompt, ...BEHIND]])) {
      const [answer] = await engine.generate({
        prompts: [Int32Array.from(prompt)],
        maxTokens: 4,
        stopTokens: [],
        temperature: 0,
        seed: 0,
        adapter: "activated",
      });
      const tokens = answer?.tokens ?? new Int32Array(0);
      const whole = Int32Array.from([...prompt, ...tokens]);
      const positions = tokens.map((_, index) => prompt.length + index - 1);
      const again = await engine.score(
        { rows: 1, length: whole.length, tokens: whole, positions, targets: tokens },
        { adapter: "activated" },
      );
      expect([...again.argmax]).toEqual([...tokens]);
      answer?.logProbs.forEach((logProb, index) => expect(again.logProbs[index]).toBeCloseTo(logProb, 4));
    }
  });

  it("has the gradient that finite differences show", async () => {
    const weights = Float32Array.from(batch.positions, (_, index) => (index < COUNT ? 1 - 0.1 * index : 0));
    const lossAt = async (values: Map<string, Float32Array>): Promise<number> => {
      await load("moved", INVOCATION, values);
      return (await scoresOf("moved")).reduce((sum, logProb, index) => sum - (weights[index] ?? 0) * logProb, 0);
    };
    await load("stepped", INVOCATION);
    await engine.accumulateAdapter("stepped", { ...batch, crossEntropy: { weights } });
    // With so large an ε, AdamW is gradient descent at rate lr/ε = 1.
    await engine.stepAdapter("stepped", { lr: 1e4, epsilon: 1e4, beta1: 0, beta2: 0, clipNorm: 1e9 });
    const stepped = (await engine.readAdapter("stepped")).tensors;
    for (const [name, values] of tensors) {
      const gradient = values.map((value, index) => value - (stepped.get(name)?.[index] ?? 0));
      const index = gradient.reduce((best, value, place) => (Math.abs(value) > Math.abs(gradient[best] ?? 0) ? place : best), 0);
      const nudged = (by: number): Map<string, Float32Array> =>
        new Map(
          [...tensors].map(([each, own]) => [
            each,
            each === name ? own.map((value, place) => (place === index ? value + by : value)) : own,
          ]),
        );
      const slope = ((await lossAt(nudged(STEP))) - (await lossAt(nudged(-STEP)))) / (2 * STEP);
      expect(Math.abs((gradient[index] ?? 0) - slope), `${name}[${index}]`).toBeLessThan(0.02 * Math.abs(slope) + 2e-3);
    }
  });

  it("refuses rows and prompts without its invocation", async () => {
    await load("elsewhere", [1, 17]);
    await expect(engine.score(batch, { adapter: "elsewhere" })).rejects.toMatchObject({
      code: "input/invalid",
      message: expect.stringMatching(/invocation 1,17/),
    });
    await expect(
      engine.generate({ prompts: [Int32Array.of(1, 2, 3)], maxTokens: 1, stopTokens: [], temperature: 0, seed: 0, adapter: "activated" }),
    ).rejects.toMatchObject({ code: "input/invalid", message: expect.stringMatching(/invocation 17,18,16/) });
    await expect(load("short", [17])).rejects.toMatchObject({ code: "input/invalid" });
  });
});

describe("splitBatch", () => {
  it("cuts where the last invocation before the answer begins", () => {
    const split = splitBatch(batch, INVOCATION);
    expect(split?.prefixes.map(({ length }) => length)).toEqual(rows.map(({ prompt }) => prompt.length - INVOCATION.length));
    const { length = 0, tokens = new Int32Array(0), positions = new Int32Array(0) } = split?.batch ?? {};
    rows.forEach(({ answer }, row) => {
      const end = row * length + INVOCATION.length + answer.length - 1;
      expect([...tokens.subarray(row * length, end)]).toEqual([...INVOCATION, ...answer.slice(0, -1)]);
    });
    expect([...positions].slice(0, 5)).toEqual([2, 3, 4, 5, 6]);
  });

  it("cuts nothing where a row predicts before any invocation, be it from its first token", () => {
    const positions = Int32Array.from([...batch.positions, batch.length]); // the second row's first token
    const targets = Int32Array.from([...batch.targets, 5]);
    expect(splitBatch({ ...batch, positions, targets }, INVOCATION)).toBeUndefined();
  });
});
