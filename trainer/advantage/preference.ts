/**
 * Direct preference optimisation (arXiv:2305.18290 eq. 7) as an advantage. With the margin
 *   m = [ln π(y_w) − ln π_ref(y_w)] − [ln π(y_l) − ln π_ref(y_l)]
 * the loss is L = −ln σ(β m), and ∇L = −β σ(−β m) ∇[ln π(y_w) − ln π(y_l)]: the gradient of −Σ_t A_t ln π(y_t) with
 * A_t = β σ(−β m) on every token of the answer preferred and −β σ(−β m) on every token of the one rejected. So a pair is
 * trained by the same weighted cross-entropy as a demonstration, its weights taken anew before each step.
 */

export type Preference = {
  /** −ln σ(β m), nats. */
  readonly loss: number;
  /** A of the preferred answer's tokens; the rejected one's have −A. */
  readonly advantage: number;
};

/** Margins are ln π(y_w) − ln π(y_l), in nats, under the policy and under the reference. */
export function preferenceAdvantage({ margin, referenceMargin }: { margin: number; referenceMargin: number }, beta: number): Preference {
  const scaled = beta * (margin - referenceMargin);
  return { loss: softplus(-scaled), advantage: beta / (1 + Math.exp(scaled)) };
}

/** ln(1 + e^x), finite for any x. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
