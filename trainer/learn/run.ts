/** The steps of one correction, steered by looks at the held-back contexts. */
import { at } from "../../shared/assert.ts";
import type { UpdateSettings } from "../config.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { look, type HeldBack, type Look } from "./confirm.ts";
import type { CorrectedRow } from "./corrected-rows.ts";
import { OBJECTIVES } from "./objective.ts";
import { refuse, type RefusedCorrection } from "./result.ts";
import { groupLessons, paceAt, trainStep, type TaughtLesson, type Training } from "./train.ts";

export type Run = {
  readonly status: "trained";
  /** What may be published, the smallest change first: looks promise, and only the candidate's own answers tell. */
  readonly candidates: readonly AdapterTensors[];
  readonly steps: number;
  readonly loss: number;
  readonly lossBefore: number;
};

type Best = Omit<Run, "candidates"> & { readonly adapter: AdapterTensors; readonly look: Look };

/**
 * Trains and looks in turn: at the full rate until a look meets both bars, then while the rate falls to zero. Keeps the best
 * look whose price is within bounds, made as small as it can be; stops when the policy runs away.
 */
export async function trainUntilShown(
  deps: LearnerDependencies,
  {
    taught,
    corrected,
    held,
    adapters,
  }: { taught: readonly TaughtLesson[]; corrected: readonly CorrectedRow[]; held: HeldBack; adapters: Adapters },
): Promise<Run | RefusedCorrection> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const training: Training = {
    engine,
    adapter: adapters.candidate,
    objective: OBJECTIVES.hybrid,
    vocabSize,
    lr: settings.lr,
  };
  const groups = groupLessons(taught, training);
  const start = await engine.readAdapter(adapters.candidate);
  const shown: AdapterTensors[] = [];
  let best: Best | undefined;
  let lossBefore: number | undefined;
  let last: Look | undefined;
  let end = settings.maxSteps;
  for (let step = 0; step < end; step += 1) {
    const loss = await trainStep(training, { step, pace: paceAt(step, end, settings), groups, corrected });
    lossBefore ??= loss;
    if ((step + 1) % settings.checkEvery !== 0 && step + 1 < end) continue;
    last = await look(engine, held, { adapter: adapters.candidate, tokenizer: base.tokenizer, vocabSize });
    deps.onLook?.({ step: step + 1, loss, ...last });
    if (last.driftNats > RUNAWAY * settings.driftLimitNats) break;
    if (last.driftNats > settings.driftLimitNats) continue;
    if (shortfall(last, settings) === 0) end = Math.min(end, step + 1 + settings.settleSteps);
    const adapter = await engine.readAdapter(adapters.candidate);
    if (end < settings.maxSteps) shown.push(adapter);
    if (best === undefined || valueOf(last, settings) >= valueOf(best.look, settings))
      best = { status: "trained", adapter, steps: step + 1, loss, lossBefore, look: last };
  }
  if (best !== undefined) {
    const { adapter, look: seen, ...run } = await average(deps, { shown, best, held, adapters });
    const smallest = await smallestPart(deps, { start, whole: adapter, seen, held, adapters });
    return { ...run, candidates: [...(smallest === undefined ? [] : [smallest]), adapter] };
  }
  return refuse(
    "update/drift",
    `drift of at most ${settings.driftLimitNats} nats expected, got ${last?.driftNats.toFixed(4) ?? "no look"}`,
  );
}

// A candidate beyond the limit is never taken. The first steps often overshoot and the trust region pulls them back;
// from several times the limit nothing comes back.
const RUNAWAY = 4;

/**
 * The mean of the adapters since the bars were met, where it shows about as much as the best of them: steps at this rate
 * wander about what they should find, and the wandering is what reaches into other requests. (stochastic weight averaging,
 * arXiv:1803.05407)
 */
async function average(
  deps: LearnerDependencies,
  { shown, best, held, adapters }: { shown: readonly AdapterTensors[]; best: Best; held: HeldBack; adapters: Adapters },
): Promise<Best> {
  const [first, ...others] = shown;
  if (first === undefined || others.length === 0) return best;
  const adapter = others.reduce((mean, each, index) => between(mean, each, 1 / (index + 2)), first);
  const seen = await lookAt(deps, adapter, { held, adapters });
  return valueOf(seen, deps.settings) >= valueOf(best.look, deps.settings) - ABOUT ? { ...best, adapter, look: seen } : best;
}

const ABOUT = 0.1; // one of ten held-back contexts

/** The smallest part of the update that shows nearly as much: drift falls with its square (Taylor of the KL about the parent), and what turned over turns back. */
async function smallestPart(
  deps: LearnerDependencies,
  {
    start,
    whole,
    seen: { honoured, kept },
    held,
    adapters,
  }: { start: AdapterTensors; whole: AdapterTensors; seen: Look; held: HeldBack; adapters: Adapters },
): Promise<AdapterTensors | undefined> {
  let smallest: AdapterTensors | undefined;
  for (const part of PARTS) {
    const adapter = between(start, whole, part);
    const seen = await lookAt(deps, adapter, { held, adapters });
    if (seen.honoured < Math.max(deps.settings.honouredBar, NEARLY * honoured) || seen.kept < kept) break;
    smallest = adapter;
  }
  return smallest;
}

const PARTS = [0.85, 0.7, 0.55, 0.4] as const;
const NEARLY = 0.85;

async function lookAt(
  { engine, base: { tokenizer, config } }: LearnerDependencies,
  adapter: AdapterTensors,
  { held, adapters }: { held: HeldBack; adapters: Adapters },
): Promise<Look> {
  await engine.loadAdapter(adapters.candidate, adapter);
  return look(engine, held, { adapter: adapters.candidate, tokenizer, vocabSize: config.vocabSize });
}

/** The point at `part` of the way from one adapter to another of its shape. */
function between(from: AdapterTensors, to: AdapterTensors, part: number): AdapterTensors {
  const tensors = new Map(
    [...to.tensors].map(([name, values]) => {
      const origin = from.tensors.get(name);
      return [name, values.map((value, index) => at(origin ?? values, index) + part * (value - at(origin ?? values, index)))];
    }),
  );
  return { ...to, tensors };
}

/** Both bars first, because a candidate below either is refused; beyond them deafness and a call that turned over cost as much as learning gains. */
function valueOf(seen: Look, settings: UpdateSettings): number {
  return seen.honoured + seen.kept + seen.stays - SHORTFALL_COST * shortfall(seen, settings);
}

function shortfall({ honoured, kept }: Look, { honouredBar, statedBar }: UpdateSettings): number {
  return Math.max(0, honouredBar - honoured) + Math.max(0, statedBar - kept);
}

const SHORTFALL_COST = 10; // more than all that can be gained
