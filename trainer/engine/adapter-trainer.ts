/** Training of one adapter over the frozen base: gradients of any set of loss terms added up over batches, applied by AdamW. */
import { AppError } from "../../shared/errors.ts";
import { invariant } from "../../shared/assert.ts";
import type { TokenMask } from "../../shared/grammar/token-grammar.ts";
import type { ClipBounds } from "../loss/clipped-objective.ts";
import { type TermName, type TermOptions, termNames } from "../loss/terms.ts";
import { buildAdapterTraining, gradientOf, lossOf } from "../model/training.ts";
import type { Feeds, Tensor } from "../onnx/session.ts";
import { adamWUpdate } from "../optim/adamw.ts";
import { clipFactor, gradientNorm } from "../optim/clip.ts";
import type { Adapter } from "./adapters.ts";
import {
  type PositionBatch,
  type PreparedBatch,
  checkPositions,
  expectBelow,
  expectFinite,
  expectLength,
  inversePositions,
} from "./batch.ts";
import { prepareBatch } from "./continued-batch.ts";
import { type EngineContext, adapterKey, tensorFeeds } from "./feeds.ts";
import { headRows, spreadRows, trainHead } from "./head.ts";
import { backwardLayers, forwardLayers } from "./layers.ts";

const PENALTY = -1e4; // finite, as infinity less infinity is no number

type Weighted = { /** [N] coefficient of each position's loss */ readonly weights: Float32Array };
type TeacherTerm = Weighted & { /** [N·V] ln p_T */ readonly teacherLogProbs: Float32Array };
type PolicyTerm = Weighted &
  ClipBounds & {
    /** [N] */
    readonly advantages: Float32Array;
    /** [N] under the masks */
    readonly oldLogProbs: Float32Array;
    /** By position: what the target was drawn under. Where absent, every token was free. */
    readonly masks?: ReadonlyMap<number, TokenMask>;
  };
type DistillationTerm = Weighted &
  ClipBounds & {
    /** [N·k] k different tokens per position */
    readonly candidates: Int32Array;
    /** [N·k] */
    readonly advantages: Float32Array;
    /** [N·k] */
    readonly oldLogProbs: Float32Array;
  };

/** Positions with any of the loss terms; the loss is Σ_terms Σ_i weights_i · loss_i, in nats. */
export type LossBatch = PositionBatch & {
  readonly crossEntropy?: Weighted;
  readonly forwardKl?: TeacherTerm;
  readonly reverseKl?: TeacherTerm;
  readonly policy?: PolicyTerm;
  readonly distillation?: DistillationTerm;
};

export type AdapterLoss = {
  /** [N] ln π of the targets, before the update */
  readonly logProbs: Float32Array;
  /** Weighted sum of each term. */
  readonly losses: Partial<Record<TermName, number>>;
};

export type AdapterStepOptions = {
  readonly lr: number;
  /** What the summed gradient is divided by. Default 1. */
  readonly divisor?: number;
  /** Bound on the gradient norm after division. Default 1. */
  readonly clipNorm?: number;
  /** Default 0. */
  readonly weightDecay?: number;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.999. */
  readonly beta2?: number;
  /** Default 1e-8. */
  readonly epsilon?: number;
};

/** Adds the gradient of the batch's loss to the adapter's. @throws {train/nonFinite} before the gradient is touched. */
export async function accumulateAdapter(context: EngineContext, adapter: Adapter, given: LossBatch): Promise<AdapterLoss> {
  checkPositions(given, context.config);
  const prepared = await prepareBatch(context, adapter, given);
  const { batch } = prepared;
  const terms = termOptions(batch);
  const names = termNames(terms);
  if (names.length === 0) throw new AppError("train/refused", "loss terms: one or more expected, got none");
  const losing = { ...prepared, terms, feeds: { ...prepared.feeds, ...termFeeds(batch, context.config.vocabSize) } };
  const inverse = inversePositions(batch, totalWeights(batch, names));
  const outputs = await (context.byLayer ? differentiateByLayer : differentiateWhole)(context, adapter, { ...losing, inverse });
  const losses = Object.fromEntries(names.map((name) => [name, weightedSum(name, outputs[lossOf(name)], batch[name]?.weights)]));
  for (const parameter of adapter.parameters.parameters) {
    const part = outputs[gradientOf(parameter.name)];
    invariant(part !== undefined, `gradient expected for ${parameter.name}`);
    const sum = adapter.gradient.view(parameter);
    part.forEach((value, index) => (sum[index] = (sum[index] ?? 0) + value));
  }
  return { logProbs: outputs["logProbs"] ?? new Float32Array(0), losses };
}

type Differentiated = PreparedBatch<LossBatch> & { readonly terms: TermOptions; readonly inverse: Int32Array };

/** Outputs of `buildAdapterTraining`. */
function differentiateWhole(
  { config, parameters, sessions }: EngineContext,
  adapter: Adapter,
  { bucket, feeds, terms, inverse }: Differentiated,
): Promise<Record<string, Float32Array>> {
  return sessions.run(
    `adapter ${Object.values(bucket)} ${JSON.stringify(terms)} ${adapterKey(adapter.shape)}`,
    () => buildAdapterTraining(config, bucket, { adapter: adapter.shape, terms }),
    {
      ...tensorFeeds(parameters),
      ...tensorFeeds(adapter.parameters),
      ...feeds,
      inverse: { values: inverse, shape: [inverse.length] },
    },
  );
}

