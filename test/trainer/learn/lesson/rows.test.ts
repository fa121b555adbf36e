/** Rows in static shapes: every answer token predicted from the position before it. */
import { describe, expect, it } from "vitest";
import { packRows, type Row, rowTokensOf } from "../../../../trainer/learn/lesson/rows.ts";

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
    expect(() => packRows([rowOf(131_073)])).toThrow("row 0: at most 131072 tokens expected, got 131073");
  });

  it("puts as many rows into a batch as attention has room for: one of 4,096 tokens, or sixteen of 1,024", () => {
    const counts = (length: number): number[] =>
      packRows(Array.from({ length: 17 }, () => rowOf(length))).map((each) => each.rowIndices.length);
    expect(counts(1_024)).toEqual([16, 1]);
    expect(counts(2_048)).toEqual([4, 4, 4, 4, 1]);
    expect(counts(4_000)).toEqual(Array.from({ length: 17 }, () => 1));
  });
});

describe("rowTokensOf", () => {
  it("is the base's context, at most what the settings allow, and no more than a graph that the context holds", () => {
    expect(rowTokensOf({ contextTokens: 1_024 })).toBe(1_024);
    expect(rowTokensOf({ contextTokens: 40_960 })).toBe(4_096);
    expect(rowTokensOf({ contextTokens: 40_960 }, 32_768)).toBe(32_768);
    expect(rowTokensOf({ contextTokens: 2_000 }, 32_768)).toBe(1_536);
  });
});

function rowOf(length: number): Row {
  return { prompt: Array.from({ length }, () => 1), answer: [2] };
}
