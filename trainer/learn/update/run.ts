/** The steps of an update, steered by looks at the held-back contexts. */
import type { UpdateSettings } from "../../config.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { AdapterAverage, between } from "./average.ts";
import type { Look } from "./confirm.ts";
import type { CorrectedRow } from "../lesson/corrected-rows.ts";
import type { UpdateRequest } from "./learner.ts";
import { type Objective, OBJECTIVES } from "./objective.ts";
import { refuse, type RefusedCorrection } from "./result.ts";
import { groupLessons, heldTraining, type MoreLoss, paceAt, trainStep, type TaughtLesson } from "./train.ts";

export type Run = {
  readonly status: "trained";
  readonly adapter: AdapterTensors;
  readonly steps: number;
  readonly loss: number;
  readonly lossBefore: number;
  readonly look: Look;
};

type Training = {
  readonly taught: readonly TaughtLesson[];
  readonly corrected?: readonly CorrectedRow[];
  readonly more?: readonly MoreLoss[];
  /** What weighs the terms of corrected turns. */
  readonly objective?: Objective;
  /** What the named adapter shows on contexts that are never trained on. */
  readonly look: (adapter: string) => Promise<Look>;
  /** Steps before which there is nothing to see. */
  readonly lookFrom?: number;
  readonly adapters: Adapters;
  /** That the update goes out from. */
  readonly version: number;
  readonly onStep: UpdateRequest["onStep"];
};

/**
 * Trains and looks in turn: at the full rate until a look meets both bars, then while the rate falls to zero. Keeps the best
 * look whose price is within bounds, made as small as it can be; stops when the policy runs away.
 */
export async function trainUntilShown(deps: LearnerDependencies, training: Training): Promise<Run | RefusedCorrection> {
  const start = await deps.engine.readAdapter(training.adapters.candidate);
  const { best, last } = await stepAndLook(deps, training);
  if (best !== undefined) return shrink(deps, { ...training, start, best });
  const { driftLimitNats } = deps.settings;
  return refuse("update/drift", `drift of at most ${driftLimitNats} nats expected, got ${last?.driftNats.toFixed(4) ?? "no look"}`);
}

/** The best look at the mean of the last steps, and the last one. */
async function stepAndLook(
  deps: LearnerDependencies,
  { taught, corrected = [], more = [], objective = OBJECTIVES.distillation, look, lookFrom = 0, adapters, version, onStep }: Training,
): Promise<{ best: Run | undefined; last: Look | undefined }> {
  const { engine, settings } = deps;
  const training = heldTraining(deps, { adapters, version, objective });
  const groups = groupLessons(taught, training);
  const average = new AdapterAverage(settings.averagedSteps);
  const averaged = `${adapters.candidate}.average`;
  let [best, lossBefore, last]: [Run | undefined, number | undefined, Look | undefined] = [undefined, undefined, undefined];
  let end = settings.maxSteps;
  let loaded = false;
  try {
    for (let step = 0; step < end; step += 1) {
      const loss = await trainStep(training, { step, pace: paceAt(step, end, settings), groups, corrected, more });
      lossBefore ??= loss;
      onStep?.({ done: step + 1, of: end });
      average.add(await engine.readAdapter(adapters.candidate));
      const isLook = (step + 1) % settings.checkEvery === 0 && step + 1 >= lookFrom;
      if (!isLook && step + 1 < end) continue;
      await engine.loadAdapter(averaged, average.adapter);
      loaded = true;
      last = await look(averaged);
      deps.onLook?.({ step: step + 1, loss, ...last });
      if (last.driftNats > RUNAWAY * settings.driftLimitNats) break;
      if (last.driftNats > settings.driftLimitNats) continue;
      if (shortfall(last, settings) === 0) end = Math.min(end, step + 1 + settings.settleSteps);
      if (best === undefined || valueOf(last, settings) >= valueOf(best.look, settings))
        best = { status: "trained", adapter: average.adapter, steps: step + 1, loss, lossBefore, look: last };
    }
  } finally {
    if (loaded) await engine.dropAdapter(averaged);
  }
  return { best, last };
}

// A candidate beyond the limit is never taken. The first steps often overshoot and the trust region pulls them back;
// from several times the limit nothing comes back.
const RUNAWAY = 4;

/** The smallest part of the update that shows as much: drift falls with its square (Taylor of the KL about the parent). */
async function shrink(
  { engine, settings }: LearnerDependencies,
  { start, best, look, adapters }: { start: AdapterTensors; best: Run; look: (adapter: string) => Promise<Look>; adapters: Adapters },
): Promise<Run> {
  let smallest = best;
  for (const part of PARTS) {
    if (smallest.look.driftNats <= UNTOUCHED_NATS) break;
    const adapter = between(start, best.adapter, part);
    await engine.loadAdapter(adapters.candidate, adapter);
    const seen = await look(adapters.candidate);
    if (valueOf(seen, settings) < valueOf(best.look, settings)) break;
    smallest = { ...best, adapter, look: seen };
  }
  return smallest;
}

const PARTS = [0.85, 0.7, 0.55] as const;
// Below it little turns over, and a smaller update would only be learned less surely: what held-back contexts just show, real requests may not.
const UNTOUCHED_NATS = 0.02;

/** Both bars first, because a candidate below either is refused; beyond them deafness costs as much as learning gains, and what turned over a little. */
function valueOf(seen: Look, settings: UpdateSettings): number {
  return seen.honoured + seen.kept + STAYS_WORTH * seen.stays - SHORTFALL_COST * shortfall(seen, settings);
}

function shortfall({ honoured, kept }: Look, { honouredBar, statedBar }: UpdateSettings): number {
  return Math.max(0, honouredBar - honoured) + Math.max(0, statedBar - kept);
}

const SHORTFALL_COST = 10; // more than all that can be gained
const STAYS_WORTH = 0.25; // mostly a word of a reply
