/** Errands as an update's trust region sees them: one shape, calls to keep, and no two alike. */
import { describe, expect, it } from "vitest";
import { checkPositions } from "../../../trainer/engine/batch.ts";
import { drawErrandBatch } from "../../../trainer/learn/errands.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { Random } from "../../../trainer/random.ts";

const { tokenizer, config } = readCheckpoint("base");

const keptText = ({ targets, weights }: ReturnType<typeof drawErrandBatch>): string =>
  tokenizer.decode([...targets].filter((_, at) => weights[at] === 1));

describe("drawErrandBatch", () => {
  it("has the same shape every time, so that one graph serves all steps", () => {
    const random = new Random(1);
    const batches = Array.from({ length: 5 }, () => drawErrandBatch(tokenizer, random));
    expect(new Set(batches.map(({ rows, length, positions }) => `${rows} ${length} ${positions.length}`)).size).toBe(1);
    for (const batch of batches) checkPositions(batch, config);
  });

  it("targets at each position the token that follows it", () => {
    const { tokens, positions, targets, weights } = drawErrandBatch(tokenizer, new Random(2));
    const kept = [...positions.keys()].filter((at) => weights[at] === 1);
    expect(kept.length).toBeGreaterThan(100);
    for (const at of kept) expect(tokens[(positions[at] ?? 0) + 1]).toBe(targets[at]);
  });

  it("holds whole calls in every row", () => {
    const text = keptText(drawErrandBatch(tokenizer, new Random(3)));
    expect(text.match(/\{"name": "/g)?.length).toBeGreaterThanOrEqual(4);
    expect(text.match(/\}\}/g)?.length).toBe(text.match(/\{"name": "/g)?.length);
  });

  it("draws other services every time, and the same for the same seed", () => {
    const random = new Random(4);
    const first = drawErrandBatch(tokenizer, random);
    expect(keptText(drawErrandBatch(tokenizer, random))).not.toBe(keptText(first));
    expect(drawErrandBatch(tokenizer, new Random(4))).toEqual(first);
  });
});
