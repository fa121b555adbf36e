/** Training of one adapter over the frozen base: gradients of any set of loss terms added up over batches, applied by AdamW. */
import { AppError } from "../../shared/errors.ts";
import { invariant } from "../../shared/assert.ts";
import { type TermName, type TermOptions, termNames } from "../loss/terms.ts";
import { buildAdapterTraining, gradientOf, lossOf } from "../model/training.ts";
import { discard } from "../onnx/memory.ts";
import { adamWUpdate } from "../optim/adamw.ts";
import { clipFactor, gradientNorm } from "../optim/clip.ts";
import type { Adapter } from "./adapters.ts";
import { type PreparedBatch, checkPositions, inversePositions } from "./batch.ts";
import { prepareBatch } from "./continued-batch.ts";
import { type EngineContext, adapterKey, tensorFeeds } from "./feeds.ts";
import { headRows, spreadRows, trainHead } from "./head.ts";
import { backwardLayers, forwardLayers } from "./layers.ts";
import { type LossBatch, checkTerms, pickTerms, termFeeds, termOptions } from "./loss-batch.ts";
import { joinOutputs, together } from "./shares.ts";

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
  const { vocabSize } = context.config;
  const terms = termOptions(given);
  const names = termNames(terms);
  if (names.length === 0) throw new AppError("train/refused", "loss terms: one or more expected, got none");
  checkTerms(given, vocabSize);
  inversePositions(given, totalWeights(given, names)); // refuses, before anything runs, what is weighted twice
  const differentiate = context.byLayer ? differentiateByLayer : differentiateWhole;
  const { shares, outputs } = await context.pool.lend(async (take) => {
    const shares = await prepareBatch(context, {
      adapter,
      batch: given,
      pick: (batch, positions) => pickTerms(batch, { ...positions, take }),
    });
    const losing = shares.map((share) => ({
      ...share,
      terms,
      feeds: { ...share.feeds, ...termFeeds(share.batch, vocabSize) },
      inverse: inversePositions(share.batch, totalWeights(share.batch, names)),
    }));
    return { shares, outputs: await together(losing.map((share) => differentiate(context, adapter, share))) };
  });
  const joined = (name: string): Float32Array => joinOutputs(shares, outputs, { name, total: given.positions.length });
  const losses = Object.fromEntries(names.map((name) => [name, weightedSum(name, joined(lossOf(name)), given[name]?.weights)]));
  for (const parameter of adapter.parameters.parameters)
    for (const share of outputs) {
      const part = share[gradientOf(parameter.name)];
      invariant(part !== undefined, `gradient expected for ${parameter.name}`);
      adapter.gradient.add(parameter, part);
      discard({ part });
    }
  return { logProbs: joined("logProbs"), losses };
}

type Differentiated = PreparedBatch<LossBatch> & { readonly terms: TermOptions; readonly inverse: Int32Array };

/** Outputs of `buildAdapterTraining`. */
function differentiateWhole(
  { config, base, sessions }: EngineContext,
  adapter: Adapter,
  { bucket, feeds, terms, inverse }: Differentiated,
): Promise<Record<string, Float32Array>> {
  return sessions.run(
    `adapter ${Object.values(bucket)} ${JSON.stringify(terms)} ${adapterKey(adapter.shape)}`,
    () => buildAdapterTraining(config, bucket, { adapter: adapter.shape, terms }),
    {
      ...tensorFeeds(base.buffer),
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
