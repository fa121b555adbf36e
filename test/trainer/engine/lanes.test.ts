/** Batches shared out between lanes: the same scores, answers, losses and steps as on one, and the same bits each time. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Engine } from "../../../trainer/engine/engine.ts";
import type { LossBatch } from "../../../trainer/engine/loss-batch.ts";
import { countShares, shareOut } from "../../../trainer/engine/shares.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, spreadWeights, tinyConfig } from "../tiny.ts";

const VOCAB = 19;
const INVOCATION = [17, 18, 16];
const LENGTH = 40;
const random = new Random(3);
const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 15));
const rows = [21, 4, 17, 9, 30, 12, 25].map((length) => ({ prompt: [...draw(length), ...INVOCATION], answer: draw(5) }));
const COUNT = 5 * rows.length;
const SIZE = 64; // padded

/** Every kind of term over the rows' answers, padding behind them. */
function toBatch(): LossBatch {
  const tokens = new Int32Array(rows.length * LENGTH);
  const [positions, targets] = [new Int32Array(SIZE), new Int32Array(SIZE)];
  rows.forEach(({ prompt, answer }, row) => {
    tokens.set([...prompt, ...answer.slice(0, -1)], row * LENGTH);
    answer.forEach((token, index) => {
      positions[5 * row + index] = row * LENGTH + prompt.length + index - 1;
      targets[5 * row + index] = token;
    });
  });
  const each = (value: (index: number) => number, width = 1): Float32Array =>
    Float32Array.from({ length: SIZE * width }, (_, index) => (index < COUNT * width ? value(index) : 0));
  const candidates = Int32Array.from({ length: SIZE * 2 }, (_, index) => (index % 2 === 0 ? 1 : 2 + (index % 7)));
  const bounds = { clipLow: 0.2, clipHigh: 0.28 };
  const weights = each((index) => 0.1 + (index % 5) / 10);
  return {
    rows: rows.length,
    length: LENGTH,
    tokens,
    positions,
    targets,
    crossEntropy: { weights },
    forwardKl: { weights, teacherLogProbs: each(() => -Math.log(VOCAB), VOCAB) },
    policy: {
      weights,
      advantages: each((index) => (index % 3) - 1),
      oldLogProbs: each(() => -3),
      // Of the second row's first token, and of the last row's last.
      masks: new Map([5, COUNT - 1].map((index) => [index, { kind: "allow", ids: [3, targets[index] ?? 0] } as const])),
      ...bounds,
    },
    distillation: { weights, candidates, advantages: each((index) => (index % 4) - 1.5, 2), oldLogProbs: each(() => -3, 2), ...bounds },
  };
}

const batch = toBatch();
const engines: Engine[] = [];

