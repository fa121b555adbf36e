/**
 * Learns from rewards alone: a few steps of the clipped objective on what the policy generated, held to its parent by errands and
 * to the base by a KL term. The last step within the drift that an update may have is taken.
 */
import { at } from "../../../shared/assert.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import { writtenText } from "../../teacher/answer-text.ts";
import { askGreedily, type Adapters, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import { piecesOf } from "./credits.ts";
import { costToEarlier } from "./earlier.ts";
import type { RewardedExchange, UpdateRequest } from "./learner.ts";
import { driftBetween, askedWords } from "./report.ts";
import { refuse, type CorrectionResult } from "./result.ts";
import { rewardLoss, rewardRows, type usableExchanges } from "../lesson/reward-rows.ts";
import { UnseenErrands } from "../lesson/staying.ts";
import { hybridTraining, trainStep } from "./train.ts";

type RewardWork = {
  readonly usable: ReturnType<typeof usableExchanges>["usable"];
  readonly staleness: readonly number[];
  readonly adapters: Adapters;
  readonly request: UpdateRequest;
  readonly earlier: readonly HeldBack[];
};

const STEPS = 4; // as many as it takes to warm up; the clip ends what a token may move, and more steps move the others
const SHOWN = 8; // exchanges that the version shows

export async function learnRewards(
  deps: LearnerDependencies,
  { usable, staleness, adapters, request, earlier }: RewardWork,
): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { vocabSize } = base.config;
  const { signals, seed } = request;
  const rows = await rewardRows(engine, usable, { parent: adapters.parent, signals, vocabSize });
  if (rows.every(({ advantages }) => advantages.every((advantage) => advantage === 0)))
    return refuse(
      "judge/notNegative",
      "rewards that differ within a task expected, got the same everywhere: nothing is better than anything",
    );
  const training = hybridTraining(deps, { adapters, version: request.parentVersion });
  const unseen = new UnseenErrands(deps, { parent: adapters.parent, seed });
  const losses: number[] = [];
  let taken: { adapter: AdapterTensors; driftNats: number; steps: number } | undefined;
  let drift = 0;
  for (let step = 0; step < STEPS && drift <= settings.driftLimitNats; step += 1) {
    losses.push(
      await trainStep(training, { step, pace: (step + 1) / STEPS, groups: [], corrected: [], more: [rewardLoss(rows, signals)] }),
    );
    drift = await unseen.drift(adapters.candidate);
    deps.onLook?.({ step: step + 1, loss: at(losses, step), honoured: 1, kept: 1, driftNats: drift });
    if (drift <= settings.driftLimitNats)
      taken = { adapter: await engine.readAdapter(adapters.candidate), driftNats: drift, steps: step + 1 };
  }
  if (taken === undefined)
    return refuse("update/drift", `drift of at most ${settings.driftLimitNats} nats expected, got ${drift.toFixed(4)}`);
  const { adapter, ask } = await takeCandidate(deps, taken.adapter, { adapters, seed });
  const cost = await costToEarlier(deps, earlier, { tools: [], adapter: adapters.candidate, ask });
  if (cost !== undefined) return cost;
  const moved = rows.map(({ row }) => row);
  return {
    status: "learned",
    adapter,
    metrics: {
      // Of what is published: a step that drifted too far was not taken.
      steps: taken.steps,
      loss: at(losses, taken.steps - 1),
      lossBefore: at(losses, 0),
      klToParentNats: taken.driftNats,
      klToBaseNats: await driftBetween(deps, moved, { from: undefined, to: adapters.candidate }),
      contexts: rows.length,
      staleness: { mean: staleness.reduce((sum, each) => sum + each, 0) / staleness.length, max: Math.max(...staleness) },
    },
    changes: await changesOf(
      deps,
      usable.slice(0, SHOWN).map(({ exchange }) => exchange),
      ask,
    ),
    credits: rows.map(({ eventId, turnId, row, advantages }) => ({
      ...{ eventId, turnId },
      pieces: piecesOf(row.answer, advantages, (ids) => base.tokenizer.decode(ids)),
    })),
    lifts: new Map(),
  };
}

/** The first step of each exchange, answered again, for people to read. */
async function changesOf(
  { base: { tokenizer } }: LearnerDependencies,
  exchanges: readonly RewardedExchange[],
  ask: ReturnType<typeof askGreedily>,
): Promise<{ prompt: string; before: string; after: string }[]> {
  const turns = exchanges.map(({ steps }) => at(steps, 0).turn.payload);
  const answers = await ask(turns.map(({ rollout, tools }) => ({ prompt: rollout.promptTokens, tools })));
  return turns.map(({ messages, rollout }, index) => ({
    prompt: askedWords(messages),
    before: writtenText(tokenizer, rollout.responseTokens),
    after: writtenText(tokenizer, answers[index] ?? []),
  }));
}
