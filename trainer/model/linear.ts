/** Linear layers over rows, with an optional low-rank adapter beside the matrix (LoRA, arXiv:2106.09685). */
import { add, cast, customGradient, gemm, max, mul, neg, reciprocal, reduceMax } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";

/** A [R, in] and B [out, R]; the layer adds scale · B A, with a scale that is part of the graph or one that it is fed. */
export type LowRank = { readonly a: Node; readonly b: Node; readonly scale: number | Node };

const LEAST = 2 ** -100; // far below any cotangent, and float32 has its inverse

/** Where graph code finds parameters: each becomes a graph input when first asked for. */
export interface Weights {
  weight(name: string): Node;
  /** The bias of a layer, where the model has one. */
  bias(layer: string): Node | undefined;
  /** The adapter of a layer, where one is active. */
  lowRank(layer: string): LowRank | undefined;
  /** Stands for the product of a layer where it has been computed before; absent where all is computed here. */
  readonly kept?: (layer: string, product: Node) => Node;
}

/** x Wᵀ (+ bias) (+ scale · (x Aᵀ) Bᵀ) for `layer`, a name without `.weight`; `x` [M, in] → [M, out]. */
export function linear(x: Node, layer: string, weights: Weights): Node {
  const product = x.graph.scope(layer.split(".").slice(-1).join(), () => {
    const product = multiply(x, weights.weight(`${layer}.weight`));
    const bias = weights.bias(layer);
    const shifted = bias === undefined ? product : add(product, bias);
    const lowRank = weights.lowRank(layer);
    if (lowRank === undefined) return shifted;
    return add(shifted, multiplyLowRank(x, lowRank));
  });
  return weights.kept?.(layer, product) ?? product;
}

function multiplyLowRank(x: Node, { a, b, scale }: LowRank): Node {
  const inner = gemm(x, a, { transB: true });
  if (typeof scale === "number") return gemm(inner, b, { transB: true, alpha: scale });
  return gemm(mul(inner, scale), b, { transB: true });
}

/** x Wᵀ in the type of W, which is frozen where that is not float32; `x` [M, in] and what comes out are float32. */
export function multiply(x: Node, weight: Node): Node {
  if (weight.type.element === "float32") return gemm(x, weight, { transB: true });
  return customGradient(multiplyNarrow(x, weight, { transB: true }), [x], (cotangent) => [multiplyNarrow(cotangent, weight)]);
}

/**
 * rows · W or rows · Wᵀ in the type of W. Of what float16 rounds to, the smallest is 6e-8, where cotangents of a mean over many tokens
 * are about as large, and the largest 65,504, which activations exceed: each row is scaled to a largest value of one, and back in float32.
 */
function multiplyNarrow(rows: Node, weight: Node, { transB = false }: { transB?: boolean } = {}): Node {
  const { element } = weight.type;
  const product = (x: Node): Node => cast(gemm(cast(x, element), weight, { transB }), "float32");
  if (element !== "float16") return product(rows);
  // A row of zeros stays one.
  const largest = max(reduceMax(max(rows, neg(rows)), [-1], true), rows.graph.scalar(LEAST));
  return mul(product(mul(rows, reciprocal(largest))), largest);
}
