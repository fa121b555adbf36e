/** The steps of one correction, steered by looks at the held-back contexts. */
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { look, type HeldBack, type Look } from "./confirm.ts";
import type { CorrectedRow } from "./corrected-rows.ts";
import { OBJECTIVES } from "./objective.ts";
import { refuse, type RefusedCorrection } from "./result.ts";
import { groupLessons, trainStep, type TaughtLesson, type Training } from "./train.ts";

export type Run = {
  readonly status: "trained";
  readonly adapter: AdapterTensors;
  readonly steps: number;
  readonly loss: number;
  readonly lossBefore: number;
  readonly look: Look;
};

/** Trains and looks in turn; keeps the best look whose price is within bounds, stops when two looks in a row leave nothing to wish or when the policy runs away. */
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
  const training: Training = { engine, adapter: adapters.candidate, objective: OBJECTIVES.hybrid, vocabSize, lr: settings.lr };
  const groups = groupLessons(taught, training);
  let best: Run | undefined;
  let settled = 0;
  let lossBefore: number | undefined;
  let last: Look | undefined;
  for (let step = 0; step < settings.maxSteps && settled < SETTLED_LOOKS; step += 1) {
    const loss = await trainStep(training, { step, groups, corrected });
    lossBefore ??= loss;
    if ((step + 1) % settings.checkEvery !== 0) continue;
    last = await look(engine, held, { adapter: adapters.candidate, tokenizer: base.tokenizer, vocabSize });
    deps.onLook?.({ step: step + 1, loss, ...last });
    if (last.driftNats > RUNAWAY * settings.driftLimitNats) break;
    if (last.driftNats > settings.driftLimitNats) continue;
    const complete = last.honoured === 1 && last.kept === 1;
    settled = complete ? settled + 1 : 0;
    if (best === undefined || valueOf(last) >= valueOf(best.look))
      best = { status: "trained", adapter: await engine.readAdapter(adapters.candidate), steps: step + 1, loss, lossBefore, look: last };
  }
  if (best !== undefined) return best;
  return refuse(
    "update/drift",
    `drift of at most ${settings.driftLimitNats} nats expected, got ${last?.driftNats.toFixed(4) ?? "no look"}`,
  );
}

const SETTLED_LOOKS = 2;
// A candidate beyond the limit is never taken. The first steps often overshoot and the trust region pulls them back;
// from several times the limit nothing comes back.
const RUNAWAY = 4;

/** Deafness costs as much as learning gains. */
function valueOf({ honoured, kept }: Look): number {
  return honoured + kept;
}
