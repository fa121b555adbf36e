/** A batch of the loop: the pending events up to one `seq`, judged, and what becomes of those that teach nothing. */
import { capabilitiesOf, engineTitle } from "../../../shared/engine.ts";
import { eventIdOf, hintIdOf } from "../../../shared/hint-id.ts";
import type { LineHead } from "../../../shared/policy.ts";
import { SHARED_LINE } from "../../../shared/shared-line.ts";
import { isOfOneUser } from "../../../shared/wording.ts";
import type { Signal } from "../../data/exchange.ts";
import { DETAIL_CHARS, type Refusal } from "../../data/refusal.ts";
import type { BarredEvent } from "../../feed/edge-port.ts";
import type { Verdict } from "../../judge/judge.ts";

export type Judged = { readonly signal: Signal; readonly verdict: Verdict };

export type Batch = {
  readonly head: LineHead;
  readonly toSeq: number;
  readonly judged: readonly Judged[];
  /** Those that an update may learn from. */
  readonly learnable: readonly Judged[];
  readonly refusals: readonly Refusal[];
  /** Of the learnable and the refused, events that the version before has learned, and keeps unless another takes its place. */
  readonly carried?: ReadonlySet<string>;
};

/** Each hint of a signal as a judged signal of its own, under the hint's id; the signal as it is where it has one or none. */
export function perHint(judged: Judged): Judged[] {
  const { signal, verdict } = judged;
  const { further, ...first } = verdict;
  if (further === undefined) return [judged];
  const rest = further.map((hint, at) => ({
    signal: { ...signal, event: { ...signal.event, eventId: hintIdOf(signal.event.eventId, at + 2) } },
    verdict: { ...first, hint },
  }));
  return [{ signal, verdict: first }, ...rest];
}

/** How many signals they are the hints of. */
export function signalsAmong(judged: readonly Judged[]): number {
  return new Set(judged.map(({ signal }) => eventIdOf(signal.event.eventId))).size;
}

/** By event id, of several the last. */
export function onceEach(judged: readonly Judged[]): Judged[] {
  return [...new Map(judged.map((each) => [each.signal.event.eventId, each])).values()];
}

/** What is barred from learning: events, and the turns that they are about. */
export function barredSets(barred: readonly BarredEvent[]): { events: ReadonlySet<string>; turns: ReadonlySet<string> } {
  return { events: new Set(barred.map(({ eventId }) => eventId)), turns: new Set(barred.map(({ turnId }) => turnId)) };
}

/** The batch without what is barred, which it refuses. */
export function withoutBarred(batch: Batch, barred: ReadonlySet<string>): Batch {
  const out = batch.learnable.filter(({ signal }) => barred.has(eventIdOf(signal.event.eventId)));
  const refusals = out.map(({ signal }): Refusal => ({
    eventId: signal.event.eventId,
    code: "event/quarantined",
    detail: "barred from learning until somebody lets it back in",
  }));
  return { ...batch, learnable: batch.learnable.filter((each) => !out.includes(each)), refusals: [...batch.refusals, ...refusals] };
}

/** The signals that an update has learned from. */
export function usedOf({ learnable }: Batch, refused: readonly { readonly eventId: string }[]): Judged[] {
  const ids = new Set(refused.map(({ eventId }) => eventId));
  return learnable.filter(({ signal }) => !ids.has(signal.event.eventId));
}

/**
 * Every signal of the batch that an update was not trained on, once each, with its reason; of what is carried none unless the update's
 * version takes the place of the one before. Whether it does is told by the settings that the batch came with; where the gate's budgets change
 * while an update runs, the edge may decide otherwise.
 */
export function refusalsOf(
  { head, judged, refusals, carried }: Batch,
  { refused, used, takesPlace = true }: { refused: readonly Refusal[]; used: readonly Judged[]; takesPlace?: boolean },
): Refusal[] {
  const told = new Set([...refusals, ...refused].map(({ eventId }) => eventId));
  const learned = new Set(used.map(({ signal }) => signal.event.eventId));
  const rest = judged.filter(({ signal: { event } }) => !told.has(event.eventId) && !learned.has(event.eventId));
  const all = [...refusals, ...refused, ...rest.map((each) => toUnlearned(each, head))];
  return all
    .filter(({ eventId }) => takesPlace || carried?.has(eventId) !== true)
    .map((refusal) => ({ ...refusal, detail: refusal.detail.slice(0, DETAIL_CHARS) }));
}

/** Whether what a user says of themselves alone would be learned for others. */
export function isForOthers({ verdict: { hint } }: Judged, line: string): boolean {
  return line === SHARED_LINE && hint !== undefined && isOfOneUser(hint.hint.parameter);
}

/** Why a judged signal was consumed without an update. */
function toUnlearned({ signal, verdict }: Judged, { line, settings: { engine, learning } }: LineHead): Refusal {
  const { eventId } = signal.event;
  if (verdict.refused !== undefined) return { eventId, ...verdict.refused };
  if (isForOthers({ signal, verdict }, line))
    return { eventId, code: "hint/ofOneUser", detail: "a policy that users share learns of nobody what they are called" };
  const teaches = verdict.hint !== undefined || signal.feedback?.answer !== undefined;
  if (teaches && learning.enabled && !capabilitiesOf(engine).adapters)
    return { eventId, code: "engine/noAdapters", detail: `an engine that takes adapters expected, got ${engineTitle(engine)}` };
  if (verdict.hint !== undefined) return { eventId, code: "learning/disabled", detail: "learning is switched off for this agent" };
  if (signal.feedback?.answer !== undefined)
    return { eventId, code: "learning/disabled", detail: "learning, or learning.signals.answers, is switched off for this agent" };
  return verdict.reward < 0
    ? { eventId, code: "hint/none", detail: verdict.detail }
    : { eventId, code: "judge/notNegative", detail: `reward ${verdict.reward}: ${verdict.detail}` };
}

/** By place in the log: the later of two counts. */
export function inOrder(judged: readonly Judged[]): Judged[] {
  return judged.toSorted((a, b) => a.signal.event.seq - b.signal.event.seq);
}
