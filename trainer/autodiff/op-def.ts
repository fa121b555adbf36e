/** What an operator is: its result type, its derivative, its ONNX form. */
import type { Node } from "./graph.ts";
import type { ValueType } from "./shape.ts";

/** An ONNX attribute: a float, or integers. */
export type Attribute =
  | { readonly float: number }
  | { readonly int: number }
  | { readonly ints: readonly number[] }
  | { readonly text: string };

/** How an operator is written: attributes, and int64 vectors appended to its inputs, those that say sizes first. */
export type Emission = {
  readonly domain?: "com.microsoft";
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Dimensions and ranges: another bucket has others. */
  readonly sizes?: readonly (readonly number[])[];
  readonly axes?: readonly number[];
};

/**
 * Cotangents of the inputs from the cotangent of the result; null where an input is an index or a condition.
 * A rule may return the result's broadcast shape: grad.ts sums it back.
 */
export type Vjp<A> = (context: { node: Node; inputs: readonly Node[]; cotangent: Node; attrs: A }) => readonly (Node | null)[];

export const nonDifferentiable = "nonDifferentiable";

export type OpDef<A> = {
  readonly infer: (inputs: readonly ValueType[], attrs: A) => ValueType;
  readonly vjp: Vjp<A> | typeof nonDifferentiable;
  /** `alias` writes nothing: the result is its first input. */
  readonly emit: ((attrs: A, inputs: readonly ValueType[]) => Emission) | "alias";
};
