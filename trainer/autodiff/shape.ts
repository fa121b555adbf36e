/**
 * Static shapes and element types of graph values.
 * Dimension letters used everywhere: B batch, T tokens, V vocabulary, D model width, F feed-forward width, H query heads,
 * J key/value heads, G = H / J queries per key head, K head width, R adapter rank, L layers, N trained positions, M = T·B rows.
 */
import { AppError } from "../../shared/errors.ts";

export type Shape = readonly number[];
export type FloatType = "float32" | "float16" | "bfloat16";
export type ElementType = FloatType | "int64" | "int32" | "bool";
export type ValueType = { readonly element: ElementType; readonly shape: Shape };

/** The number of elements of a shape. */
export function sizeOf(shape: Shape): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

export function sameShape(left: Shape, right: Shape): boolean {
  return left.length === right.length && left.every((dim, axis) => dim === right[axis]);
}

/** An axis in [0, rank) from one that may count from the end. @throws {graph/shape} */
export function axisOf(shape: Shape, axis: number): number {
  const found = axis < 0 ? axis + shape.length : axis;
  if (found < 0 || found >= shape.length) throw shapeError(`axis below ${shape.length} expected, got ${axis}`);
  return found;
}

/** The dimension at `axis`, which may count from the end. @throws {graph/shape} */
export function dimOf(shape: Shape, axis: number): number {
  const dim = shape[axisOf(shape, axis)];
  if (dim === undefined) throw shapeError(`axis below ${shape.length} expected, got ${axis}`);
  return dim;
}

/** Numpy broadcasting of two shapes. @throws {graph/shape} where two dimensions differ and neither is 1. */
export function broadcast(left: Shape, right: Shape): Shape {
  const rank = Math.max(left.length, right.length);
  return Array.from({ length: rank }, (_, axis) => {
    const a = left[axis - rank + left.length] ?? 1;
    const b = right[axis - rank + right.length] ?? 1;
    if (a !== b && a !== 1 && b !== 1) throw shapeError(`broadcastable shapes expected, got [${left}] and [${right}]`);
    return a === 1 ? b : a;
  });
}

/** `shape` with the dimension at `axis` replaced. */
export function withDim(shape: Shape, axis: number, dim: number): Shape {
  return shape.with(axisOf(shape, axis), dim);
}

/** `shape` with its axes in the order `permutation` gives. */
export function permute(shape: Shape, permutation: readonly number[]): Shape {
  return permutation.map((axis) => dimOf(shape, axis));
}

export function shapeError(message: string): AppError {
  return new AppError("graph/shape", message);
}
