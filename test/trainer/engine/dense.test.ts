/** Batches of answers that differ much in length: computed without their padding, they give what each row gives alone. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPadding } from "../../../trainer/engine/dense.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import type { LossBatch } from "../../../trainer/engine/loss-batch.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, spreadWeights, tinyConfig } from "../tiny.ts";

const INVOCATION = [17, 18, 16];
const LENGTH = 64;
const random = new Random(4);
const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 15));
const rows = [3, 30, 2, 2, 25, 3, 1, 2, 2, 4, 2, 2].map((length, row) => ({
  prompt: [...draw(5 + 2 * row), ...INVOCATION],
  answer: draw(length),
}));

function toBatch(some: typeof rows): LossBatch {
  const tokens = new Int32Array(some.length * LENGTH);
  const [positions, targets]: [number[], number[]] = [[], []];
  some.forEach(({ prompt, answer }, row) => {
    tokens.set([...prompt, ...answer.slice(0, -1)], row * LENGTH);
    answer.forEach((token, index) => {
      positions.push(row * LENGTH + prompt.length + index - 1);
      targets.push(token);
    });
  });
  // The same for a row wherever it stands.
  const weights = Float32Array.from(some.flatMap(({ answer }) => answer.map((token, index) => 0.2 + 0.1 * ((token + index) % 4))));
  return {
    ...{ rows: some.length, length: LENGTH, tokens, positions: Int32Array.from(positions), targets: Int32Array.from(targets) },
    crossEntropy: { weights },
  };
}

describe("withoutPadding", () => {
  it("names the cell of each token, and the token in each cell", () => {
    // Rows of 40 cells, of which the first predicts at 0 and 2, the second at 1, the third at 0.
    const short = {
      rows: 3,
      length: 40,
      tokens: Int32Array.from({ length: 120 }, (_, index) => index),
      targets: new Int32Array(4).fill(1),
    };
    const dense = withoutPadding({ ...short, positions: Int32Array.of(0, 2, 41, 80) });
    expect(dense?.batch).toMatchObject({ rows: 1, length: 64 });
    expect([...(dense?.batch.tokens.slice(0, 7) ?? [])]).toEqual([0, 1, 2, 40, 41, 80, 0]);
    expect([...(dense?.batch.positions ?? [])]).toEqual([0, 2, 4, 5]);
    expect([...(dense?.cells.slice(0, 7) ?? [])]).toEqual([0, 3, 6, 1, 4, 2, 120]);
    expect([...(dense?.held.slice(0, 8) ?? [])]).toEqual([0, 3, 5, 1, 4, 64, 2, 64]);
  });

  it("leaves alone what has little of it", () => {
    const full = { rows: 2, length: 40, tokens: new Int32Array(80), targets: new Int32Array(2).fill(1) };
    expect(withoutPadding({ ...full, positions: Int32Array.of(39, 79) })).toBeUndefined();
  });
});

describe.each([1, 2])("an engine of %s lanes", (threads) => {
  let engine: Engine;

  beforeAll(async () => {
    engine = await Engine.start({ config: tinyConfig({ max_position_embeddings: 96 }), threads });
    await engine.initialise({ seed: 1 });
    await engine.loadWeights(spreadWeights(await engine.readWeights()));
    await engine.createAdapter("made", { rank: 2, alpha: 4, targets: ["q_proj", "k_proj", "v_proj", "o_proj", "down_proj"], seed: 5 });
    const tensors = spreadWeights((await engine.readAdapter("made")).tensors);
    for (const name of ["together", "alone"]) await engine.loadAdapter(name, { rank: 2, alpha: 4, tensors, invocation: INVOCATION });
  });
  afterAll(() => engine.close());

  it("scores them as it scores each row alone", async () => {
    const { logProbs } = await engine.score(toBatch(rows), { adapter: "together" });
    const alone: number[] = [];
    for (const row of rows) alone.push(...(await engine.score(toBatch([row]), { adapter: "alone" })).logProbs);
    expect(relativeError(logProbs, alone)).toBeLessThan(1e-5);
  });

  it("has the gradient of all rows together that they have one after the other", async () => {
    const { losses } = await engine.accumulateAdapter("together", toBatch(rows));
    let sum = 0;
    for (const row of rows) sum += (await engine.accumulateAdapter("alone", toBatch([row]))).losses.crossEntropy ?? 0;
    expect(losses.crossEntropy).toBeCloseTo(sum, 4);
    // With so large an ε, AdamW is gradient descent at rate lr/ε = 1.
    for (const name of ["together", "alone"]) await engine.stepAdapter(name, { lr: 1e4, epsilon: 1e4, beta1: 0, beta2: 0, clipNorm: 1e9 });
    const [together, alone] = [await engine.readAdapter("together"), await engine.readAdapter("alone")];
    for (const [name, values] of together.tensors) expect(relativeError(values, alone.tensors.get(name) ?? []), name).toBeLessThan(1e-4);
  });
});
