/**
 * Exchanges with a reward, step by step: the tokens that the policy generated, with an advantage each. What was drawn otherwise
 * than its log-probs tell, under notes or after a yes that nobody gave, or by a version too far behind, is refused.
 */
import { at, zipStrict } from "../../../shared/assert.ts";
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import { importanceWeights, stalenessOf } from "../../advantage/staleness.ts";
import { stepAdvantages } from "../../advantage/steps.ts";
import { firstUntold, type LoggedTurn, prompted, untrainable } from "../../data/exchange.ts";
import type { Refusal } from "../../data/refusal.ts";
import type { TokenMask } from "../../../shared/grammar/token-grammar.ts";
import type { LearnerDependencies } from "../update/candidate.ts";
import { masksOf } from "./corrected-rows.ts";
import type { RewardedExchange } from "../update/learner.ts";
import { CLIP } from "../update/objective.ts";
import { fits, packRows, tooLong, type Row } from "./rows.ts";
import { maskedLogProbs, scoreRows, sharpen, type Scoring } from "./scores.ts";
import { MEAN_CALL_TOKENS, tokensOf, type MoreLoss } from "../update/train.ts";

export type RewardRow = {
  /** The reward's event, and the turn of its exchange. */
  readonly eventId: string;
  readonly turnId: string;
  readonly row: Row;
  readonly masks: readonly (TokenMask | undefined)[];
  /** A_t · min(π_parent / μ, 2) of each token. */
  readonly advantages: readonly number[];
  /** ln π_parent of each token under its masks, at temperature 1: what the clip is about. */
  readonly oldLogProbs: Float32Array;
  /** Whole distributions of the parent and of the base [n·V]. */
  readonly parent: Float32Array;
  readonly base: Float32Array;
  /** Coefficient of each of its tokens. */
  readonly weight: number;
};

type Usable = { readonly exchange: RewardedExchange; readonly masks: readonly (readonly (TokenMask | undefined)[])[] };

/** The exchanges whose every step can be learned from, and why the others cannot. */
export function usableExchanges(
  rewarded: readonly RewardedExchange[],
  {
    base,
    parentVersion,
    maxStaleness,
  }: { base: Pick<LearnerDependencies["base"], "grammars" | "rowTokens">; parentVersion: number; maxStaleness: number },
): { usable: Usable[]; refused: Refusal[]; staleness: number[] } {
  const usable: Usable[] = [];
  const refused: Refusal[] = [];
  const staleness: number[] = [];
  for (const exchange of rewarded) {
    const { eventId, steps } = exchange;
    const fault = rewardFault(exchange, { parentVersion, maxStaleness });
    const masks = steps.map(({ turn }) => stepMasks(turn.payload, base.grammars));
    const long = steps
      .map(({ turn }) => turn.payload.rollout)
      .find((each) => !fits(base, each.promptTokens.length, each.responseTokens.length));
    const unusable = steps.map(({ turn }) => turn.payload.rollout.unusable).find((each) => each !== undefined);
    if (fault !== undefined) refused.push(fault);
    else if (unusable !== undefined) refused.push({ eventId, code: "turn/ratios", detail: unusable.reason });
    else if (long !== undefined)
      refused.push({ eventId, code: "turn/tooLong", detail: tooLong(base, long.promptTokens.length, long.responseTokens.length) });
    else if (masks.some((each) => each === undefined))
      refused.push({
        eventId,
        code: "turn/ratios",
        detail: "masks that the log tells expected; ratios of other draws mean nothing",
      });
    else {
      usable.push({ exchange, masks: masks.map((each) => each ?? []) });
      staleness.push(behindBy(exchange, parentVersion));
    }
  }
  return { usable, refused, staleness };
}

type Steps = Pick<RewardedExchange, "steps">;

/** How far the parent is from the furthest of the exchange's steps, in versions. */
function behindBy({ steps }: Steps, parentVersion: number): number {
  return Math.max(...steps.map(({ turn }) => stalenessOf(turn, parentVersion)));
}

/** Why an exchange's tokens and log-probs cannot be learned from, by whatever trainer; undefined where they can. */
export function rewardFault(
  exchange: Steps & Pick<RewardedExchange, "eventId">,
  { parentVersion, maxStaleness }: { parentVersion: number; maxStaleness: number },
): Refusal | undefined {
  const { eventId, steps } = exchange;
  const turns = steps.map(({ turn }) => turn);
  const behind = behindBy(exchange, parentVersion);
  if (behind > maxStaleness)
    return { eventId, code: "turn/stale", detail: `at most ${maxStaleness} versions behind expected, got ${behind}` };
  const bad = turns.find(({ payload }) => untrainable(payload) !== undefined);
  if (bad !== undefined) return { eventId, code: "turn/lengths", detail: `turn ${bad.turnId} cannot be trained on` };
  const fault =
    firstUntold(turns) ?? turns.map(({ payload }) => drawnOtherwise(payload) ?? prompted(payload)).find((each) => each !== undefined);
  return fault && { eventId, ...fault };
}

