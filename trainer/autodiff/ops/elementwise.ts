/** Elementwise operators with numpy broadcasting. Row comments are the derivative. */
import { at } from "../../../shared/assert.ts";
import { AppError } from "../../../shared/errors.ts";
import { add, cast, div, less, mul, neg, sub, where } from "../build.ts";
import { type OpDef, nonDifferentiable, type Vjp } from "../op-def.ts";
import { type ElementType, type ValueType, broadcast } from "../shape.ts";

type None = Record<string, never>;
export type ElementwiseAttrs = {
  Add: None;
  Sub: None;
  Mul: None;
  Div: None;
  Min: None;
  Max: None;
  Less: None;
  Equal: None;
  Where: None;
  Clip: None;
  Neg: None;
  Exp: None;
  Log: None;
  Sqrt: None;
  Reciprocal: None;
  Sigmoid: None;
  Cast: { to: ElementType };
};

// TensorProto.DataType
export const ELEMENT_CODES: { readonly [E in ElementType]: number } = {
  float32: 1,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  bfloat16: 16,
};

const FLOATS: ReadonlySet<ElementType> = new Set(["float32", "float16", "bfloat16"]);

type Pick2 = (a: Operands) => readonly (Operands["g"] | null)[];
type Operands = Record<"a" | "b" | "y" | "g", Parameters<Vjp<None>>[0]["cotangent"]>;

const binary = (rule: Pick2): OpDef<None> => ({
  infer: (inputs) => ({ element: at(inputs, 0).element, shape: broadcast(at(inputs, 0).shape, at(inputs, 1).shape) }),
  vjp: ({ node, inputs, cotangent }) => rule({ a: at(inputs, 0), b: at(inputs, 1), y: node, g: cotangent }),
  emit: () => ({}),
});

const unary = (rule: (operands: Omit<Operands, "b">) => Operands["g"]): OpDef<None> => ({
  infer: (inputs) => at(inputs, 0),
  vjp: ({ node, inputs, cotangent }) => [rule({ a: at(inputs, 0), y: node, g: cotangent })],
  emit: () => ({}),
});

const comparison: OpDef<None> = {
  infer: (inputs): ValueType => ({ element: "bool", shape: broadcast(at(inputs, 0).shape, at(inputs, 1).shape) }),
  vjp: nonDifferentiable,
  emit: () => ({}),
};

const zeroLike = (x: Operands["g"]): Operands["g"] => x.graph.scalar(0);

export const ELEMENTWISE: { readonly [K in keyof ElementwiseAttrs]: OpDef<ElementwiseAttrs[K]> } = {
  Add: binary(({ g }) => [g, g]),
  Sub: binary(({ g }) => [g, neg(g)]),
  Mul: binary(({ a, b, g }) => [mul(g, b), mul(g, a)]),
  Div: binary(({ b, y, g }) => [div(g, b), neg(div(mul(g, y), b))]), // d(a/b)/db = −(a/b)/b
  // Equal values give their gradient to the second.
  Min: binary(({ a, b, g }) => [where(less(a, b), g, zeroLike(g)), where(less(a, b), zeroLike(g), g)]),
  Max: binary(({ a, b, g }) => [where(less(b, a), g, zeroLike(g)), where(less(b, a), zeroLike(g), g)]),
  Less: comparison,
  Equal: comparison,
  Where: {
    infer: (inputs) => ({
      element: at(inputs, 1).element,
      shape: broadcast(at(inputs, 0).shape, broadcast(at(inputs, 1).shape, at(inputs, 2).shape)),
    }),
    vjp: ({ inputs, cotangent }) => [
      null,
      where(at(inputs, 0), cotangent, zeroLike(cotangent)),
      where(at(inputs, 0), zeroLike(cotangent), cotangent),
    ],
    emit: () => ({}),
  },
  Clip: {
    infer: (inputs) => at(inputs, 0),
    // 1 inside [low, high], 0 outside: x is inside where clipping it changes nothing.
    vjp: ({ node, inputs, cotangent }) => [
      mul(cotangent, cast(node.graph.apply("Equal", [node, at(inputs, 0)], {}), "float32")),
      null,
      null,
    ],
    emit: () => ({}),
  },
  Neg: unary(({ g }) => neg(g)),
  Exp: unary(({ y, g }) => mul(g, y)),
  Log: unary(({ a, g }) => div(g, a)),
  Sqrt: unary(({ y, g }) => div(g, add(y, y))), // d√x = 1 / (2√x)
  Reciprocal: unary(({ y, g }) => neg(mul(g, mul(y, y)))), // d(1/x) = −1/x²
  Sigmoid: unary(({ y, g }) => mul(g, sub(y, mul(y, y)))), // σ' = σ − σ²
  Cast: {
    infer: (inputs, { to }) => ({ element: to, shape: at(inputs, 0).shape }),
    vjp: ({ inputs, cotangent }) => {
      const { element } = at(inputs, 0).type;
      if (!FLOATS.has(element)) throw new AppError("graph/unsupported", `differentiable operator expected, got Cast from ${element}`);
      return [cast(cotangent, element)];
    },
    emit: ({ to }) => ({ attributes: { to: { int: ELEMENT_CODES[to] } } }),
  },
};
