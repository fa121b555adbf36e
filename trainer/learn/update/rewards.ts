/**
 * Learns from rewards alone: a few steps of the clipped objective on what the policy generated, held to its parent by errands and
 * to the base by a KL term. The clip ends a token's gradient and not what the last step has already moved, so the trust region is
 * kept by looking: no further than an update may drift, on errands as on the rewarded answers themselves.
 */
import { at } from "../../../shared/assert.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import { writtenText } from "../../teacher/answer-text.ts";
import { between } from "./average.ts";
import { askGreedily, type Adapters, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import { piecesOf } from "./credits.ts";
import { costToEarlier } from "./earlier.ts";
import type { RewardedExchange, UpdateRequest } from "./learner.ts";
import { askedWords } from "./report.ts";
import { refuse, type CorrectionResult, type RefusedCorrection } from "./result.ts";
import { rewardLoss, type RewardRow, rewardRows, type usableExchanges } from "../lesson/reward-rows.ts";
import { meanKlNats, scoreRows } from "../lesson/scores.ts";
import { UnseenErrands } from "../lesson/staying.ts";
import { heldTraining, trainStep } from "./train.ts";

type RewardWork = {
  readonly usable: ReturnType<typeof usableExchanges>["usable"];
  readonly staleness: readonly number[];
  readonly adapters: Adapters;
  readonly request: UpdateRequest;
  readonly earlier: readonly HeldBack[];
};

const STEPS = 4; // as many as it takes to warm up
const HALVINGS = 5; // of a step that went too far
const SHOWN = 8; // exchanges that the version shows

export async function learnRewards(
  deps: LearnerDependencies,
  { usable, staleness, adapters, request, earlier }: RewardWork,
): Promise<CorrectionResult> {
  const { engine, base } = deps;
  const { vocabSize } = base.config;
  const { baseline, signals, seed } = request;
  const rows = await rewardRows(engine, usable, { parent: adapters.parent, baseline, signals, vocabSize });
  if (rows.every(({ advantages }) => advantages.every((advantage) => advantage === 0)))
    return refuse(
      "judge/notNegative",
      `rewards that differ within a task, or from the agent's usual ${baseline.toFixed(2)}, expected, got the same everywhere: nothing is better than anything`,
    );
  const { taken, losses } = await stepWithin(deps, { rows, adapters, request });
  if (taken.status === "refused") return taken;
  const { adapter, ask } = await takeCandidate(deps, taken.adapter, { adapters, seed });
  const cost = await costToEarlier(deps, earlier, { tools: [], adapter: adapters.candidate, ask });
  if (cost !== undefined) return cost;
  return {
    status: "learned",
    adapter,
    metrics: {
      // Of what is published: a step that drifted too far was not taken.
      steps: taken.steps,
      loss: at(losses, taken.steps - 1),
      lossBefore: at(losses, 0),
      klToParentNats: taken.driftNats,
      klToBaseNats: await driftFrom("base", rows, { deps, adapter: adapters.candidate }),
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

/** Steps as far as drift allows, and the loss before each. */
async function stepWithin(
  deps: LearnerDependencies,
  { rows, adapters, request: { parentVersion, signals, seed } }: Pick<RewardWork, "adapters" | "request"> & { rows: readonly RewardRow[] },
): Promise<{ taken: Taken | RefusedCorrection; losses: readonly number[] }> {
  const { engine, settings } = deps;
  const training = heldTraining(deps, { adapters, version: parentVersion });
  const unseen = new UnseenErrands(deps, { parent: adapters.parent, seed });
  const drift = async (): Promise<number> =>
    Math.max(await unseen.drift(adapters.candidate), await driftFrom("parent", rows, { deps, adapter: adapters.candidate }));
  const rate = Math.min(1, largestOf(rows));
  const losses: number[] = [];
  let taken: Taken = { status: "taken", adapter: await engine.readAdapter(adapters.candidate), driftNats: 0, steps: 0 };
  for (let step = 0; step < STEPS; step += 1) {
    const pace = (rate * (step + 1)) / STEPS;
    losses.push(await trainStep(training, { step, pace, groups: [], corrected: [], more: [rewardLoss(rows, signals)] }));
    const made: Taken = {
      status: "taken",
      adapter: await engine.readAdapter(adapters.candidate),
      driftNats: await drift(),
      steps: step + 1,
    };
    deps.onLook?.({ step: step + 1, loss: at(losses, step), honoured: 1, kept: 1, driftNats: made.driftNats });
    if (made.driftNats > settings.driftLimitNats) {
      taken = await halve(deps, { from: taken, to: made, adapters, drift });
      if (taken.steps > 0) break;
      const expected = `drift of at most ${settings.driftLimitNats} nats expected, got ${made.driftNats.toFixed(4)}`;
      return { taken: refuse("update/drift", expected), losses };
    }
    taken = made;
  }
  return { taken, losses };
}

/** The largest |A|. AdamW's steps are as long for advantages of a hundredth as for those of 1, so the rate is to be as small as they are. */
function largestOf(rows: readonly RewardRow[]): number {
  return rows.reduce((most, { advantages }) => advantages.reduce((own, advantage) => Math.max(own, Math.abs(advantage)), most), 0);
}

type Taken = { readonly status: "taken"; readonly adapter: AdapterTensors; readonly driftNats: number; readonly steps: number };

/** Half of a step that went too far, or half of that, until it is near enough (backtracking line search, arXiv:1502.05477 appendix C); none of it where none is. */
async function halve(
  { engine, settings }: LearnerDependencies,
  { from, to, adapters, drift }: { from: Taken; to: Taken; adapters: Adapters; drift: () => Promise<number> },
): Promise<Taken> {
  for (let halving = 1; halving <= HALVINGS; halving += 1) {
    const adapter = between(from.adapter, to.adapter, 0.5 ** halving);
    await engine.loadAdapter(adapters.candidate, adapter);
    const driftNats = await drift();
    if (driftNats <= settings.driftLimitNats) return { ...to, adapter, driftNats };
  }
  return from;
}

/** Mean over rows of the mean KL(parent or base ‖ adapter) per token, nats; what those say was asked for once. */
async function driftFrom(
  origin: "parent" | "base",
  rows: readonly RewardRow[],
  { deps: { engine, base }, adapter }: { deps: LearnerDependencies; adapter: string },
): Promise<number> {
  const { vocabSize } = base.config;
  const scores = await scoreRows(
    engine,
    rows.map(({ row }) => row),
    { adapter, full: true, vocabSize },
  );
  return scores.reduce((sum, { full }, index) => sum + meanKlNats(at(rows, index)[origin], full, vocabSize), 0) / rows.length;
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
