/**
 * One pretraining run: from scratch or from a checkpoint's 16-bit weights and data position, nothing else. Every
 * checkpoint is a complete Hugging Face folder, so a killed run loses only the steps since the last one.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { Engine } from "../engine/engine.ts";
import { type Checkpoint, readCheckpoint, readWeights, writeCheckpoint } from "../model/checkpoint.ts";
import type { Device } from "../onnx/device.ts";
import { type ModelConfig, parseModelConfig } from "../../shared/model-config.ts";
import { listParameters } from "../model/parameters.ts";
import { scheduleFactor } from "../optim/schedule.ts";
import { Batcher, LONGEST_EXAMPLE } from "./batches.ts";
import { deepened } from "./deepen.ts";
import { plantInductionHead } from "./induction-init.ts";
import { Mixture } from "./mixture.ts";
import { modelCard } from "./model-card.ts";
import type { Sgd } from "./sgd.ts";
import { tokenizerConfig, trainTokenizer } from "./tokenizer.ts";

/** Where a run stands; with the weights, all that is needed to go on. */
export const TrainingState = z.object({
  seed: z.number(),
  examples: z.number(),
  tokens: z.number(),
  steps: z.number(),
  /** What each run did, in words, oldest first; whoever changes weights otherwise writes that here, too. */
  runs: z.array(z.string()).default([]),
});
export type TrainingState = z.infer<typeof TrainingState>;

export type PretrainOptions = {
  sgd: Sgd;
  /** The checkpoint's config.json, as Hugging Face names its fields. */
  configJson: Record<string, unknown>;
  /** Checkpoint folder that is written. */
  out: string;
  /** Checkpoint folder to go on from; from scratch where it holds none. */
  from: string;
  /** Tokens of this run. */
  runTokens: number;
  tokensPerStep: number;
  checkpointEverySteps: number;
  /** Factor on the learning rates; small batches want less than the customary ones. */
  rate: number;
  warmupSteps: number;
  /** Last share of the run over which the learning rate falls to zero. */
  decayShare: number;
  threads: number;
  /** Where graphs run. */
  device: Device;
  seed: number;
  say: (line: string) => void;
  onStep: (step: StepReport) => void;
};
export type StepReport = { state: TrainingState; goalTokens: number; loss: number; gradNorm: number; factor: number };

const STATE_FILE = "training_state.json";
// Small batches want a fifth of the customary rates: at 0.02 and 0.003 the matrices grew eightfold on noise and copied nothing.
const MUON_LR = 0.004;
const ADAM_LR = 0.001;

export async function pretrain(options: PretrainOptions): Promise<TrainingState> {
  const { sgd, configJson, out, from, seed, say } = options;
  const config = parseModelConfig(configJson);
  const resumed = existsSync(join(from, STATE_FILE)) ? readCheckpoint(from) : undefined;
  const state = resumed === undefined ? { seed, examples: 0, tokens: 0, steps: 0, runs: [] } : readState(from);
  const added = resumed === undefined ? 0 : config.layerCount - resumed.config.layerCount;
  // Every start has a schedule of its own, in the same folder, too: a card that names one of them tells a story that did not happen.
  state.runs.push(`${describeRun(state, options)}${added > 0 ? `, with ${added} new layers of ${config.layerCount}` : ""}`);
  if (resumed === undefined) say(`training a tokenizer of ${config.vocabSize} entries`);
  const tokenizerFiles =
    resumed === undefined
      ? trainTokenizer(sgd, { size: config.vocabSize, seed, context: config.contextTokens })
      : { tokenizer: resumed.tokenizerFiles.tokenizer, config: tokenizerConfig(config.contextTokens) };
  const mixture = new Mixture({
    sgd,
    tokenizer: new Tokenizer(tokenizerFiles),
    maxTokens: Math.min(config.contextTokens, LONGEST_EXAMPLE),
    vocabSize: config.vocabSize,
  });
  const parameters = listParameters(config).reduce((sum, { size }) => sum + size, 0);
  say(
    `${parameters.toLocaleString("en")} parameters, ${resumed === undefined ? "from scratch" : `from ${from} at ${state.tokens.toLocaleString("en")} tokens`}`,
  );

  const engine = await startEngine(config, resumed, options);
  const save = async (): Promise<void> => {
    const extra = { [STATE_FILE]: state, "README.md": modelCard({ parameters, ...state }) };
    writeCheckpoint(out, { configJson, weights: await engine.readWeights(), tokenizerFiles, extra });
  };
  try {
    await train(engine, mixture, state, options, save);
    await save();
  } finally {
    await engine.close();
  }
  say(`saved to ${out}`);
  return state;
}

