/** The optimizer steps of one update: lessons in groups, hindsight on the corrected turns, the reward once. */
import { at, invariant } from "../../../shared/assert.ts";
import type { TokenMask } from "../../../shared/grammar/token-grammar.ts";
import { hindsightCandidates, TOP_K } from "../../advantage/hindsight.ts";
import type { UpdateSettings } from "../../config.ts";
import type { EngineCalls } from "../../engine/protocol.ts";
import { sharedFloats } from "../../onnx/memory.ts";
import { scheduleFactor } from "../../optim/schedule.ts";
import { studentRow, type Lesson } from "../../teacher/answers.ts";
import type { CorrectedRow } from "../lesson/corrected-rows.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { Errands } from "../lesson/errand-pool.ts";
import { CLIP, type Objective, OBJECTIVES } from "./objective.ts";
import { packRows, type PackedRows } from "../lesson/rows.ts";
import { maskedLogProbs, type RowScore, scoreRows } from "../lesson/scores.ts";

/** A lesson with the distributions to match at each token of its answer. */
export type TaughtLesson = {
  readonly lesson: Lesson;
  /** [n·V] */
  readonly teacherLogProbs: Float32Array;
  /** Σ ln p_teacher of the answer, nats. */
  readonly teacherLogProb: number;
};

export type Training = {
  readonly engine: Pick<EngineCalls, "score" | "accumulateAdapter" | "stepAdapter">;
  readonly adapter: string;
  readonly objective: Objective;
  readonly vocabSize: number;
  readonly lr: number;
  /** Where the objective has errands. */
  readonly errands?: Errands;
};

/** Training of a candidate that is held to its parent on the errands of the `version` that the update goes out from. */
export function heldTraining(
  { engine, base: { config }, settings, errandPools }: LearnerDependencies,
  {
    adapters: { candidate, parent },
    version,
    objective = OBJECTIVES.distillation,
  }: { adapters: Adapters; version: number; objective?: Objective },
): Training {
  const errands = new Errands(errandPools, { version, parent });
  return { engine, adapter: candidate, objective, vocabSize: config.vocabSize, lr: settings.lr, errands };
}

const WARM_UP_STEPS = 4; // AdamW's first steps are the largest for what they know

type LessonBatch = { readonly packed: PackedRows; readonly teacherLogProbs: Float32Array; readonly weights: Float32Array };

// Lessons of one optimizer step. More lessons then cost no more steps: each is seen fewer times and learned less by heart.
const STEP_LESSONS = 10;
// Corrected turns of one optimizer step: where many have said the same, the next ones in turn.
const STEP_CORRECTED = 8;
// What a mean over tokens is multiplied by, since lessons sum over theirs.
export const MEAN_CALL_TOKENS = 35;

/** Splits lessons into groups that each hold every kind, and packs them once. */
export function groupLessons(
  taught: readonly TaughtLesson[],
  { objective, vocabSize }: Pick<Training, "objective" | "vocabSize">,
): LessonBatch[][] {
  if (taught.length === 0) return [];
  const byKind = taught.toSorted((a, b) => a.lesson.context.kind.localeCompare(b.lesson.context.kind));
  const count = Math.max(1, Math.round(taught.length / STEP_LESSONS));
  const groups = Array.from({ length: count }, (_, group) => byKind.filter((__, index) => index % count === group));
  return groups.map((group) => packLessons(group, { objective, vocabSize }));
}

function packLessons(group: readonly TaughtLesson[], { objective, vocabSize }: Pick<Training, "objective" | "vocabSize">): LessonBatch[] {
  const counts = new Map<string, number>();
  for (const { lesson } of group) counts.set(lesson.context.kind, (counts.get(lesson.context.kind) ?? 0) + 1);
  return packRows(group.map(({ lesson }) => studentRow(lesson))).map((packed) => {
    const size = packed.batch.positions.length;
    const teacherLogProbs = sharedFloats(size * vocabSize);
    const weights = new Float32Array(size);
    packed.rowIndices.forEach((row, place) => {
      const { lesson, teacherLogProbs: rowLogProbs } = at(group, row);
      const { kind } = lesson.context;
      const offset = at(packed.offsets, place);
      teacherLogProbs.set(rowLogProbs, offset * vocabSize);
      // The mean over lessons of a kind, so that no kind wins by number.
      weights.fill(objective.lessons[kind] / (counts.get(kind) ?? 1), offset, offset + lesson.answer.length);
    });
    return { packed, teacherLogProbs, weights };
  });
}

/** Factor on the learning rate at `step` of `end`: warm-up, stable, and falling to zero over the last `settleSteps`. */
export function paceAt(step: number, end: number, { settleSteps }: Pick<UpdateSettings, "settleSteps">): number {
  return scheduleFactor(step, { totalSteps: end, warmupSteps: WARM_UP_STEPS, decaySteps: settleSteps });
}

/** One more term of the loss: adds its gradient to the adapter's, and returns its value, nats. */
export type MoreLoss = (training: Training) => Promise<number>;

