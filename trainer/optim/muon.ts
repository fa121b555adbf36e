/** Muon (Keller Jordan, https://kellerjordan.github.io/posts/muon/): nesterov momentum, orthogonalised by a quintic Newton–Schulz iteration. */
import { add, div, fusedMatMul, mul, reduceSum, sqrt } from "../autodiff/build.ts";
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

export type MuonBuffers = {
  readonly gradient: Float32Array;
  readonly momentum: Float32Array;
  /** Receives the result. */ readonly direction: Float32Array;
};

/** Moves `momentum` towards `gradient` in place and writes the nesterov direction to orthogonalise. */
export function muonDirection({ gradient, momentum, direction }: MuonBuffers, { momentum: beta, gradientScale }: MuonOptions): void {
  for (let index = 0; index < momentum.length; index += 1) {
    const g = (gradient[index] ?? 0) * gradientScale;
    const moved = beta * (momentum[index] ?? 0) + (1 - beta) * g;
    momentum[index] = moved;
    direction[index] = (1 - beta) * g + beta * moved;
  }
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

/**
 * Graph: `direction` [count, out, in] → `orthogonal`, each matrix on its own. Matrices of one shape go together, which keeps
 * every thread busy on small ones. The smaller Gram matrix is the one iterated on.
 */
export function buildOrthogonaliser({ out, in: width }: MatrixShape, count: number): Record<string, Node> {
  const graph = new Graph();
  const direction = graph.input("direction", [count, out, width]);
  const norm = add(sqrt(reduceSum(mul(direction, direction), [1, 2], true)), graph.scalar(EPSILON));
  const tall = out > width;
  let x = div(direction, norm);
  for (let iteration = 0; iteration < ITERATIONS; iteration += 1) {
    const gram = tall ? fusedMatMul(x, x, { transA: true }) : fusedMatMul(x, x, { transB: true });
    // X ← aX + (b S + c S²) X with S = X Xᵀ, or its mirror image
    const polynomial = add(mul(gram, graph.scalar(B)), fusedMatMul(gram, gram, { alpha: C }));
    x = add(mul(x, graph.scalar(A)), tall ? fusedMatMul(x, polynomial) : fusedMatMul(polynomial, x));
  }
  return { orthogonal: x };
}
