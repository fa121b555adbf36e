/** What a graph needs of memory, counted by hand. */
import { expect, it } from "vitest";
import { add, concat, exp, neg, reshape } from "../../../trainer/autodiff/build.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { largestBytes, peakBytes } from "../../../trainer/onnx/peak.ts";

it("holds every value until the last operator that reads it, and outputs to the end", () => {
  const graph = new Graph();
  const x = graph.input("x", [10]);
  const first = neg(x);
  const second = exp(first);
  const third = neg(second); // first is not read again, but for the sum at the end
  // 40 bytes each: at the sum first, third and itself are held; before it first, second and third.
  expect(peakBytes({ sum: add(first, reshape(third, [10])) })).toBe(120);
  // Without the sum two at a time, one of them an output.
  expect(peakBytes({ third })).toBe(80);
  expect(peakBytes({ first, third })).toBe(120);
});

it("names the largest value that is made, outputs among them, and no input", () => {
  const graph = new Graph();
  const [short, long] = [graph.input("short", [10]), graph.input("long", [100])];
  expect(largestBytes({ sum: neg(short) })).toBe(40);
  expect(largestBytes({ all: concat([neg(short), long], 0) })).toBe(440);
});
