/** One function per operator: graph code reads as the formula it builds. */
import type { Node } from "./graph.ts";
import { type ElementType, type Shape, axisOf, dimOf } from "./shape.ts";

export type MatMulOptions = { transA?: boolean; transB?: boolean; transBatchA?: boolean; transBatchB?: boolean; alpha?: number };

export const add = (a: Node, b: Node): Node => a.graph.apply("Add", [a, b], {});
export const sub = (a: Node, b: Node): Node => a.graph.apply("Sub", [a, b], {});
export const mul = (a: Node, b: Node): Node => a.graph.apply("Mul", [a, b], {});
export const div = (a: Node, b: Node): Node => a.graph.apply("Div", [a, b], {});
export const min = (a: Node, b: Node): Node => a.graph.apply("Min", [a, b], {});
export const max = (a: Node, b: Node): Node => a.graph.apply("Max", [a, b], {});
export const neg = (x: Node): Node => x.graph.apply("Neg", [x], {});
export const exp = (x: Node): Node => x.graph.apply("Exp", [x], {});
export const log = (x: Node): Node => x.graph.apply("Log", [x], {});
export const sqrt = (x: Node): Node => x.graph.apply("Sqrt", [x], {});
export const reciprocal = (x: Node): Node => x.graph.apply("Reciprocal", [x], {});
export const sigmoid = (x: Node): Node => x.graph.apply("Sigmoid", [x], {});
export const clip = (x: Node, low: number, high: number): Node => x.graph.apply("Clip", [x, x.graph.scalar(low), x.graph.scalar(high)], {});
export const less = (a: Node, b: Node): Node => a.graph.apply("Less", [a, b], {});
export const equal = (a: Node, b: Node): Node => a.graph.apply("Equal", [a, b], {});
export const where = (condition: Node, a: Node, b: Node): Node => a.graph.apply("Where", [condition, a, b], {});
export const cast = (x: Node, to: ElementType): Node => x.graph.apply("Cast", [x], { to });

/** alpha · op(a) · op(b) over matrices; op transposes where asked. */
export function gemm(a: Node, b: Node, { transA = false, transB = false, alpha = 1 }: MatMulOptions = {}): Node {
  return a.graph.apply("Gemm", [a, b], { transA, transB, alpha });
}

/** alpha · op(a) · op(b) over batches; `transBatch` reads [rows, …batch, columns] as [...batch, rows, columns]. */
export function fusedMatMul(
  a: Node,
  b: Node,
  { transA = false, transB = false, transBatchA = false, transBatchB = false, alpha = 1 }: MatMulOptions = {},
): Node {
  return a.graph.apply("FusedMatMul", [a, b], { transA, transB, transBatchA, transBatchB, alpha });
}

/** x̂ · w with x̂ = x / √(mean(x²) + ε); `x` [..., D], `weight` [D]. */
export const rmsNorm = (x: Node, weight: Node, epsilon: number): Node =>
  x.graph.apply("SimplifiedLayerNormalization", [x, weight], { epsilon });
export const softmax = (x: Node): Node => x.graph.apply("Softmax", [x], {});
export const logSoftmax = (x: Node): Node => x.graph.apply("LogSoftmax", [x], {});
/** Over no axes `x` itself; ONNX takes an empty list for all of them. */
export const reduceSum = (x: Node, axes: readonly number[], keepdims = false): Node =>
  axes.length === 0 ? x : x.graph.apply("ReduceSum", [x], reduction(x, axes, keepdims));
export const reduceMean = (x: Node, axes: readonly number[], keepdims = false): Node =>
  x.graph.apply("ReduceMean", [x], reduction(x, axes, keepdims));
export const reduceMax = (x: Node, axes: readonly number[], keepdims = false): Node =>
  x.graph.apply("ReduceMax", [x], reduction(x, axes, keepdims));
export const argMax = (x: Node): Node => x.graph.apply("ArgMax", [x], {});

function reduction(x: Node, axes: readonly number[], keepdims: boolean): { axes: number[]; keepdims: boolean } {
  return { axes: axes.map((axis) => axisOf(x.type.shape, axis)), keepdims };
}

/** A reshaped value reshaped again is the first one reshaped once. */
export function reshape(x: Node, shape: Shape): Node {
  const isReshaped = x.source.kind === "op" && x.source.application.op === "Reshape";
  return x.graph.apply("Reshape", isReshaped ? x.inputs : [x], { shape });
}
export const transpose = (x: Node, perm: readonly number[]): Node => x.graph.apply("Transpose", [x], { perm });
export const expand = (x: Node, shape: Shape): Node => x.graph.apply("Expand", [x], { shape });
export const concat = (parts: readonly [Node, ...Node[]], axis: number): Node => parts[0].graph.apply("Concat", parts, { axis });

/** Elements [start, end) along `axis`. The whole axis gives `x` itself. */
export function slice(x: Node, axis: number, [start, end]: readonly [number, number]): Node {
  if (start === 0 && end === dimOf(x.type.shape, axis)) return x;
  return x.graph.apply("Slice", [x], { axis: axisOf(x.type.shape, axis), start, end });
}

/** `x` with `before` and `after` zeros along `axis`. */
export const pad = (x: Node, axis: number, [before, after]: readonly [number, number]): Node =>
  before === 0 && after === 0 ? x : x.graph.apply("Pad", [x], { axis: axisOf(x.type.shape, axis), before, after });

/** Rows of `x` (axis 0) at `indices`. */
export const gather = (x: Node, indices: Node): Node => x.graph.apply("Gather", [x, indices], {});
/** x[i, indices[i, j]] along the last axis. */
export const gatherElements = (x: Node, indices: Node): Node => x.graph.apply("GatherElements", [x, indices], {});
/** `x` with `updates` added at `indices` along the last axis. */
export const scatterElements = (x: Node, indices: Node, updates: Node): Node => x.graph.apply("ScatterElements", [x, indices, updates], {});
/** Rows [M, 1, H·K] turned by the angles of `positions` [M, 1]; `cos` and `sin` are [positions, K/2]. */
export const rotaryEmbedding = (x: Node, positions: Node, { cos, sin }: { cos: Node; sin: Node }): Node =>
  x.graph.apply("RotaryEmbedding", [x, positions, cos, sin], {});

/** `value`, with cotangents for `args` from `rule` instead of from the nodes that computed it. */
export function customGradient(value: Node, args: readonly Node[], rule: (cotangent: Node) => readonly (Node | null)[]): Node {
  return value.graph.apply("CustomGradient", [value, ...args], { rule });
}
