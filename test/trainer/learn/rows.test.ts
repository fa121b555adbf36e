/** Rows in static shapes: every answer token predicted from the position before it. */
import { describe, expect, it } from "vitest";
import { packRows } from "../../../trainer/learn/rows.ts";

describe("packRows", () => {
  it("predicts each answer token from the position before it", () => {
    // row: prompt 7 8 9, answer 4 5 → tokens 7 8 9 4 0 …; positions 2 and 3 predict 4 and 5
    const [packed] = packRows([{ prompt: [7, 8, 9], answer: [4, 5] }]);
    expect([...(packed?.batch.tokens.slice(0, 6) ?? [])]).toEqual([7, 8, 9, 4, 0, 0]);
    expect([...(packed?.batch.positions.slice(0, 2) ?? [])]).toEqual([2, 3]);
    expect([...(packed?.batch.targets.slice(0, 2) ?? [])]).toEqual([4, 5]);
    expect(packed?.batch.weights.reduce((sum, weight) => sum + weight, 0)).toBe(2);
  });

  it("places every row once, whatever its length", () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({ prompt: Array.from({ length: 20 + index * 20 }, () => 1), answer: [2, 3] }));
    const seen = packRows(rows).flatMap(({ rowIndices }) => rowIndices);
    expect(seen.toSorted((a, b) => a - b)).toEqual(rows.map((_, index) => index));
  });

  it("refuses a row that no graph holds, naming it", () => {
    expect(() => packRows([{ prompt: Array.from({ length: 1_100 }, () => 1), answer: [2] }])).toThrow(
      "row 0: at most 1024 tokens expected, got 1100",
    );
  });
});
