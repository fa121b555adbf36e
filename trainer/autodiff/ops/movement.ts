/** Operators that move values without computing. */
import { at } from "../../../shared/assert.ts";
import { expand, gatherElements, pad, reshape, scatterElements, slice, transpose } from "../build.ts";
import type { Node } from "../graph.ts";
import { type OpDef, nonDifferentiable } from "../op-def.ts";
import { type Shape, broadcast, dimOf, permute, sameShape, shapeError, sizeOf, withDim } from "../shape.ts";

type None = Record<string, never>;
export type MovementAttrs = {
  Reshape: { shape: Shape };
  Expand: { shape: Shape };
  Transpose: { perm: readonly number[] };
  Slice: { axis: number; start: number; end: number };
  Pad: { axis: number; before: number; after: number };
  Concat: { axis: number };
  Gather: None;
  GatherElements: None;
  ScatterElements: None;
};

function padding(shape: Shape, { axis, before, after }: MovementAttrs["Pad"]): number[] {
  const pads = Array.from({ length: 2 * shape.length }, () => 0);
  pads[axis] = before;
  pads[shape.length + axis] = after;
  return pads;
}

function zeros(like: Node): Node {
  return expand(like.graph.scalar(0), like.type.shape);
}

export const MOVEMENT: { readonly [K in keyof MovementAttrs]: OpDef<MovementAttrs[K]> } = {
  Reshape: {
    infer: (inputs, { shape }) => {
      const x = at(inputs, 0);
      if (sizeOf(x.shape) !== sizeOf(shape)) throw shapeError(`Reshape: ${sizeOf(x.shape)} elements expected, got [${shape}]`);
      return { element: x.element, shape };
    },
    vjp: ({ inputs, cotangent }) => [reshape(cotangent, at(inputs, 0).type.shape)],
    emit: ({ shape }) => ({ sizes: [shape] }),
  },
  Expand: {
    infer: (inputs, { shape }) => {
      const x = at(inputs, 0);
      if (!sameShape(broadcast(x.shape, shape), shape))
        throw shapeError(`Expand: a shape broadcastable to [${shape}] expected, got [${x.shape}]`);
      return { element: x.element, shape };
    },
    vjp: ({ cotangent }) => [cotangent], // summed back by unbroadcast
    emit: ({ shape }) => ({ sizes: [shape] }),
  },
  Transpose: {
    infer: (inputs, { perm }) => ({ element: at(inputs, 0).element, shape: permute(at(inputs, 0).shape, perm) }),
    vjp: ({ cotangent, attrs: { perm } }) => [
      transpose(
        cotangent,
        perm.map((_, axis) => perm.indexOf(axis)),
      ),
    ],
    emit: ({ perm }) => ({ attributes: { perm: { ints: perm } } }),
  },
  Slice: {
    infer: (inputs, { axis, start, end }) => {
      const { element, shape } = at(inputs, 0);
      if (start < 0 || end > dimOf(shape, axis) || start >= end)
        throw shapeError(`Slice: a range inside ${dimOf(shape, axis)} expected, got [${start}, ${end})`);
      return { element, shape: withDim(shape, axis, end - start) };
    },
    vjp: ({ inputs, cotangent, attrs: { axis, start, end } }) => [
      pad(cotangent, axis, [start, dimOf(at(inputs, 0).type.shape, axis) - end]),
    ],
    emit: ({ axis, start, end }) => ({ sizes: [[start], [end]], axes: [axis] }),
  },
  Pad: {
    infer: (inputs, { axis, before, after }) => {
      const { element, shape } = at(inputs, 0);
      return { element, shape: withDim(shape, axis, before + dimOf(shape, axis) + after) };
    },
    vjp: ({ inputs, cotangent, attrs: { axis, before } }) => [
      slice(cotangent, axis, [before, before + dimOf(at(inputs, 0).type.shape, axis)]),
    ],
    emit: (attrs, inputs) => ({ sizes: [padding(at(inputs, 0).shape, attrs)] }),
  },
  Concat: {
    infer: (inputs, { axis }) => {
      const total = inputs.reduce((sum, { shape }) => sum + dimOf(shape, axis), 0);
      return { element: at(inputs, 0).element, shape: withDim(at(inputs, 0).shape, axis, total) };
    },
    vjp: ({ inputs, cotangent, attrs: { axis } }) => {
      let start = 0;
      return inputs.map(({ type }) => slice(cotangent, axis, [start, (start += dimOf(type.shape, axis))]));
    },
    emit: ({ axis }) => ({ attributes: { axis: { int: axis } } }),
  },
  Gather: {
    infer: (inputs) => ({ element: at(inputs, 0).element, shape: [...at(inputs, 1).shape, ...at(inputs, 0).shape.slice(1)] }),
    // Rows may repeat, and adding repeated rows belongs outside the graph: the model differentiates with respect to the rows gathered.
    vjp: nonDifferentiable,
    emit: () => ({}),
  },
  GatherElements: {
    infer: (inputs) => ({ element: at(inputs, 0).element, shape: at(inputs, 1).shape }),
    vjp: ({ inputs, cotangent }) => [scatterElements(zeros(at(inputs, 0)), at(inputs, 1), cotangent), null],
    emit: () => ({ attributes: { axis: { int: -1 } } }),
  },
  ScatterElements: {
    infer: (inputs) => at(inputs, 0),
    vjp: ({ inputs, cotangent }) => [cotangent, null, gatherElements(cotangent, at(inputs, 1))],
    emit: () => ({ attributes: { axis: { int: -1 }, reduction: { text: "add" } } }),
  },
};
