/** What a version says of how it came to be: from a batch and what an update made of it. Pure. */
import { LearnedDefault, MOST_DEFAULTS } from "../../../shared/learned-defaults.ts";
import type { EventLineage, PolicyManifest } from "../../../shared/policy.ts";
import { Reach } from "../../../shared/reach.ts";
import { type Signal, untold } from "../../data/exchange.ts";
import type { Verdict } from "../../judge/judge.ts";
import { type Batch, usedOf } from "./batch.ts";
import type { UpdateOutcome } from "../update/learner.ts";

export type Learned = Extract<UpdateOutcome, { status: "learned" }>;

/** What an update was given, and what the gate made of its result. */
export type Made = Pick<PolicyManifest, "seed" | "inputs" | "gate"> & { readonly shares: ReadonlyMap<string, number> };

/** @param runtime of the trainer */
export function manifestOf(
  batch: Batch,
  outcome: Learned,
  { seed, shares, inputs, gate, runtime }: Made & Pick<PolicyManifest, "runtime">,
): Omit<PolicyManifest, "adapter"> {
  const { head, toSeq } = batch;
  const used = usedOf(batch, outcome.refused);
  return {
    agent: head.agent,
    line: head.line,
    parent: head.parent,
    over: head.over?.version ?? null,
    baseDigest: head.baseDigest,
    fromSeq: head.cursor,
    toSeq,
    events: used.map(({ signal, verdict }) => {
      const { eventId } = signal.event;
      return toLineage(signal, verdict, { liftNats: outcome.lifts.get(eventId), share: shares.get(eventId) });
    }),
    hints: [...new Set(used.flatMap(({ verdict }) => (verdict.hint === undefined ? [] : [verdict.hint.text])))],
    defaults: fittingDefaults(outcome.defaults),
    reach: reachOf(outcome),
    metrics: outcome.metrics,
    changes: [...outcome.changes],
    gate,
    inputs,
    imported: null,
    seed,
    runtime: { ...runtime },
  };
}

/** What a version answers for. One that has learned more than a manifest has room for answers for all, since nobody knows about what. */
export function reachOf({ defaults, reach }: Pick<Learned, "defaults" | "reach">): Reach {
  const count = (some: readonly LearnedDefault[]): number => some.filter(({ held }) => held !== false).length;
  return count(fittingDefaults(defaults)) < count(defaults) ? null : (Reach.safeParse(reach).data ?? null);
}

/** What is too long to be looked for in calls costs no version its place; nor do those that hold no longer cost the ones that were learned theirs. */
export function fittingDefaults(defaults: readonly LearnedDefault[]): LearnedDefault[] {
  const fitting = defaults.filter((each) => LearnedDefault.safeParse(each).success);
  const learned = fitting.filter(({ held }) => held !== false).slice(-MOST_DEFAULTS);
  const released = fitting.filter(({ held }) => held === false).slice(0, MOST_DEFAULTS - learned.length);
  return [...learned, ...released];
}

export function toLineage(
  { event, turns }: Signal,
  { reward, votes, judge, hint }: Verdict,
  { liftNats, share }: { liftNats: number | undefined; share: number | undefined },
): EventLineage {
  const { eventId, seq, turnId, user } = event;
  return {
    eventId,
    seq,
    turnId,
    user,
    reward,
    votes: [...votes],
    judge,
    ...(hint === undefined ? {} : { hint: hint.text }),
    ...(liftNats === undefined ? {} : { liftNats }),
    ...(share === undefined ? {} : { share }),
    ...(turns.some(({ payload }) => untold(payload) !== undefined) ? { reencoded: true as const } : {}),
  };
}
