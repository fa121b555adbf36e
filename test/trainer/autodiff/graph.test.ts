/** The graph shares nodes and refuses what does not fit; gradients take no detour. */
import { describe, expect, it } from "vitest";
import { add, fusedMatMul, gemm, mul, reduceSum } from "../../../trainer/autodiff/build.ts";
import { gradients } from "../../../trainer/autodiff/grad.ts";
import { Graph, type Node, liveNodes } from "../../../trainer/autodiff/graph.ts";

function opsOf(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ source, type }) => (source.kind === "op" ? [`${source.application.op} [${type.shape}]`] : []));
}

describe("Graph", () => {
  it("gives one node for the same operator on the same inputs", () => {
    const graph = new Graph();
    const x = graph.input("x", [2, 3]);
    expect(add(x, graph.scalar(1))).toBe(add(x, graph.scalar(1)));
    expect(add(x, graph.scalar(1))).not.toBe(add(x, graph.scalar(2)));
  });

  it("leaves out what the outputs do not depend on", () => {
    const graph = new Graph();
    const [x, y] = [graph.input("x", [2]), graph.input("y", [2])];
    const kept = add(x, x);
    mul(y, kept);
    expect(liveNodes([kept]).map(({ name }) => name)).toEqual(["x", kept.name]);
  });

  it("refuses an input whose name could collide with a generated one", () => {
    const graph = new Graph();
    graph.input("x", [1]);
    expect(() => graph.input("x", [1])).toThrow(/unique/);
    expect(() => graph.input("/x", [1])).toThrow(/leading/);
  });

  it("refuses shapes that do not fit, naming them", () => {
    const graph = new Graph();
    expect(() => add(graph.input("a", [2, 3]), graph.input("b", [2, 4]))).toThrow("broadcastable shapes expected, got [2,3] and [2,4]");
    expect(() => gemm(graph.input("c", [2, 3]), graph.input("d", [2, 3]))).toThrow("equal inner dimensions expected, got [2,3] and [2,3]");
  });
});

describe("gradients", () => {
  it("keeps the gradient of a product of matrices two products, with no larger value between", () => {
    const graph = new Graph();
    const [x, w] = [graph.input("x", [5, 3]), graph.input("w", [4, 3])];
    const loss = reduceSum(gemm(x, w, { transB: true }), [0, 1]);
    const found = gradients(loss, [x, w]).flatMap((gradient) => gradient ?? []);
    expect(opsOf(liveNodes(found))).toEqual(["Reshape [1,1]", "Expand [5,4]", "Gemm [5,3]", "Gemm [4,3]"]);
  });

  it("sums a cotangent over the axes its input was broadcast along", () => {
    const graph = new Graph();
    const bias = graph.input("bias", [1, 3]);
    const [gradient] = gradients(reduceSum(mul(graph.input("x", [2, 5, 3]), bias), [0, 1, 2]), [bias]);
    expect(gradient?.type.shape).toEqual([1, 3]);
  });

  it("has none for what the loss does not depend on", () => {
    const graph = new Graph();
    const [x, y] = [graph.input("x", [2]), graph.input("y", [2])];
    expect(gradients(reduceSum(x, [0]), [y])).toEqual([null]);
  });

  it("reads shared keys in place: a batched product's gradient moves rows, never copies a head per query group", () => {
    const graph = new Graph();
    const [q, k] = [graph.input("q", [7, 2, 3, 4]), graph.input("k", [7, 2, 1, 4])];
    const loss = reduceSum(fusedMatMul(q, k, { transBatchA: true, transBatchB: true, transB: true }), [0, 1, 2, 3]);
    const largest = Math.max(
      ...liveNodes(gradients(loss, [q]).flatMap((g) => g ?? [])).map(({ type }) => type.shape.reduce((a, b) => a * b, 1)),
    );
    expect(largest).toBe(2 * 3 * 7 * 7); // the scores themselves
  });
});