/** The same, with one layer's activations at a time. */
async function differentiateByLayer(
  context: EngineContext,
  adapter: Adapter,
  { bucket, feeds, terms, inverse }: Differentiated,
): Promise<Record<string, Float32Array>> {
  const { hiddenSize } = context.config;
  const pass = { context, bucket, feeds, adapter };
  const trail = await forwardLayers(pass, context.byLayer);
  const outputs = await trainHead(context, headRows(trail.hidden, feeds, hiddenSize), terms);
  const gradients = await backwardLayers(pass, trail, spreadRows(outputs, inverse, hiddenSize));
  return { ...outputs, ...gradients };
}

/** One AdamW update from what was accumulated, which is then forgotten. @throws {train/nonFinite} leaving the adapter as it was. */
export function stepAdapter(adapter: Adapter, options: AdapterStepOptions): { gradNorm: number } {
  const { lr, divisor = 1, clipNorm = 1, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = options;
  if (!(divisor > 0)) throw new AppError("input/invalid", `divisor: a positive number expected, got ${divisor}`);
  try {
    const gradNorm = gradientNorm(adapter.gradient.values) / divisor;
    adapter.steps += 1;
    adamWUpdate(
      { values: adapter.parameters.values, gradient: adapter.gradient.values, first: adapter.first.values, second: adapter.second.values },
      { lr, beta1, beta2, epsilon, weightDecay, step: adapter.steps, gradientScale: clipFactor(gradNorm, clipNorm) / divisor },
    );
    return { gradNorm };
  } finally {
    adapter.gradient.values.fill(0);
  }
}

function termOptions({ crossEntropy, forwardKl, reverseKl, policy, distillation, positions }: LossBatch): TermOptions {
  const bounds = ({ clipLow, clipHigh }: ClipBounds): ClipBounds => ({ clipLow, clipHigh });
  return {
    ...(crossEntropy && { crossEntropy: {} }),
    ...(forwardKl && { forwardKl: {} }),
    ...(reverseKl && { reverseKl: {} }),
    ...(policy && { policy: { ...bounds(policy), masked: policy.masks !== undefined } }),
    ...(distillation && { distillation: { ...bounds(distillation), candidates: distillation.candidates.length / positions.length } }),
  };
}

/** Every array of every term as `<term>.<array>`, checked. Per-position arrays are columns, so that they meet log-probabilities [N, ·]. */
function termFeeds(batch: LossBatch, vocabSize: number): Feeds {
  const count = batch.positions.length;
  const feeds: Record<string, Tensor> = {};
  const give = (name: string, values: Float32Array, width: number): void => {
    expectLength(name, values.length, count * width);
    expectFinite(name, values);
    feeds[name] = { values, shape: name.endsWith(".weights") ? [count] : [count, width] };
  };
  const { distillation, policy } = batch;
  for (const name of termNames(termOptions(batch))) give(`${name}.weights`, batch[name]?.weights ?? new Float32Array(0), 1);
  for (const name of ["forwardKl", "reverseKl"] as const) {
    const term = batch[name];
    if (term) give(`${name}.teacherLogProbs`, term.teacherLogProbs, vocabSize);
  }
  for (const name of ["advantages", "oldLogProbs"] as const) if (policy) give(`policy.${name}`, policy[name], 1);
  if (policy?.masks) give("policy.penalties", penaltiesOf(policy.masks, { count, vocabSize }), vocabSize);
  if (distillation) {
    const width = distillation.candidates.length / count;
    if (!Number.isInteger(width) || width === 0)
      throw new AppError(
        "train/lengths",
        `distillation.candidates: a multiple of ${count} expected, got ${distillation.candidates.length}`,
      );
    expectBelow("distillation.candidates", distillation.candidates, vocabSize);
    feeds["distillation.candidates"] = { values: distillation.candidates, shape: [count, width] };
    for (const name of ["advantages", "oldLogProbs"] as const) give(`distillation.${name}`, distillation[name], width);
  }
  return feeds;
}

/** [N·V] what is added to logits: 0 for what a mask lets through, else so much less that no probability is left in float32. */
function penaltiesOf(masks: ReadonlyMap<number, TokenMask>, { count, vocabSize }: { count: number; vocabSize: number }): Float32Array {
  const penalties = new Float32Array(count * vocabSize);
  for (const [position, { kind, ids }] of masks) {
    const row = penalties.subarray(position * vocabSize, (position + 1) * vocabSize);
    if (kind === "allow") row.fill(PENALTY);
    for (const id of ids) row[id] = kind === "allow" ? 0 : PENALTY;
  }
  return penalties;
}

/** [N] zero where no term weighs the position. */
function totalWeights(batch: LossBatch, names: readonly TermName[]): Float32Array {
  return Float32Array.from(batch.positions, (_, index) => (names.some((name) => batch[name]?.weights[index] !== 0) ? 1 : 0));
}

function weightedSum(name: TermName, losses: Float32Array | undefined, weights: Float32Array | undefined): number {
  let sum = 0;
  weights?.forEach((weight, index) => {
    if (weight !== 0) sum += weight * (losses?.[index] ?? Number.NaN);
  });
  if (!Number.isFinite(sum)) throw new AppError("train/nonFinite", `${name}: a finite loss expected, got ${sum}`);
  return sum;
}
