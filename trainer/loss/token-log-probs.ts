/** Log-probabilities of given tokens under logits, with the derivative onehot − p written out. */
import { customGradient, exp, gatherElements, logSoftmax, mul, neg, scatterElements } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";

/** ln p of `targets` [N, k] under `logits` [N, V] → [N, k]. */
export function tokenLogProbs(logits: Node, targets: Node): Node {
  const all = logSoftmax(logits);
  const chosen = gatherElements(all, targets);
  if (targets.type.shape[1] !== 1) return chosen;
  // d ln p_y / dz = onehot(y) − p
  return customGradient(chosen, [logits], (cotangent) => [scatterElements(mul(exp(all), neg(cotangent)), targets, cotangent)]);
}