async function startEngine(
  config: ModelConfig,
  resumed: Checkpoint | undefined,
  { threads, device, seed }: PretrainOptions,
): Promise<Engine> {
  const engine = await Engine.start({ config, threads, device });
  if (resumed !== undefined) {
    await engine.loadWeights(deepened(readWeights(resumed), resumed.config, config));
    return engine;
  }
  await engine.initialise({ seed });
  const weights = await engine.readWeights();
  plantInductionHead(weights, config, seed);
  await engine.loadWeights(weights);
  return engine;
}

async function train(
  engine: Engine,
  mixture: Mixture,
  state: TrainingState,
  options: PretrainOptions,
  save: () => Promise<void>,
): Promise<void> {
  const { runTokens, tokensPerStep, checkpointEverySteps, rate, warmupSteps, decayShare, onStep } = options;
  // Counted in tokens: steps hold whole batches, so they come out a little larger than asked for.
  const schedule = { totalSteps: runTokens, warmupSteps: warmupSteps * tokensPerStep, decaySteps: runTokens * decayShare };
  const firstToken = state.tokens;
  const goalTokens = firstToken + runTokens;
  const batcher = new Batcher();
  while (state.tokens < goalTokens) {
    const { tokens, loss } = await accumulateStep(engine, mixture, batcher, state, tokensPerStep);
    const factor = rate * scheduleFactor(state.tokens - firstToken, schedule);
    const { gradNorm } = await engine.step({ lr: ADAM_LR * factor, muonLr: MUON_LR * factor });
    state.tokens += tokens;
    state.steps++;
    onStep({ state, goalTokens, loss, gradNorm, factor });
    if (state.steps % checkpointEverySteps === 0) await save();
  }
}

/** Gradients of one step. Rows are drawn on this thread while the engine's thread works on the batch before. */
async function accumulateStep(
  engine: Engine,
  mixture: Mixture,
  batcher: Batcher,
  state: TrainingState,
  tokensPerStep: number,
): Promise<{ tokens: number; loss: number }> {
  const pending: Promise<{ loss: number; weight: number }>[] = [];
  let tokens = 0;
  while (tokens < tokensPerStep) {
    const batch = batcher.add(mixture.at(state.seed, state.examples++));
    if (batch === undefined) continue;
    tokens += batch.tokens.length;
    const weight = batch.weights.reduce((sum, each) => sum + each, 0);
    pending.push(engine.accumulate(batch).then(({ loss }) => ({ loss, weight })));
  }
  const parts = await Promise.all(pending);
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return { tokens, loss: parts.reduce((sum, part) => sum + part.loss * part.weight, 0) / weight };
}

function describeRun({ tokens }: TrainingState, { runTokens, rate, warmupSteps, decayShare }: PretrainOptions): string {
  const schedule = `${warmupSteps} steps of warm-up, falling to zero over the last ${Math.round(decayShare * 100)} %`;
  return `from ${tokens.toLocaleString("en")} tokens: ${runTokens.toLocaleString("en")} more planned, rate ×${rate}, ${schedule}`;
}

function readState(folder: string): TrainingState {
  return TrainingState.parse(JSON.parse(readFileSync(join(folder, STATE_FILE), "utf8")));
}
