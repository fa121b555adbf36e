/** Full-model training: gradients of every parameter added up over batches, applied by AdamW, or Muon for hidden matrices. */
import { at, invariant, zipStrict } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import { EMBEDDING, type Parameter, ParameterBuffer } from "../model/parameters.ts";
import { EMBEDDED_GRADIENT, buildFullTraining, gradientOf } from "../model/training.ts";
import type { AdamWUpdate } from "../optim/adamw.ts";
import { clipFactor, gradientNorm } from "../optim/clip.ts";
import { type MuonOptions, buildOrthogonaliser, muonDirection, muonUpdate } from "../optim/muon.ts";
import { discard } from "../onnx/memory.ts";
import type { Feeds } from "../onnx/session.ts";
import {
  type TokenBatch,
  bucketOf,
  checkPositions,
  expectFinite,
  expectLength,
  inversePositions,
  positionFeeds,
  timeMajor,
} from "./batch.ts";
import { type EngineContext, tensorFeeds } from "./feeds.ts";
import { countShares, type PickedPositions, joinOutputs, pickRows, shareOut, together } from "./shares.ts";
import type { BatchLoss, StepOptions } from "./protocol.ts";

type Moments = { readonly first: ParameterBuffer; readonly second: ParameterBuffer };

export class FullTrainer {
  readonly #context: EngineContext;
  // Made by the first batch: an engine that only scores or trains adapters never holds them.
  #gradient: ParameterBuffer | undefined;
  #moments: Moments | undefined;
  #weight = 0;
  /** Whether nothing was accumulated since the last step. */
  #fresh = true;
  #steps = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Adds the gradient of Σ weight · cross-entropy. @throws {train/nonFinite} before the gradient buffer is touched. */
  async accumulate(batch: TokenBatch): Promise<BatchLoss> {
    const { config, base, sessions } = this.#context;
    const { weights } = batch;
    checkPositions(batch, config);
    expectLength("weights", weights.length, batch.positions.length);
    expectFinite("weights", weights);
    inversePositions(batch, weights); // refuses, before anything runs, what is weighted twice
    const costs = new Array<number>(batch.rows).fill(1);
    const shares = shareOut(batch, { count: countShares(batch, sessions), costs, pick: pickWeights });
    const outputs = await together(
      shares.map(({ batch: share }) => {
        const bucket = bucketOf(share);
        const feeds: Feeds = {
          ...tensorFeeds(base.buffer),
          ...positionFeeds(share),
          inverse: { values: inversePositions(share, share.weights), shape: [share.tokens.length] },
          weights: { values: share.weights, shape: [share.weights.length] },
        };
        return sessions.run(`full ${Object.values(bucket)}`, () => buildFullTraining(config, bucket), feeds);
      }),
    );
    const found = meanLoss(joinOutputs(shares, outputs, { name: "logProbs", total: weights.length }), weights);
    for (const [index, [{ batch: share }, own]] of zipStrict(shares, outputs).entries()) {
      this.#add(own, { tokens: timeMajor(share), fresh: this.#fresh && index === 0 });
      discard(own);
    }
    this.#fresh = false;
    this.#weight += weights.reduce((sum, weight) => sum + weight, 0);
    return found;
  }

