/** Every differentiable operator in the layouts that the model uses: what tests difference, and what a GPU is compared on. */
import * as build from "../../trainer/autodiff/build.ts";
import type { Graph, Node } from "../../trainer/autodiff/graph.ts";
import type { OpName } from "../../trainer/autodiff/op-table.ts";
import { type Shape, sizeOf } from "../../trainer/autodiff/shape.ts";
import { Random } from "../../trainer/random.ts";

export type OpCase = {
  /** Shapes of the inputs differentiated. */
  readonly shapes: readonly Shape[];
  readonly build: (inputs: readonly Node[]) => Node;
  /** Maps standard normal values into the operator's domain. */
  readonly domain?: (value: number) => number;
};

const positive = (value: number): number => 0.5 + Math.abs(value);
const indices = (graph: Graph, values: readonly number[], shape: Shape): Node => graph.constant(Int32Array.from(values), shape);
const binary = (apply: (a: Node, b: Node) => Node, domain?: OpCase["domain"]): OpCase => ({
  shapes: [
    [3, 1, 4],
    [2, 4],
  ], // broadcast on both sides
  build: ([a, b]) => apply(node(a), node(b)),
  ...(domain && { domain }),
});
const unary = (apply: (x: Node) => Node, domain?: OpCase["domain"]): OpCase => ({
  shapes: [[3, 5]],
  build: ([x]) => apply(node(x)),
  ...(domain && { domain }),
});

export function node(found: Node | undefined): Node {
  if (found === undefined) throw new Error("a node expected");
  return found;
}

function angles(graph: Graph): { cos: Node; sin: Node } {
  const values = Float32Array.from({ length: 10 }, (_, index) => 0.3 * index);
  return { cos: graph.constant(values.map(Math.cos), [5, 2]), sin: graph.constant(values.map(Math.sin), [5, 2]) };
}

/** Differentiable operators with the layouts the model uses. A list tries several attributes. */
export const OP_CASES: Partial<Record<OpName, OpCase | readonly OpCase[]>> = {
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
  Cast: unary((x) => build.cast(x, "float32")),
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
  SimplifiedLayerNormalization: {
    shapes: [[2, 3, 8], [8]],
    build: ([x, weight]) => build.rmsNorm(node(x), node(weight), 1e-2),
  },
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

/** Operators that give or take indices and conditions, and have no derivative. */
export const INDEX_CASES: Partial<Record<OpName, OpCase | readonly OpCase[]>> = {
  Gather: { shapes: [[4, 5]], build: ([x]) => build.gather(node(x), indices(node(x).graph, [3, 0, 0], [3])) },
  Less: binary((a, b) => build.cast(build.less(a, b), "float32")),
  // Of values that are often equal.
  Equal: binary((a, b) => build.cast(build.equal(a, b), "float32"), Math.round),
  ArgMax: [unary((x) => build.cast(build.argMax(x), "float32")), unary((x) => build.cast(build.argMax(x), "float32"), Math.round)],
};

/** A scalar that weighs every element of `output` differently. */
export function project(output: Node): Node {
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
