/**
 * The recipe of the paper (arXiv:2603.10165), for comparison: the judged turns alone, some eight of them a step, every token, a fixed number of
 * steps, nothing confirmed.
 */
import { firstUntold } from "../../data/exchange.ts";
import { takeCandidate, type LearnerDependencies } from "./candidate.ts";
import { correctedRows } from "../lesson/corrected-rows.ts";
import { creditsOf } from "./credits.ts";
import { OBJECTIVES } from "./objective.ts";
import { describeChanges, driftBetween } from "./report.ts";
import { refuse, type CorrectionResult, type Work } from "./result.ts";
import { paceAt, trainStep, type Training } from "./train.ts";

export async function learnByPaper(deps: LearnerDependencies, { group, adapters, request }: Work): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const objective = OBJECTIVES.paper;
  const corrected = await correctedRows(engine, group, {
    base,
    parent: adapters.parent,
    objective,
    baseline: request.baseline,
    hints: request.signals.hints,
    onTaught: deps.onTaught,
  });
  if (corrected.length === 0) {
    const silent = firstUntold(group.flatMap(({ turns }) => turns));
    return refuse(silent?.code ?? "update/failed", silent?.detail ?? "a corrected turn that can be trained on expected, got none");
  }
  const training: Training = { engine, adapter: adapters.candidate, objective, vocabSize, lr: settings.lr };
  const losses: number[] = [];
  for (let step = 0; step < settings.maxSteps; step += 1) {
    losses.push(await trainStep(training, { step, pace: paceAt(step, settings.maxSteps, settings), groups: [], corrected }));
    request.onStep?.({ done: step + 1, of: settings.maxSteps });
  }
  const { adapter, ask } = await takeCandidate(deps, await engine.readAdapter(adapters.candidate), { adapters, seed: request.seed });
  // No held-back contexts here: drift is that of the corrected turns themselves. The teacher gives no answer whose lift could be told.
  const rows = corrected.map(({ row }) => row);
  const klToParentNats = await driftBetween(deps, rows, { from: adapters.parent, to: adapters.candidate });
  const klToBaseNats = await driftBetween(deps, rows, { from: undefined, to: adapters.candidate });
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
    lifts: new Map(),
    credits: await creditsOf(deps, corrected, { parent: adapters.parent, objective }),
  };
}
