/** Learning from what enough have said, although an update may refuse single events of it: of the rest there may be too few. */
import type { Audience } from "../../../shared/influence.ts";
import type { Refusal } from "../../data/refusal.ts";
import type { UpdateOutcome } from "../update/learner.ts";
import { type Batch, usedOf } from "./batch.ts";
import { weighAgain } from "./influence.ts";

type Heard<Lesson> = {
  readonly batch: Batch;
  /** Absent where nothing is left to learn. */
  readonly lesson?: Lesson;
};
type Learning<Lesson> = {
  readonly audience: Audience;
  /** Of the loss weight, by event of the batch. */
  readonly shares: ReadonlyMap<string, number>;
  readonly learn: (batch: Batch, shares: ReadonlyMap<string, number>) => Promise<Lesson>;
};

/**
 * Learns, and again without the topics that too few are left to say. The edge weighs what a version was made of and would take none in which
 * few decide for many: made of the same batch again, it would be the same, for ever.
 */
export async function learnHeard<Lesson extends { readonly outcome: UpdateOutcome }>(
  batch: Batch,
  { audience, shares, learn }: Learning<Lesson>,
): Promise<Heard<Lesson>> {
  const lesson = await learn(batch, shares);
  const { outcome } = lesson;
  const left = outcome.status === "learned" ? usedOf(batch, outcome.refused) : [];
  const { refusals } = weighAgain(left, audience);
  if (refusals.length === 0) return { batch, lesson };
  const rest = without(batch, [...outcome.refused, ...refusals]);
  if (rest.learnable.length === 0) return { batch: rest };
  return learnHeard(rest, { audience, shares: weighAgain(rest.learnable, audience).shares, learn });
}

function without(batch: Batch, refused: readonly Refusal[]): Batch {
  return { ...batch, learnable: usedOf(batch, refused), refusals: [...batch.refusals, ...refused] };
}
