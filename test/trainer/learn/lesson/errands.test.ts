/** Errands as an update's trust region sees them: one shape, calls to keep, no two alike, and a loss that a change of policy raises. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linearNames } from "../../../../shared/lora.ts";
import { repliedTool } from "../../../../shared/wording.ts";
import { checkPositions } from "../../../../trainer/engine/batch.ts";
import { Engine } from "../../../../trainer/engine/engine.ts";
import { ErrandPools, Errands } from "../../../../trainer/learn/lesson/errand-pool.ts";
import { drawErrandBatch, drawErrandResult } from "../../../../trainer/learn/lesson/errands.ts";
import { OBJECTIVES } from "../../../../trainer/learn/update/objective.ts";
import { trainStep } from "../../../../trainer/learn/update/train.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import { Random } from "../../../../trainer/random.ts";

const { tokenizer, config } = readCheckpoint("base");

const draw = (random: Random) => drawErrandBatch(tokenizer, random, config);
const keptText = ({ targets, weights }: ReturnType<typeof draw>): string =>
  tokenizer.decode([...targets].filter((_, at) => (weights[at] ?? 0) > 0));

describe("drawErrandBatch", () => {
  it("has the same shape every time, so that one graph serves all steps", () => {
    const random = new Random(1);
    const batches = Array.from({ length: 5 }, () => draw(random));
    expect(new Set(batches.map(({ rows, length, positions }) => `${rows} ${length} ${positions.length}`)).size).toBe(1);
    for (const batch of batches) checkPositions(batch, config);
  });

  it("targets at each position the token that follows it", () => {
    const { tokens, positions, targets, weights } = draw(new Random(2));
    const kept = [...positions.keys()].filter((at) => (weights[at] ?? 0) > 0);
    expect(kept.length).toBeGreaterThan(100);
    for (const at of kept) expect(tokens[(positions[at] ?? 0) + 1]).toBe(targets[at]);
  });

  it("has an answer in every row, mostly calls, and nothing after it", () => {
    const batch = draw(new Random(3));
    const kept = [...batch.targets.keys()].filter((at) => (batch.weights[at] ?? 0) > 0);
    const rowOf = (at: number): number => Math.floor((batch.positions[at] ?? 0) / batch.length);
    const opens = tokenizer.specialIds.get("<tool_call>");
    expect(new Set(kept.map(rowOf)).size).toBe(batch.rows);
    expect(kept.filter((at) => batch.targets[at] === opens).length).toBeGreaterThanOrEqual(batch.rows / 2);
    for (let row = 0; row < batch.rows; row += 1) {
      const last = Math.max(...kept.filter((at) => rowOf(at) === row).map((at) => (batch.positions[at] ?? 0) + 1));
      expect(batch.tokens.slice(last + 1, (row + 1) * batch.length).every((token) => token === 0)).toBe(true);
    }
  });

  it("keeps of a reply where it begins alone: in which words the policy replies may change", () => {
    const opens = tokenizer.specialIds.get("<tool_call>");
    let replies = 0;
    for (const seed of [3, 6, 7, 8]) {
      const { positions, targets, weights, length } = draw(new Random(seed));
      const kept = [...targets.keys()].filter((at) => (weights[at] ?? 0) > 0);
      const rowOf = (at: number): number => Math.floor((positions[at] ?? 0) / length);
      for (const row of new Set(kept.map(rowOf))) {
        const places = kept.filter((at) => rowOf(at) === row);
        if (targets[places[0] ?? 0] === opens) continue;
        expect(places).toHaveLength(1);
        replies += 1;
      }
    }
    expect(replies).toBeGreaterThan(3);
  });

  it("draws other services every time, and the same for the same seed", () => {
    const random = new Random(4);
    const first = draw(random);
    expect(keptText(draw(random))).not.toBe(keptText(first));
    expect(draw(new Random(4))).toEqual(first);
  });

  it("keeps to a context that is shorter than its rows", () => {
    const batch = drawErrandBatch(tokenizer, new Random(5), { contextTokens: 384 });
    expect(batch.length).toBe(384);
    checkPositions(batch, { ...config, contextTokens: 384 });
  });
});

describe("trainStep, with errands", () => {
  let engine: Engine;

  beforeAll(async () => {
    engine = await Engine.start({ config, threads: 1 });
    await engine.loadCheckpoint("base");
  });
  afterAll(() => engine.close());

  it("costs nothing while the candidate is its parent, and something once it is not", async () => {
    await engine.createAdapter("candidate", { rank: 2, alpha: 4, targets: linearNames(), seed: 1 });
    const loss = (): Promise<number> =>
      trainStep(
        {
          engine,
          adapter: "candidate",
          objective: OBJECTIVES.hybrid,
          vocabSize: config.vocabSize,
          lr: 0,
          errands: new Errands(new ErrandPools(engine, { tokenizer, config }), { version: 0, parent: undefined }),
        },
        { step: 0, pace: 1, groups: [], corrected: [] },
      );
    expect(Math.abs(await loss())).toBeLessThan(1e-3);
    const random = new Random(7);
    const { tensors, ...rest } = await engine.readAdapter("candidate");
    const moved = [...tensors].map(([name, values]) => [name, values.map((value) => value + 0.2 * (random.next() - 0.5))] as const);
    await engine.loadAdapter("candidate", { ...rest, tensors: new Map(moved) });
    expect(await loss()).toBeGreaterThan(0.05);
  });
});

describe("drawErrandResult", () => {
  it("ends in what a tool of its own gave back, other tools' each time", () => {
    const random = new Random(4);
    const drawn = Array.from({ length: 12 }, () => drawErrandResult(random));
    for (const { messages, tools } of drawn) {
      expect(messages.at(-1)?.role).toBe("tool");
      expect(tools.map((tool) => tool.function.name)).toContain(repliedTool(messages));
    }
    expect(new Set(drawn.map(({ messages }) => repliedTool(messages))).size).toBeGreaterThan(8);
  });
});
