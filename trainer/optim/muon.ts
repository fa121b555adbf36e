/** Muon (Keller Jordan, https://kellerjordan.github.io/posts/muon/): nesterov momentum, orthogonalised by a quintic Newton–Schulz iteration. */
import { add, div, gemm, mul, reduceSum, sqrt } from "../autodiff/build.ts";
import { Graph, type Node } from "../autodiff/graph.ts";

// The post's coefficients: steep at zero, so that five iterations bring every singular value near 1.
const [A, B, C] = [3.4445, -4.775, 2.0315] as const;
const ITERATIONS = 5;
const EPSILON = 1e-7; // keeps a zero matrix finite

export type MuonOptions = {
  readonly lr: number;
  readonly momentum: number;
  readonly weightDecay: number;
  readonly gradientScale: number;
};

export type MatrixShape = { readonly out: number; readonly in: number };

/** Moves `momentum` towards `gradient` in place and returns the nesterov direction to orthogonalise. */
export function muonDirection(
  { gradient, momentum }: { gradient: Float32Array; momentum: Float32Array },
  { momentum: beta, gradientScale }: MuonOptions,
): Float32Array {
  return momentum.map((old, index) => {
    const g = (gradient[index] ?? 0) * gradientScale;
    const moved = beta * old + (1 - beta) * g;
    momentum[index] = moved;
    return (1 - beta) * g + beta * moved;
  });
}

/** Applies an orthogonalised direction to `values` in place; tall matrices take √(out/in) longer steps. */
export function muonUpdate(
  { values, direction }: { values: Float32Array; direction: Float32Array },
  { shape, options: { lr, weightDecay } }: { shape: MatrixShape; options: MuonOptions },
): void {
  const keep = 1 - lr * weightDecay;
  const scale = lr * Math.sqrt(Math.max(1, shape.out / shape.in));
  for (let index = 0; index < values.length; index += 1) {
    values[index] = (values[index] ?? 0) * keep - scale * (direction[index] ?? 0);
  }
}

/** Graph: `direction` [out, in] → `orthogonal` [out, in]. The smaller Gram matrix is the one iterated on. */
export function buildOrthogonaliser({ out, in: width }: MatrixShape): Record<string, Node> {
  const graph = new Graph();
  const direction = graph.input("direction", [out, width]);
  const norm = add(sqrt(reduceSum(mul(direction, direction), [0, 1])), graph.scalar(EPSILON));
  const tall = out > width;
  let x = div(direction, norm);
  for (let iteration = 0; iteration < ITERATIONS; iteration += 1) {
    const gram = tall ? gemm(x, x, { transA: true }) : gemm(x, x, { transB: true });
    // X ← aX + (b S + c S²) X with S = X Xᵀ, or its mirror image
    const polynomial = add(mul(gram, graph.scalar(B)), gemm(gram, gram, { alpha: C }));
    x = add(mul(x, graph.scalar(A)), tall ? gemm(x, polynomial) : gemm(polynomial, x));
  }
  return { orthogonal: x };
}
