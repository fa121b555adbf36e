/**
 * Trains an adapter under which a base judges: LoRA on every linear layer over the frozen base, on that adapter's jobs alone. What the
 * judge learns costs the policy nothing, and what a policy learns cannot soften its judge.
 */
import { linearNames } from "../../shared/lora.ts";
import { Engine } from "../engine/engine.ts";
import type { Device } from "../onnx/device.ts";
import { scheduleFactor } from "../optim/schedule.ts";
import { roundAdapter } from "../policy/adapter.ts";
import { loadBase } from "../policy/base.ts";
import { type JudgeAdapter, readJudgeAdapter, writeJudgeAdapter } from "../policy/judge-adapter.ts";
import { Batcher, LONGEST_EXAMPLE } from "./batches.ts";
import { JobMixture } from "./job-mixture.ts";
import type { Sgd } from "./sgd.ts";

export type JudgeRunOptions = {
  sgd: Sgd;
  adapter: JudgeAdapter;
  /** Folder of the checkpoint. */
  base: string;
  /** Folder of a base whose adapter is gone on from; a new one otherwise. */
  from?: string | undefined;
  out: string;
  runTokens: number;
  rank: number;
  /** Factor on the learning rate. */
  rate: number;
  threads: number;
  /** Where graphs run. */
  device: Device;
  seed: number;
  onStep: (step: { step: number; done: number; loss: number; factor: number }) => void;
};

const NAME = "judge";
const LEARNING_RATE = 2e-3;
const TOKENS_PER_STEP = 8_192;
const WARMUP_STEPS = 20;
const DECAY_SHARE = 0.5;
const TARGET_SHARE = 0.06; // a verdict is two tokens, a hint some ten
const SAVE_EVERY_STEPS = 50;

/** @throws Error where the base to go on from has no such adapter */
export async function trainJudge(options: JudgeRunOptions): Promise<void> {
  const { sgd, adapter, base: folder, from, out, runTokens, rank, rate, threads, device, seed, onStep } = options;
  const base = loadBase(folder);
  const mixture = new JobMixture({
    sgd,
    tokenizer: base.tokenizer,
    maxTokens: Math.min(base.config.contextTokens, LONGEST_EXAMPLE),
    adapter,
  });
  const before = from === undefined ? undefined : readJudgeAdapter(adapter, { folder: from, config: base.config });
  if (from !== undefined && before === undefined) throw new Error(`${from}: a base with a ${adapter} adapter expected, got none`);
  const engine = await Engine.start({ config: base.config, threads, device });
  const save = async (): Promise<void> => writeJudgeAdapter(adapter, roundAdapter(await engine.readAdapter(NAME)), { out, base });
  try {
    await engine.loadCheckpoint(folder);
    if (before === undefined) await engine.createAdapter(NAME, { rank, alpha: 2 * rank, targets: linearNames(), seed });
    else await engine.loadAdapter(NAME, before);
    const schedule = { totalSteps: runTokens, warmupSteps: WARMUP_STEPS * TOKENS_PER_STEP, decaySteps: runTokens * DECAY_SHARE };
    const batcher = new Batcher({ targetShare: TARGET_SHARE });
    let examples = 0;
    let done = 0;
    for (let step = 1; done < runTokens; step += 1) {
      let [tokens, weight, loss] = [0, 0, 0];
      while (tokens < TOKENS_PER_STEP) {
        const batch = batcher.add(mixture.at(seed, examples++));
        if (batch === undefined) continue;
        const { weights, ...rows } = batch;
        const { losses } = await engine.accumulateAdapter(NAME, { ...rows, crossEntropy: { weights } });
        tokens += batch.tokens.length;
        weight += weights.reduce((sum, each) => sum + each, 0);
        loss += losses.crossEntropy ?? 0;
      }
      const factor = rate * scheduleFactor(done, schedule);
      await engine.stepAdapter(NAME, { lr: LEARNING_RATE * factor, divisor: weight });
      done += tokens;
      onStep({ step, done, loss: loss / weight, factor });
      if (step % SAVE_EVERY_STEPS === 0) await save();
    }
    await save();
  } finally {
    await engine.close();
  }
}