  /** One update from what was accumulated, which is then forgotten. @throws {train/nonFinite} leaving parameters and moments as they were. */
  async step(options: StepOptions): Promise<{ gradNorm: number }> {
    const gradient = this.#gradient;
    if (gradient === undefined || this.#weight <= 0)
      throw new AppError("train/refused", `step: accumulated weight expected, got ${this.#weight}`);
    const weight = this.#weight;
    this.#weight = 0;
    this.#fresh = true;
    const gradNorm = gradientNorm(gradient.values) / weight;
    await this.#update(gradient, { options, scale: clipFactor(gradNorm, options.clipNorm ?? 1) / weight });
    return { gradNorm };
  }

  /** `fresh`: in place of what an earlier step was made from. */
  #add(outputs: Readonly<Record<string, Float32Array>>, { tokens, fresh }: { tokens: Int32Array; fresh: boolean }): void {
    this.#gradient ??= new ParameterBuffer(this.#context.base.parameters, { shared: true });
    for (const parameter of this.#context.base.parameters) {
      const part = outputs[gradientOf(parameter.name)];
      invariant(part !== undefined || parameter.name === EMBEDDING, `gradient expected for ${parameter.name}`);
      if (fresh) this.#gradient.view(parameter).set(part ?? new Float32Array(parameter.size));
      else if (part !== undefined) this.#gradient.add(parameter, part);
    }
    const [embedding] = this.#context.base.parameters;
    invariant(embedding?.name === EMBEDDING, "the embedding comes first");
    addRows(this.#gradient.view(embedding), { tokens, rows: outputs[EMBEDDED_GRADIENT] ?? new Float32Array(0) });
  }

  async #update(gradient: ParameterBuffer, { options, scale }: { options: StepOptions; scale: number }): Promise<void> {
    const { first, second } = (this.#moments ??= {
      first: new ParameterBuffer(gradient.parameters, { shared: true }),
      second: new ParameterBuffer(gradient.parameters, { shared: true }),
    });
    this.#steps += 1;
    const { lr, muonLr, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0, momentum = 0.95 } = options;
    const matrices = muonLr === undefined ? [] : gradient.parameters.filter(({ kind }) => kind === "linear" || kind === "residual");
    const updates = gradient.parameters.flatMap((parameter): AdamWUpdate[] => {
      if (matrices.includes(parameter)) return [];
      const buffers = {
        values: this.#context.base.buffer.view(parameter),
        gradient: gradient.view(parameter),
        first: first.view(parameter),
        second: second.view(parameter),
      };
      const decay = parameter.shape.length > 1 ? weightDecay : 0;
      return [{ buffers, options: { lr, beta1, beta2, epsilon, weightDecay: decay, step: this.#steps, gradientScale: scale } }];
    });
    await this.#context.sessions.adamW(updates);
    const muon = { lr: muonLr ?? 0, momentum, weightDecay, gradientScale: scale };
    const { lanes } = this.#context.sessions;
    const groups = groupByShape(matrices);
    // No more at once than are run at once: each holds a copy of its matrices.
    while (groups.length > 0)
      await together(groups.splice(0, lanes).map((group) => this.#updateMatrices(group, { gradient, first, options: muon })));
  }

  /** One Muon update of parameters of one shape. */
  async #updateMatrices(
    group: readonly Parameter[],
    { gradient, first, options }: { gradient: ParameterBuffer; first: ParameterBuffer; options: MuonOptions },
  ): Promise<void> {
    const { shape: dims, size } = at(group, 0);
    const shape = { out: at(dims, 0), in: at(dims, 1) };
    const directions = new Float32Array(group.length * size);
    const part = (values: Float32Array, index: number): Float32Array => values.subarray(index * size, (index + 1) * size);
    group.forEach((parameter, index) => {
      muonDirection({ gradient: gradient.view(parameter), momentum: first.view(parameter), direction: part(directions, index) }, options);
    });
    const feeds = { direction: { values: directions, shape: [group.length, ...dims] } };
    const { orthogonal } = await this.#context.sessions.run(
      `muon ${group.length}×${dims}`,
      () => buildOrthogonaliser(shape, group.length),
      feeds,
    );
    invariant(orthogonal !== undefined, "orthogonal expected");
    group.forEach((parameter, index) => {
      muonUpdate({ values: this.#context.base.buffer.view(parameter), direction: part(orthogonal, index) }, { shape, options });
    });
    discard({ directions, orthogonal });
  }
}

function pickWeights({ weights }: TokenBatch, { indices, size }: PickedPositions): Partial<TokenBatch> {
  return { weights: pickRows(weights, indices, { width: 1, size }) };
}

function groupByShape(parameters: readonly Parameter[]): Parameter[][] {
  const groups = new Map<string, Parameter[]>();
  for (const parameter of parameters) groups.set(`${parameter.shape}`, [...(groups.get(`${parameter.shape}`) ?? []), parameter]);
  return [...groups.values()];
}

/** @throws {train/nonFinite} */
export function meanLoss(logProbs: Float32Array, weights: Float32Array): BatchLoss {
  let [sum, total, tokens] = [0, 0, 0];
  weights.forEach((weight, index) => {
    if (weight === 0) return;
    sum -= weight * (logProbs[index] ?? Number.NaN);
    total += weight;
    tokens += 1;
  });
  if (!Number.isFinite(sum)) throw new AppError("train/nonFinite", `loss: a finite sum expected, got ${sum}`);
  return { loss: total === 0 ? 0 : sum / total, tokens };
}

/** Adds row i of `rows` [M, D] to the row of `sum` [V, D] that token i names. */
function addRows(sum: Float32Array, { tokens, rows }: { tokens: Int32Array; rows: Float32Array }): void {
  const width = rows.length / tokens.length;
  tokens.forEach((token, row) => {
    for (let column = 0; column < width; column += 1) {
      sum[token * width + column] = (sum[token * width + column] ?? 0) + (rows[row * width + column] ?? 0);
    }
  });
}
