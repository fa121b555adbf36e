/**
 * Products in 16 bits as a GPU computes them, every operand and result rounded. ONNX Runtime's CPU provider has no such kernel: it
 * computes in float32 what is written as float16, so the graph is evaluated here, operator by operator.
 */
import { expect, it } from "vitest";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from "../../../shared/float16.ts";
import { pullback } from "../../../trainer/autodiff/grad.ts";
import { Graph, type Node } from "../../../trainer/autodiff/graph.ts";
import { type ElementType, type FloatType, sizeOf } from "../../../trainer/autodiff/shape.ts";
import { multiply } from "../../../trainer/model/linear.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError } from "../tiny.ts";

const [ROWS, OUT, IN] = [5, 48, 32];

function rounded(values: Float32Array, element: ElementType): Float32Array {
  if (element === "float16") return decodeFloat16(encodeFloat16(values));
  return element === "bfloat16" ? decodeBfloat16(encodeBfloat16(values)) : values;
}

/** What a node is worth; of operators those that `multiply` uses. */
function evaluate(node: Node, inputs: Readonly<Record<string, Float32Array>>): Float32Array {
  const { source, type } = node;
  if (source.kind === "input") return rounded(inputs[node.name] ?? new Float32Array(0), type.element);
  if (source.kind === "constant") return Float32Array.from(source.values as Float32Array);
  const [a = new Float32Array(0), b = new Float32Array(0)] = node.inputs.map((input) => evaluate(input, inputs));
  const { application } = source;
  const width = (values: Float32Array): number => values.length / ROWS;
  // Against one value in all, or one in each row.
  const paired = (apply: (x: number, y: number) => number): Float32Array =>
    a.map((value, index) =>
      apply(value, b[b.length === 1 ? 0 : b.length === a.length ? index : Math.floor(index / width(a))] ?? Number.NaN),
    );
  switch (application.op as string) {
    case "CustomGradient":
      return a;
    case "Cast":
      return rounded(a, type.element);
    case "Neg":
      return a.map((value) => -value);
    case "Reciprocal":
      return a.map((value) => 1 / value);
    case "Mul":
      return paired((x, y) => x * y);
    case "Max":
      return paired(Math.max);
    case "ReduceMax":
      return Float32Array.from({ length: ROWS }, (_, row) => Math.max(...a.subarray(row * width(a), (row + 1) * width(a))));
    case "Gemm": {
      const { transB } = application.attrs as { transB: boolean };
      const [inner, columns] = [width(a), sizeOf(type.shape) / ROWS];
      const product = new Float32Array(ROWS * columns);
      product.forEach((_, place) => {
        const [row, column] = [Math.floor(place / columns), place % columns];
        for (let k = 0; k < inner; k += 1)
          product[place] = (product[place] ?? 0) + (a[row * inner + k] ?? 0) * (b[transB ? column * inner + k : k * columns + column] ?? 0);
      });
      return rounded(product, type.element);
    }
    default:
      throw new Error(`an operator of multiply expected, got ${application.op}`);
  }
}

function productAndGradient(
  compute: FloatType,
  inputs: Readonly<Record<string, Float32Array>>,
): { product: Float32Array; gradient: Float32Array } {
  const graph = new Graph();
  const [x, weight, cotangent] = [
    graph.input("x", [ROWS, IN]),
    graph.input("w", [OUT, IN], compute),
    graph.input("cotangent", [ROWS, OUT]),
  ];
  const product = multiply(x, weight);
  const [gradient] = pullback(product, { seed: cotangent, targets: [x] });
  return { product: evaluate(product, inputs), gradient: gradient ? evaluate(gradient, inputs) : new Float32Array(0) };
}

/** By row as large as given: of one batch some tokens have far smaller cotangents than others. */
const draw = (seed: number, columns: number, sizes: readonly number[]): Float32Array => {
  const random = new Random(seed);
  return Float32Array.from({ length: ROWS * columns }, (_, index) => (sizes[Math.floor(index / columns)] ?? 0) * random.normal());
};

it.each(["float16", "bfloat16"] as const)("%s keeps its precision whatever the size of activations and cotangents", (compute) => {
  const random = new Random(1);
  const w = Float32Array.from({ length: OUT * IN }, () => 0.02 * random.normal());
  const sizes = [1, 1e-6, 1e-9, 0, 1e5];
  const inputs = { x: draw(2, IN, [1, 1e-4, 1e5, 0, 1]), w, cotangent: draw(3, OUT, sizes) };
  const [narrow, exact] = [productAndGradient(compute, inputs), productAndGradient("float32", inputs)];
  const most = compute === "float16" ? 2e-3 : 1.5e-2;
  for (const part of ["product", "gradient"] as const)
    sizes.forEach((_, row) => {
      const of = (all: Float32Array): Float32Array => all.subarray((row * all.length) / ROWS, ((row + 1) * all.length) / ROWS);
      if (of(exact[part]).every((value) => value === 0)) expect([...of(narrow[part])].every((value) => value === 0)).toBe(true);
      else expect(relativeError(of(narrow[part]), of(exact[part])), `${part}, row ${row}`).toBeLessThan(most);
    });
  expect(relativeError(narrow.gradient, exact.gradient)).toBeGreaterThan(1e-5);
});
