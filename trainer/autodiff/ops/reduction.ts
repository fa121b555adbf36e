/** Reductions over axes. */
import { at } from "../../../shared/assert.ts";
import { cast, div, equal, expand, mul, reduceSum, reshape } from "../build.ts";
import type { Node } from "../graph.ts";
import { type Attribute, type Emission, type OpDef, nonDifferentiable } from "../op-def.ts";
import { type Shape, type ValueType, sizeOf } from "../shape.ts";

type Axes = { axes: readonly number[]; keepdims: boolean };
export type ReductionAttrs = { ReduceSum: Axes; ReduceMean: Axes; ReduceMax: Axes; ArgMax: Record<string, never> };

function infer(inputs: readonly ValueType[], { axes, keepdims }: Axes): ValueType {
  const { element, shape } = at(inputs, 0);
  const reduced = shape.flatMap((dim, axis) => (axes.includes(axis) ? (keepdims ? [1] : []) : [dim]));
  return { element, shape: reduced };
}

function emit({ axes, keepdims }: Axes): Emission {
  const attributes: Record<string, Attribute> = { keepdims: { int: keepdims ? 1 : 0 } };
  return { attributes, axes };
}

const kept = (shape: Shape, axes: readonly number[]): Shape => shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));

/** `y` [reduced] spread over the shape of `x`. */
function spread(y: Node, x: Node, { axes }: Axes): Node {
  return expand(reshape(y, kept(x.type.shape, axes)), x.type.shape);
}

export const REDUCTION: { readonly [K in keyof ReductionAttrs]: OpDef<ReductionAttrs[K]> } = {
  ReduceSum: { infer, emit, vjp: ({ inputs, cotangent, attrs }) => [spread(cotangent, at(inputs, 0), attrs)] },
  ReduceMean: {
    infer,
    emit,
    vjp: ({ inputs, cotangent, attrs }) => {
      const x = at(inputs, 0);
      const count = sizeOf(attrs.axes.map((axis) => at(x.type.shape, axis)));
      return [spread(mul(cotangent, x.graph.scalar(1 / count)), x, attrs)];
    },
  },
  ReduceMax: {
    infer,
    emit,
    // Shared equally among the elements that attain the maximum.
    vjp: ({ node, inputs, cotangent, attrs }) => {
      const x = at(inputs, 0);
      const attains = cast(equal(x, spread(node, x, attrs)), "float32");
      return [mul(attains, div(spread(cotangent, x, attrs), reduceSum(attains, attrs.axes, true)))];
    },
  },
  // Of the last axis; the first of equal values.
  ArgMax: {
    infer: (inputs) => ({ element: "int64", shape: at(inputs, 0).shape.slice(0, -1) }),
    vjp: nonDifferentiable,
    emit: () => ({ attributes: { axis: { int: -1 }, keepdims: { int: 0 } } }),
  },
};
