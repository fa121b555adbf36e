/** Root-mean-square norm over the last axis (arXiv:1910.07467) with its derivative written out: a third of the passes of the derived one. */
import { add, customGradient, mul, reciprocal, reduceMean, reduceSum, sqrt, sub } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";

/** x̂ · w with x̂ = x / √(mean(x²) + ε); `x` [..., D], `weight` [D]. */
export function rmsNorm(x: Node, weight: Node, epsilon: number): Node {
  const scale = reciprocal(sqrt(add(reduceMean(mul(x, x), [-1], true), x.graph.scalar(epsilon)))); // [..., 1]
  const normalised = mul(x, scale);
  return customGradient(mul(normalised, weight), [x, weight], (cotangent) => {
    const product = mul(cotangent, normalised);
    const axes = x.type.shape.slice(0, -1).map((_, axis) => axis);
    // dx = (g w − x̂ · mean(g w x̂)) · scale
    const mean = reduceMean(mul(product, weight), [-1], true);
    return [mul(sub(mul(cotangent, weight), mul(normalised, mean)), scale), reduceSum(product, axes)];
  });
}