/** Why log-probs are of another draw than the tokens. */
function drawnOtherwise({ rollout: { sampling } }: LoggedTurn["payload"]): { code: "turn/ratios"; detail: string } | undefined {
  return sampling.topP < 1 ? { code: "turn/ratios", detail: "top_p 1 expected; ratios of other draws mean nothing" } : undefined;
}

function stepMasks(
  payload: RewardedExchange["steps"][number]["turn"]["payload"],
  grammars: LearnerDependencies["base"]["grammars"],
): readonly (TokenMask | undefined)[] | undefined {
  const { sampling, responseTokens } = payload.rollout;
  return sampling.masked ? masksOf(payload, grammars) : responseTokens.map(() => undefined);
}

/** Rows of the steps that tell something. An exchange's share is spread evenly over its tokens. */
export async function rewardRows(
  engine: Scoring,
  usable: readonly Usable[],
  {
    parent,
    baseline,
    signals,
    vocabSize,
  }: { parent: string | undefined; baseline: number; signals: Pick<SignalSettings, "rewards">; vocabSize: number },
): Promise<RewardRow[]> {
  const advantages = stepAdvantages(
    usable.map(({ exchange }) => exchange),
    { rewards: signals.rewards === "steps" ? "steps" : "outcome", baseline },
  );
  const total = usable.reduce((sum, { exchange }) => sum + exchange.share, 0);
  const steps = usable.flatMap(({ exchange, masks }, index) => {
    const tokens = exchange.steps.reduce((sum, { turn }) => sum + turn.payload.rollout.responseTokens.length, 0);
    return exchange.steps.flatMap(({ turn }, step) => {
      const advantage = advantages[index]?.[step];
      const { promptTokens: prompt, responseTokens: answer } = turn.payload.rollout;
      const weight = (exchange.share / total / tokens) * MEAN_CALL_TOKENS;
      return advantage === undefined
        ? []
        : [{ eventId: exchange.eventId, turn, row: { prompt, answer }, masks: at(masks, step), advantage, weight }];
    });
  });
  const rows = steps.map(({ row }) => row);
  const parents = await scoreRows(engine, rows, { adapter: parent, full: true, vocabSize });
  const bases = parent === undefined ? parents : await scoreRows(engine, rows, { adapter: undefined, full: true, vocabSize });
  return zipStrict(steps, parents).map(([{ eventId, turn, row, masks, advantage, weight }, { full }], index) => {
    const { rolloutLogProbs, sampling } = turn.payload.rollout;
    const { answer } = row;
    const temperature = sampling.temperature === 0 ? 1 : sampling.temperature;
    const drawn = temperature === 1 ? full : sharpen(full, { temperature, vocabSize });
    const ratios = importanceWeights(maskedLogProbs(drawn, { answer, masks, vocabSize }), rolloutLogProbs);
    return {
      eventId,
      turnId: turn.turnId,
      row,
      masks,
      advantages: ratios.map((ratio) => ratio * advantage),
      oldLogProbs: maskedLogProbs(full, { answer, masks, vocabSize }),
      parent: full,
      base: at(bases, index).full,
      weight,
    };
  });
}

/** The term of rewards: Σ_t w_t [ −min(A_t ρ_t, A_t clip(ρ_t)) + β KL(π ‖ base) ], ρ against the parent. */
export function rewardLoss(rows: readonly RewardRow[], { klToBase }: Pick<SignalSettings, "klToBase">): MoreLoss {
  return async ({ engine, adapter, vocabSize }) => {
    let loss = 0;
    for (const packed of packRows(rows.map(({ row }) => row))) {
      const size = packed.batch.positions.length;
      const [weights, advantages, oldLogProbs] = [new Float32Array(size), new Float32Array(size), new Float32Array(size)];
      const teacherLogProbs = new Float32Array(klToBase > 0 ? size * vocabSize : 0);
      const masks = new Map<number, TokenMask>();
      packed.rowIndices.forEach((index, place) => {
        const offset = at(packed.offsets, place);
        const each = at(rows, index);
        weights.fill(each.weight, offset, offset + each.row.answer.length);
        advantages.set(each.advantages, offset);
        oldLogProbs.set(each.oldLogProbs, offset);
        if (klToBase > 0) teacherLogProbs.set(each.base, offset * vocabSize);
        each.masks.forEach((mask, token) => {
          if (mask !== undefined) masks.set(offset + token, mask);
        });
      });
      const { losses } = await engine.accumulateAdapter(adapter, {
        ...tokensOf(packed),
        policy: { advantages, oldLogProbs, weights, ...(masks.size === 0 ? {} : { masks }), ...CLIP },
        ...(klToBase > 0 ? { reverseKl: { teacherLogProbs, weights: weights.map((weight) => weight * klToBase) } } : {}),
      });
      loss += (losses.policy ?? 0) + (losses.reverseKl ?? 0);
    }
    return loss;
  };
}
