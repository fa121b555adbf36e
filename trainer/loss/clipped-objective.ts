/** The clipped surrogate of PPO (arXiv:1707.06347 eq. 7) with separate bounds (arXiv:2503.14476 §3.1), as a loss. */
import { clip, exp, max, mul, neg, sub } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";

export type ClipBounds = {
  /** The ratio counts from 1 − clipLow … */
  readonly clipLow: number;
  /** … to 1 + clipHigh. */
  readonly clipHigh: number;
};

type Terms = { readonly logProbs: Node; readonly oldLogProbs: Node; readonly advantages: Node };

/** max(−A ρ, −A clip(ρ, 1 − clipLow, 1 + clipHigh)) with ρ = exp(logProbs − oldLogProbs), elementwise; all of one shape. */
export function clippedObjective({ logProbs, oldLogProbs, advantages }: Terms, { clipLow, clipHigh }: ClipBounds): Node {
  const ratio = exp(sub(logProbs, oldLogProbs));
  const loss = neg(advantages);
  return max(mul(loss, ratio), mul(loss, clip(ratio, 1 - clipLow, 1 + clipHigh)));
}
