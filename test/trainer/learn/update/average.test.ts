/** The mean of an adapter over its last steps, by hand. */
import { describe, expect, it } from "vitest";
import { AdapterAverage } from "../../../../trainer/learn/update/average.ts";

const adapter = (...values: number[]) => ({ rank: 1, alpha: 2, tensors: new Map([["a", Float32Array.from(values)]]) });
const valuesOf = (average: AdapterAverage): number[] => [...(average.adapter.tensors.get("a") ?? [])];

describe("AdapterAverage", () => {
  it("weighs the first steps alike, and from then on the newest by one over the reach", () => {
    const average = new AdapterAverage(2);
    average.add(adapter(1, 10));
    expect(valuesOf(average)).toEqual([1, 10]);
    average.add(adapter(3, 20)); // (1 + 3) / 2, (10 + 20) / 2
    expect(valuesOf(average)).toEqual([2, 15]);
    average.add(adapter(6, 0)); // 2 + (6 - 2) / 2, 15 + (0 - 15) / 2
    expect(valuesOf(average)).toEqual([4, 7.5]);
    expect(average.adapter).toMatchObject({ rank: 1, alpha: 2 });
  });

  it("with a reach of one is the last step", () => {
    const average = new AdapterAverage(1);
    for (const value of [5, 7]) average.add(adapter(value));
    expect(valuesOf(average)).toEqual([7]);
  });

  it("changes nothing of what it was given", () => {
    const [average, first] = [new AdapterAverage(4), adapter(1)];
    average.add(first);
    average.add(adapter(9));
    expect([...(first.tensors.get("a") ?? [])]).toEqual([1]);
    expect(() => new AdapterAverage(4).adapter).toThrow(/adapter to average/);
  });
});
