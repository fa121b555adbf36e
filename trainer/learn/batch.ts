/** A batch of the loop: the pending events up to one `seq`, judged, and what becomes of those that teach nothing. */
import type { LineHead } from "../../shared/policy.ts";
import type { Signal } from "../data/exchange.ts";
import { DETAIL_CHARS, type Refusal } from "../data/refusal.ts";
import type { Verdict } from "../judge/judge.ts";

export type Judged = { readonly signal: Signal; readonly verdict: Verdict };

export type Batch = {
  readonly head: LineHead;
  readonly toSeq: number;
  readonly judged: readonly Judged[];
  /** Those that say what should have been different. */
  readonly corrected: readonly Judged[];
  readonly refusals: readonly Refusal[];
};

/** Every signal of the batch that an update was not trained on, once each, with its reason. */
export function refusalsOf(
  { judged, refusals }: Batch,
  { refused, used }: { refused: readonly Refusal[]; used: readonly Judged[] },
): Refusal[] {
  const told = new Set([...refusals, ...refused].map(({ eventId }) => eventId));
  const learnt = new Set(used.map(({ signal }) => signal.event.eventId));
  const rest = judged.filter(({ signal: { event } }) => !told.has(event.eventId) && !learnt.has(event.eventId)).map(toUnlearnt);
  return [...refusals, ...refused, ...rest].map((refusal) => ({ ...refusal, detail: refusal.detail.slice(0, DETAIL_CHARS) }));
}

/** Why a judged signal was consumed without an update. */
function toUnlearnt({ signal, verdict }: Judged): Refusal {
  const { eventId } = signal.event;
  if (verdict.refused !== undefined) return { eventId, ...verdict.refused };
  if (verdict.hint !== undefined) return { eventId, code: "learning/disabled", detail: "learning is switched off for this agent" };
  return verdict.reward < 0
    ? { eventId, code: "hint/none", detail: verdict.detail }
    : { eventId, code: "judge/notNegative", detail: `reward ${verdict.reward}: ${verdict.detail}` };
}
