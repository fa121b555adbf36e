import { askGreedily, roundCandidate, type LearnerDependencies } from "./candidate.ts";
import { type CorrectedRow, correctedRows } from "./corrected-rows.ts";
import { OBJECTIVES } from "./objective.ts";
import { describeChanges, driftBetween } from "./report.ts";
import type { CorrectionResult, Work } from "./result.ts";
import { trainStep, type Training } from "./train.ts";

/** The published recipe, for comparison: the judged turns alone, every token, a fixed number of steps, nothing confirmed. */
export async function learnAsPublished(deps: LearnerDependencies, { group, adapters, request }: Work): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const objective = OBJECTIVES.paper;
  const corrected = await correctedRows(engine, group, {
    tokenizer: base.tokenizer,
    parent: adapters.parent,
    objective,
    baseline: request.baseline,
    vocabSize,
  });
  const training: Training = { engine, adapter: adapters.candidate, objective, vocabSize, lr: settings.lr, maxSteps: settings.maxSteps };
  const losses: number[] = [];
  for (let step = 0; step < settings.maxSteps; step += 1) losses.push(await trainStep(training, { step, groups: [], corrected }));
  const adapter = await roundCandidate(engine, adapters.candidate);
  // No held-back contexts here: drift and lift are those of the corrected turns themselves.
  const rows = corrected.map(({ row }) => row);
  const klToParentNats = await driftBetween(deps, rows, { from: adapters.parent, to: adapters.candidate });
  const klToBaseNats = await driftBetween(deps, rows, { from: undefined, to: adapters.candidate });
  const ask = askGreedily(engine, { adapter: adapters.candidate, eosId: base.tokenizer.eosId, seed: request.seed });
  return {
    status: "learned",
    adapter,
    metrics: {
      steps: losses.length,
      loss: losses.at(-1) ?? 0,
      lossBefore: losses[0] ?? 0,
      klToParentNats,
      klToBaseNats,
      contexts: corrected.length,
    },
    changes: await describeChanges(deps, { group, ask }),
    lifts: liftByEvent(corrected),
  };
}

/** Lift of each exchange: ln p_teacher − ln p_student of the answers that were given, nats. */
function liftByEvent(corrected: readonly CorrectedRow[]): Map<string, number> {
  const lifts = new Map<string, number>();
  for (const { eventId, lift } of corrected) lifts.set(eventId, (lifts.get(eventId) ?? 0) + lift);
  return lifts;
}
