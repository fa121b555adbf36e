/** Every operator of the table: its shape rule and its derivative against what ONNX Runtime computes. */
import { describe, expect, it } from "vitest";
import * as build from "../../../trainer/autodiff/build.ts";
import { gradients } from "../../../trainer/autodiff/grad.ts";
import { Graph, type Node } from "../../../trainer/autodiff/graph.ts";
import { OP_TABLE, type OpName } from "../../../trainer/autodiff/op-table.ts";
import { nonDifferentiable } from "../../../trainer/autodiff/op-def.ts";
import { type Shape, sizeOf } from "../../../trainer/autodiff/shape.ts";
import { Random } from "../../../trainer/random.ts";
import { encodeModel } from "../../../trainer/onnx/encode.ts";
import { GraphSession } from "../../../trainer/onnx/session.ts";

type Case = {
  /** Shapes of the inputs differentiated. */
  readonly shapes: readonly Shape[];
  readonly build: (inputs: readonly Node[]) => Node;
  /** Maps standard normal values into the operator's domain. */
  readonly domain?: (value: number) => number;
};

const positive = (value: number): number => 0.5 + Math.abs(value);
const indices = (graph: Graph, values: readonly number[], shape: Shape): Node => graph.constant(Int32Array.from(values), shape);
const binary = (apply: (a: Node, b: Node) => Node, domain?: Case["domain"]): Case => ({
  shapes: [
    [3, 1, 4],
    [2, 4],
  ], // broadcast on both sides
  build: ([a, b]) => apply(node(a), node(b)),
  ...(domain && { domain }),
});
const unary = (apply: (x: Node) => Node, domain?: Case["domain"]): Case => ({
  shapes: [[3, 5]],
  build: ([x]) => apply(node(x)),
  ...(domain && { domain }),
});

function node(found: Node | undefined): Node {
  if (found === undefined) throw new Error("a node expected");
  return found;
}

function angles(graph: Graph): { cos: Node; sin: Node } {
  const values = Float32Array.from({ length: 10 }, (_, index) => 0.3 * index);
  return { cos: graph.constant(values.map(Math.cos), [5, 2]), sin: graph.constant(values.map(Math.sin), [5, 2]) };
}

/** Differentiable operators with the layouts the model uses. A list tries several attributes. */
const CASES: Partial<Record<OpName, Case | readonly Case[]>> = {
  Add: binary(build.add),
  Sub: binary(build.sub),
  Mul: binary(build.mul),
  Div: binary(build.div, positive),
  Min: binary(build.min),
  Max: binary(build.max),
  Where: binary((a, b) =>
    build.where(a.graph.apply("Less", [a.graph.constant(Float32Array.of(1, 2, 3, 4), [4]), a.graph.scalar(2.5)], {}), a, b),
  ),
  Clip: unary((x) => build.clip(x, -0.8, 0.6)),
  Neg: unary(build.neg),
  Exp: unary(build.exp),
  Log: unary(build.log, positive),
  Sqrt: unary(build.sqrt, positive),
  Reciprocal: unary(build.reciprocal, positive),
  Sigmoid: unary(build.sigmoid),
  Gemm: [false, true].flatMap((transA) =>
    [false, true].map((transB) => ({
      shapes: [transA ? [4, 3] : [3, 4], transB ? [5, 4] : [4, 5]],
      build: ([a, b]: readonly Node[]) => build.gemm(node(a), node(b), { transA, transB, alpha: 0.7 }),
    })),
  ),
  FusedMatMul: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((bits) => {
    const [transA, transB, transBatchA, transBatchB] = [1, 2, 4, 8].map((bit) => (bits & bit) !== 0);
    const layout = (
      rows: number,
      columns: number,
      { batch, trans, transBatch }: { batch: number; trans: boolean; transBatch: boolean },
    ): Shape => {
      const [first, last] = trans ? [columns, rows] : [rows, columns];
      return transBatch ? [first, 2, batch, last] : [2, batch, first, last]; // batch [2, 3] against [2, 1]
    };
    return {
      shapes: [
        layout(3, 4, { batch: 3, trans: transA ?? false, transBatch: transBatchA ?? false }),
        layout(4, 5, { batch: 1, trans: transB ?? false, transBatch: transBatchB ?? false }),
      ],
      build: ([a, b]: readonly Node[]) =>
        build.fusedMatMul(node(a), node(b), {
          transA: transA ?? false,
          transB: transB ?? false,
          transBatchA: transBatchA ?? false,
          transBatchB: transBatchB ?? false,
          alpha: 0.5,
        }),
    };
  }),
  Softmax: unary(build.softmax),
  LogSoftmax: unary(build.logSoftmax),
  RotaryEmbedding: {
    shapes: [[4, 1, 8]],
    build: ([x]) => build.rotaryEmbedding(node(x), node(x).graph.constant(BigInt64Array.of(0n, 1n, 4n, 2n), [4, 1]), angles(node(x).graph)),
  },
  ReduceSum: [true, false].map((keepdims) => ({
    shapes: [[2, 3, 4]],
    build: ([x]: readonly Node[]) => build.reduceSum(node(x), [0, 2], keepdims),
  })),
  ReduceMean: [true, false].map((keepdims) => ({
    shapes: [[2, 3, 4]],
    build: ([x]: readonly Node[]) => build.reduceMean(node(x), [1], keepdims),
  })),
  ReduceMax: [true, false].map((keepdims) => ({
    shapes: [[2, 3, 4]],
    build: ([x]: readonly Node[]) => build.reduceMax(node(x), [-1], keepdims),
  })),
  Reshape: unary((x) => build.reshape(x, [5, 3])),
  Expand: { shapes: [[3, 1]], build: ([x]) => build.expand(node(x), [2, 3, 4]) },
  Transpose: { shapes: [[2, 3, 4]], build: ([x]) => build.transpose(node(x), [2, 0, 1]) },
  Slice: { shapes: [[4, 5]], build: ([x]) => build.slice(node(x), 1, [1, 4]) },
  Pad: { shapes: [[2, 3]], build: ([x]) => build.pad(node(x), 0, [1, 2]) },
  Concat: {
    shapes: [
      [2, 3],
      [2, 1],
      [2, 2],
    ],
    build: ([a, b, c]) => build.concat([node(a), node(b), node(c)], 1),
  },
  GatherElements: { shapes: [[3, 4]], build: ([x]) => build.gatherElements(node(x), indices(node(x).graph, [0, 2, 3, 1, 1, 3], [3, 2])) },
  ScatterElements: {
    shapes: [
      [3, 4],
      [3, 2],
    ],
    build: ([x, updates]) => build.scatterElements(node(x), indices(node(x).graph, [0, 2, 3, 1, 0, 3], [3, 2]), node(updates)),
  },
  // x² with a rule of its own that says 2x
  CustomGradient: unary((x) => build.customGradient(build.mul(x, x), [x], (g) => [build.mul(g, build.add(x, x))])),
};