/** One optimizer step at `pace` times the learning rate; returns the weighted loss before it, nats. */
export async function trainStep(
  training: Training,
  {
    step,
    pace,
    groups,
    corrected,
    more = [],
  }: {
    step: number;
    pace: number;
    groups: readonly (readonly LessonBatch[])[];
    corrected: readonly CorrectedRow[];
    more?: readonly MoreLoss[];
  },
): Promise<number> {
  const { engine, adapter, lr } = training;
  let loss = 0;
  for (const { packed, teacherLogProbs, weights } of groups[step % Math.max(1, groups.length)] ?? []) {
    const { losses } = await engine.accumulateAdapter(adapter, { ...tokensOf(packed), forwardKl: { teacherLogProbs, weights } });
    loss += losses.forwardKl ?? 0;
  }
  if (training.objective.errands > 0) {
    invariant(training.errands !== undefined, "an objective with errands has something to draw them with");
    loss += await training.errands.accumulate(adapter, training.objective.errands * MEAN_CALL_TOKENS);
  }
  if (corrected.length > 0) loss += await accumulateCorrected(training, { step, corrected });
  for (const term of more) loss += await term(training);
  await engine.stepAdapter(adapter, { lr: lr * pace });
  return loss;
}

/**
 * Hindsight and reward on the corrected turns' own tokens; old log-probs are refreshed before every step. A step sees one group
 * of the turns: its hindsight stands for that of all, its reward for its own, which each turn has as often as the objective says.
 */
async function accumulateCorrected(
  { engine, adapter, objective, vocabSize }: Training,
  { step, corrected: all }: { step: number; corrected: readonly CorrectedRow[] },
): Promise<number> {
  const groupCount = Math.ceil(all.length / STEP_CORRECTED);
  const corrected = all.filter((_, index) => index % groupCount === step % groupCount);
  const students = await scoreRows(
    engine,
    corrected.map(({ row }) => row),
    { adapter, full: true, vocabSize },
  );
  let loss = 0;
  for (const packed of packRows(corrected.map(({ row }) => row))) {
    const terms = termsOf(packed, { corrected, students, vocabSize });
    const { hindsightWeights, rewardWeights } = weigh(packed, corrected, {
      hindsight: objective.hindsight * groupCount,
      reward: step < objective.rewardSteps * groupCount ? objective.reward : 0,
    });
    const { losses } = await engine.accumulateAdapter(adapter, {
      ...tokensOf(packed),
      distillation: {
        candidates: terms.candidates,
        advantages: terms.candidateAdvantages,
        oldLogProbs: terms.candidateOld,
        weights: hindsightWeights,
        ...CLIP,
      },
      policy: {
        advantages: terms.advantages,
        oldLogProbs: terms.old,
        weights: rewardWeights,
        ...(terms.masks.size === 0 ? {} : { masks: terms.masks }),
        ...CLIP,
      },
    });
    loss += (losses.distillation ?? 0) + (losses.policy ?? 0);
  }
  return loss;
}

/** Of packed turns, position by position: what hindsight compares and the reward credits. */
function termsOf(
  packed: PackedRows,
  { corrected, students, vocabSize }: { corrected: readonly CorrectedRow[]; students: readonly RowScore[]; vocabSize: number },
) {
  const size = packed.batch.positions.length;
  const terms = {
    candidates: new Int32Array(size * TOP_K),
    candidateAdvantages: new Float32Array(size * TOP_K),
    candidateOld: new Float32Array(size * TOP_K),
    advantages: new Float32Array(size),
    old: new Float32Array(size),
    masks: new Map<number, TokenMask>(),
  };
  packed.rowIndices.forEach((index, place) => {
    const offset = at(packed.offsets, place);
    const { teacher, advantages, masks, row } = at(corrected, index);
    const student = at(students, index);
    const candidates = hindsightCandidates(student.full, teacher.full, { vocabSize });
    terms.candidates.set(candidates.tokens, offset * TOP_K);
    terms.candidateAdvantages.set(candidates.advantages, offset * TOP_K);
    terms.candidateOld.set(candidates.oldLogProbs, offset * TOP_K);
    terms.advantages.set(advantages, offset);
    terms.old.set(maskedLogProbs(student.full, { answer: row.answer, masks, vocabSize }), offset);
    masks.forEach((mask, token) => {
      if (mask !== undefined) terms.masks.set(offset + token, mask);
    });
  });
  return terms;
}

/** Weights at the tokens of each turn's corrected argument. */
function weigh(
  packed: PackedRows,
  corrected: readonly CorrectedRow[],
  { hindsight, reward }: { hindsight: number; reward: number },
): { hindsightWeights: Float32Array; rewardWeights: Float32Array } {
  const size = packed.batch.positions.length;
  const [hindsightWeights, rewardWeights] = [new Float32Array(size), new Float32Array(size)];
  packed.rowIndices.forEach((index, place) => {
    const offset = at(packed.offsets, place);
    const { span, weight } = at(corrected, index);
    hindsightWeights.fill(hindsight * weight, offset + span.from, offset + span.to);
    rewardWeights.fill(reward * weight, offset + span.from, offset + span.to);
  });
  return { hindsightWeights, rewardWeights };
}

export function tokensOf({ batch: { rows, length, tokens, positions, targets } }: PackedRows) {
  return { rows, length, tokens, positions, targets };
}
