/**
 * `npm run pretrain -- --sgd <folder>`: trains tokenizer and base from scratch, or goes on from a checkpoint's 16-bit
 * weights and data position. Every checkpoint is a complete Hugging Face folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { Engine } from "../engine/engine.ts";
import { readCheckpoint, writeCheckpoint } from "../model/checkpoint.ts";
import { parseModelConfig } from "../model/config.ts";
import { listParameters } from "../model/parameters.ts";
import { scheduleFactor } from "../optim/schedule.ts";
import { Batcher } from "./batches.ts";
import { Mixture } from "./mixture.ts";
import { modelCard } from "./model-card.ts";
import { Progress } from "./progress.ts";
import { readSgd } from "./sgd.ts";
import { trainTokenizer } from "./tokenizer.ts";

/** Where the run stands; with the weights, all that is needed to go on. */
type TrainingState = { seed: number; examples: number; tokens: number; steps: number };

const BASE_CONFIG = {
  architectures: ["Qwen3ForCausalLM"],
  model_type: "qwen3",
  vocab_size: 4096,
  hidden_size: 256,
  intermediate_size: 512,
  num_hidden_layers: 5,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  hidden_act: "silu",
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: true,
  attention_bias: false,
  attention_dropout: 0,
  use_sliding_window: false,
  bos_token_id: null,
  eos_token_id: 2,
  pad_token_id: 0,
  torch_dtype: "float16",
};

const STATE_FILE = "training_state.json";
const TOKENS_PER_STEP = 8_192;
const CHECKPOINT_EVERY_STEPS = 100;
// Chosen on the tuning part of train: Muon's customary rate, and a tenth of it for the embedding.
const MUON_LR = 0.02;
const ADAM_LR = 0.003;

const USAGE = `npm run pretrain -- --sgd <folder> [options]
  --sgd <folder>    SGD data, compact or an upstream checkout
  --out <folder>    checkpoint folder, default .nextstate/pretrain; goes on from there when it holds one
  --from <folder>   start from another checkpoint's weights and data position
  --tokens <n>      tokens of this run, default 50000000
  --warmup <n>      steps of learning-rate warm-up, default 100
  --decay <share>   last share of the run over which the rate falls to zero, default 0.2
  --threads <n>     default 2
  --seed <n>        default 1`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      sgd: { type: "string" },
      out: { type: "string", default: ".nextstate/pretrain" },
      from: { type: "string" },
      tokens: { type: "string", default: "50000000" },
      warmup: { type: "string", default: "100" },
      decay: { type: "string", default: "0.2" },
      threads: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help || values.sgd === undefined) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await pretrain({
    sgdFolder: values.sgd,
    out: values.out,
    from: values.from ?? values.out,
    runTokens: Number(values.tokens),
    warmupSteps: Number(values.warmup),
    decayShare: Number(values.decay),
    threads: Number(values.threads),
    seed: Number(values.seed),
  });
}

type Options = { sgdFolder: string; out: string; from: string; runTokens: number; warmupSteps: number; decayShare: number; threads: number; seed: number };

async function pretrain({ sgdFolder, out, from, runTokens, warmupSteps, decayShare, threads, seed }: Options): Promise<void> {
  process.stderr.write(`reading SGD train from ${sgdFolder}\n`);
  const sgd = readSgd(sgdFolder, "train");
  const config = parseModelConfig(BASE_CONFIG);
  const resumed = existsSync(join(from, STATE_FILE)) ? { ...readCheckpoint(from), state: readState(from) } : undefined;
  if (resumed === undefined) process.stderr.write(`training a tokenizer of ${config.vocabSize} entries\n`);
  const tokenizerFiles = resumed?.tokenizerFiles ?? trainTokenizer(sgd, { size: config.vocabSize, seed, context: config.maxPositions });
  const state: TrainingState = resumed?.state ?? { seed, examples: 0, tokens: 0, steps: 0 };
  const mixture = new Mixture({ sgd, tokenizer: new Tokenizer(tokenizerFiles), maxTokens: config.maxPositions });
  const engine = await Engine.start({ config, threads });
  await (resumed === undefined ? engine.initialise({ seed }) : engine.loadWeights(resumed.weights));
  const parameters = listParameters(config).reduce((sum, { size }) => sum + size, 0);
  process.stderr.write(`${parameters.toLocaleString("en")} parameters, ${resumed === undefined ? "from scratch" : `from ${from} at ${state.tokens.toLocaleString("en")} tokens`}\n`);

  const batcher = new Batcher();
  const totalSteps = Math.ceil(runTokens / TOKENS_PER_STEP);
  const schedule = { totalSteps, warmupSteps, decaySteps: Math.round(totalSteps * decayShare) };
  const firstToken = state.tokens;
  const progress = new Progress({ total: firstToken + runTokens, done: firstToken });
  const save = async (): Promise<void> =>
    writeCheckpoint(out, { configJson: BASE_CONFIG, weights: await engine.readWeights(), tokenizerFiles, extra: { [STATE_FILE]: state, "README.md": modelCard({ parameters, ...state }) } });

  let average = Number.NaN;
  for (let step = 0; step < totalSteps; step++) {
    let [stepTokens, loss, weight] = [0, 0, 0];
    const pending: Promise<void>[] = [];
    while (stepTokens < TOKENS_PER_STEP) {
      const batch = batcher.add(mixture.at(state.seed, state.examples++));
      if (batch === undefined) continue;
      stepTokens += batch.tokens.length;
      const batchWeight = batch.weights.reduce((sum, each) => sum + each, 0);
      // The next batch is drawn on this thread while the engine's thread works on this one.
      pending.push(
        engine.accumulate(batch).then((result) => {
          loss += result.loss * batchWeight;
          weight += batchWeight;
        }),
      );
    }
    await Promise.all(pending);
    const factor = scheduleFactor(step, schedule);
    const { gradNorm } = await engine.step({ lr: ADAM_LR * factor, muonLr: MUON_LR * factor });
    state.tokens += stepTokens;
    state.steps++;
    average = Number.isNaN(average) ? loss / weight : 0.95 * average + 0.05 * (loss / weight);
    progress.show(state.tokens, `step ${state.steps}, loss ${average.toFixed(3)}, gradient ${gradNorm.toFixed(2)}, rate ×${factor.toFixed(2)}`);
    if (state.steps % CHECKPOINT_EVERY_STEPS === 0) await save();
    if (state.tokens - firstToken >= runTokens) break;
  }
  await save();
  process.stderr.write(`saved to ${out}\n`);
  await engine.close();
}

function readState(folder: string): TrainingState {
  return JSON.parse(readFileSync(join(folder, STATE_FILE), "utf8")) as TrainingState;
}

await main();