/** A scalar that weighs every element of `output` differently. */
function project(output: Node): Node {
  const random = new Random(17);
  const weights = output.graph.constant(
    Float32Array.from({ length: sizeOf(output.type.shape) }, () => random.normal()),
    output.type.shape,
  );
  return build.reduceSum(
    build.mul(output, weights),
    output.type.shape.map((_, axis) => axis),
  );
}

/** Largest difference between the derived gradient and central differences, relative to the largest gradient. */
async function gradientError({ shapes, build: apply, domain = (value) => value }: Case): Promise<number> {
  const graph = new Graph();
  const inputs = shapes.map((shape, index) => graph.input(`input${index}`, shape));
  const loss = project(apply(inputs));
  const found = gradients(loss, inputs);
  const outputs = Object.fromEntries(found.map((gradient, index) => [`gradient${index}`, node(gradient ?? undefined)]));
  const session = await GraphSession.open(encodeModel({ loss, ...outputs }), { threads: 1 });
  const random = new Random(5);
  const values = shapes.map((shape) => Float32Array.from({ length: sizeOf(shape) }, () => domain(random.normal())));
  const run = (): Promise<Record<string, Float32Array>> =>
    session.run(Object.fromEntries(values.map((value, index) => [`input${index}`, { values: value, shape: shapes[index] ?? [] }])));
  const derived = await run();
  let [worst, largest] = [0, 0];
  for (const [index, value] of values.entries()) {
    for (let element = 0; element < value.length; element += 1) {
      const expected = await centralDifference(value, element, async () => (await run())["loss"]?.[0] ?? Number.NaN);
      const got = derived[`gradient${index}`]?.[element] ?? Number.NaN;
      worst = Math.max(worst, Math.abs(got - expected));
      largest = Math.max(largest, Math.abs(expected));
    }
  }
  await session.close();
  return worst / largest;
}

async function centralDifference(values: Float32Array, element: number, loss: () => Promise<number>): Promise<number> {
  const old = values[element] ?? 0;
  values[element] = old + 2 ** -8; // exact in float32; the error of the difference is of order 2⁻¹⁶
  const above = await loss();
  values[element] = old - 2 ** -8;
  const below = await loss();
  values[element] = old;
  return (above - below) / 2 ** -7;
}

describe("operator table", () => {
  const names = Object.keys(OP_TABLE) as OpName[];

  it("has a case for every differentiable operator and none for the others", () => {
    const differentiable = names.filter((name) => OP_TABLE[name].vjp !== nonDifferentiable);
    expect(Object.keys(CASES).toSorted()).toEqual(differentiable.toSorted());
  });

  it.each(Object.keys(CASES) as OpName[])("differentiates %s as central differences do", async (name) => {
    const cases = [CASES[name] ?? []].flat() as Case[];
    for (const each of cases) expect(await gradientError(each)).toBeLessThan(2e-3);
  });

  it.each(names.filter((name) => OP_TABLE[name].vjp === nonDifferentiable))("refuses a gradient through %s", (name) => {
    const graph = new Graph();
    const x = graph.input("x", [3, 4]);
    const through: Partial<Record<OpName, () => Node>> = {
      Gather: () => build.gather(x, indices(graph, [0, 2], [2])),
      Cast: () => build.cast(x, "float32"),
      Less: () => build.cast(build.less(x, graph.scalar(0)), "float32"),
      Equal: () => build.cast(build.equal(x, graph.scalar(0)), "float32"),
      ArgMax: () => build.cast(build.argMax(x), "float32"),
    };
    const output = node(through[name]?.());
    expect(() => gradients(project(output), [x])).toThrow(/differentiable operator expected/);
  });
});
