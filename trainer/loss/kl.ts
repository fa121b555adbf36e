/** Divergences between a given distribution (the teacher) and the policy, exact over the whole vocabulary. */
import { exp, mul, reduceSum, sub } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";

type Distributions = { /** [N, V] ln π, being trained */ readonly policy: Node; /** [N, V] ln p_T, given */ readonly teacher: Node };

/** KL(T ‖ π) = Σ_v p_T (ln p_T − ln π)  → [N]: covers all the teacher does. */
export function forwardKl({ policy, teacher }: Distributions): Node {
  return reduceSum(mul(exp(teacher), sub(teacher, policy)), [-1]);
}

/** KL(π ‖ T) = Σ_v π (ln π − ln p_T)  → [N]: avoids what the teacher does not do. */
export function reverseKl({ policy, teacher }: Distributions): Node {
  return reduceSum(mul(exp(policy), sub(policy, teacher)), [-1]);
}