beforeAll(async () => {
  let tensors: Map<string, Float32Array> | undefined;
  for (const threads of [1, 2, 3]) {
    const engine = await Engine.start({ config: tinyConfig({ max_position_embeddings: 96 }), threads });
    engines.push(engine);
    await engine.initialise({ seed: 1 });
    await engine.loadWeights(spreadWeights(await engine.readWeights()));
    const made = { rank: 2, alpha: 4, targets: ["q_proj", "k_proj", "v_proj", "down_proj"] };
    await engine.createAdapter("a", { ...made, seed: 5 });
    tensors ??= spreadWeights((await engine.readAdapter("a")).tensors);
    await engine.loadAdapter("activated", { rank: 2, alpha: 4, tensors, invocation: INVOCATION });
    await engine.loadAdapter("everywhere", { rank: 2, alpha: 4, tensors });
  }
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const onEach = <Result>(ask: (engine: Engine) => Promise<Result>): Promise<Result[]> => Promise.all(engines.map(ask));

describe.each(["activated", "everywhere"])("an adapter that acts %s, on one, two and three lanes", (adapter) => {
  it("scores alike", async () => {
    const [one, ...others] = await onEach((engine) => engine.score(batch, { adapter, fullLogProbs: true, topK: 3 }));
    for (const other of others) {
      expect(relativeError(other.logProbs.subarray(0, COUNT), one?.logProbs.subarray(0, COUNT) ?? [])).toBeLessThan(1e-5);
      expect(other.argmax.slice(0, COUNT)).toEqual(one?.argmax.slice(0, COUNT));
      expect(other.topK?.tokens.slice(0, 3 * COUNT)).toEqual(one?.topK?.tokens.slice(0, 3 * COUNT));
      expect(relativeError(other.full?.subarray(0, VOCAB * COUNT) ?? [], one?.full?.subarray(0, VOCAB * COUNT) ?? [])).toBeLessThan(1e-5);
    }
  });

  it("answers alike, whatever is drawn with what", async () => {
    const prompts = rows.map(({ prompt }) => Int32Array.from(prompt));
    const asked = { prompts, maxTokens: 12, stopTokens: [2], temperature: 1, seed: 4, adapter };
    const [one, ...others] = await onEach((engine) => engine.generate(asked));
    expect(new Set(one?.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(3);
    for (const other of others) expect(other.map(({ tokens }) => [...tokens])).toEqual(one?.map(({ tokens }) => [...tokens]));
  });

  it("loses and learns alike, the same bits each time", async () => {
    const learnt = await onEach(async (engine) => {
      const from = await engine.readAdapter(adapter);
      const runs = [];
      for (const name of ["first", "second"]) {
        await engine.loadAdapter(name, from);
        await engine.forgetPrefixes();
        const { losses, logProbs } = await engine.accumulateAdapter(name, batch);
        await engine.stepAdapter(name, { lr: 1e4, epsilon: 1e4, beta1: 0, beta2: 0, clipNorm: 1e9 });
        runs.push({ losses, logProbs: logProbs.slice(0, COUNT), tensors: (await engine.readAdapter(name)).tensors });
      }
      expect(runs[1]).toEqual(runs[0]);
      return runs[0];
    });
    const [one, ...others] = learnt;
    for (const other of others) {
      expect(relativeError(other?.logProbs ?? [], one?.logProbs ?? [])).toBeLessThan(1e-5);
      for (const [name, loss] of Object.entries(one?.losses ?? {}))
        expect(other?.losses[name as keyof typeof other.losses], name).toBeCloseTo(loss, 4);
      for (const [name, values] of one?.tensors ?? [])
        expect(relativeError(other?.tensors.get(name) ?? [], values), name).toBeLessThan(1e-4);
    }
  });

  it("refuse what one refuses", async () => {
    const refused = await onEach((engine) =>
      engine
        .accumulateAdapter(adapter, { ...batch, crossEntropy: { weights: new Float32Array(SIZE).fill(Number.NaN, 3, 4) } })
        .then(String, (error: Error) => error.message),
    );
    expect(refused).toEqual(new Array(3).fill("crossEntropy.weights[3]: a finite value expected, got NaN"));
  });
});

it("scores every target asked for at the first token, and loses what weighs there", async () => {
  const places = { positions: Int32Array.of(0, 0, LENGTH + 3, 0, 9), targets: Int32Array.of(4, 5, 1, 6, 2) };
  const [one, ...others] = await onEach((engine) => engine.score({ ...batch, ...places }, { adapter: "everywhere" }));
  expect(new Set(one?.logProbs).size).toBe(5);
  for (const { logProbs } of others) expect(relativeError(logProbs, one?.logProbs ?? [])).toBeLessThan(1e-5);
  const { rows: height, length, tokens } = batch;
  const weighted = { rows: height, length, tokens, ...places, crossEntropy: { weights: Float32Array.of(0, 0, 1, 1, 1) } };
  const losses = await onEach(async (engine) => (await engine.accumulateAdapter("everywhere", weighted)).losses.crossEntropy);
  for (const loss of losses) expect(loss).toBeCloseTo(losses[0] ?? 0, 4);
  const twice = { ...weighted, crossEntropy: { weights: new Float32Array(5).fill(1) } };
  const refused = await onEach((engine) => engine.accumulateAdapter("everywhere", twice).then(String, (error: Error) => error.message));
  expect(new Set(refused)).toEqual(new Set(["positions[1]: a position weighted once expected, got 0 again"]));
});

describe("shareOut", () => {
  const shares = (costs: number[], count: number): number[][] =>
    shareOut({ ...batch, rows: costs.length }, { count, costs, pick: () => ({}) }).map(({ from, to }) => [from, to]);

  it("cuts between rows where the costs are nearest to even, and gives each lane some", () => {
    expect(shares([1, 1, 1, 1], 2)).toEqual([
      [0, 2],
      [2, 4],
    ]);
    expect(shares([3, 1, 1, 1], 2)).toEqual([
      [0, 1],
      [1, 4],
    ]);
    expect(shares([1, 1, 1, 3], 2)).toEqual([
      [0, 3],
      [3, 4],
    ]);
    expect(shares([9, 1, 1], 3).map(([from]) => from)).toEqual([0, 1, 2]);
    expect(shares([1, 1], 4).map(([from]) => from)).toEqual([0, 1]);
  });

  it("has each position once, and leaves out the padding behind them", () => {
    const parts = shareOut(batch, { count: 3, costs: rows.map(() => 1), pick: () => ({}) });
    expect(parts.flatMap(({ indices }) => [...indices])).toEqual(Array.from({ length: COUNT }, (_, index) => index));
    for (const { batch: share, from, indices } of parts)
      indices.forEach((index, place) => expect(share.positions[place]).toBe((batch.positions[index] ?? 0) - from * LENGTH));
  });
});

describe("countShares", () => {
  it.each([
    { rows: 8, length: 256, lanes: 2, count: 4 },
    { rows: 9, length: 256, lanes: 2, count: 5 },
    { rows: 2, length: 64, lanes: 2, count: 2 },
    { rows: 8, length: 256, lanes: 1, count: 1 },
  ])("of $rows × $length tokens on $lanes lanes is $count", ({ count, lanes, ...whole }) => {
    expect(countShares(whole, { lanes })).toBe(count);
  });
});
