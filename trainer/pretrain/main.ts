/** `npm run pretrain -- --sgd <folder>`: trains tokenizer and base from scratch, or goes on from a checkpoint. */
import { failWith, readCommandLine, readCount, readRate, readShare } from "../command-line.ts";
import { DEVICE_USAGE, readDevice } from "./device-option.ts";
import { Progress } from "./progress.ts";
import { pretrain } from "./run.ts";
import { readSgd } from "./sgd.ts";

const BASE_CONFIG = {
  architectures: ["Qwen3ForCausalLM"],
  model_type: "qwen3",
  vocab_size: 4096,
  hidden_size: 256,
  intermediate_size: 512,
  num_hidden_layers: 8,
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

const TOKENS_PER_STEP = 8_192;
const CHECKPOINT_EVERY_STEPS = 100;

const USAGE = `npm run pretrain -- --sgd <folder> [options]
  --sgd <folder>    SGD data, compact or an upstream checkout
  --out <folder>    checkpoint folder, default .nextstate/pretrain; goes on from there when it holds one
  --from <folder>   start from another checkpoint's weights and data position
  --tokens <n>      tokens of this run, default 50000000
  --rate <factor>   on the learning rates, default 1
  --warmup <n>      steps of learning-rate warm-up, default 100
  --decay <share>   last share of the run over which the rate falls to zero, default 0.2
  --threads <n>     default 2
  ${DEVICE_USAGE}
  --seed <n>        default 1`;

async function main(): Promise<void> {
  const { values } = readCommandLine(
    {
      options: {
        sgd: { type: "string" },
        out: { type: "string", default: ".nextstate/pretrain" },
        from: { type: "string" },
        tokens: { type: "string", default: "50000000" },
        rate: { type: "string", default: "1" },
        warmup: { type: "string", default: "100" },
        decay: { type: "string", default: "0.2" },
        threads: { type: "string", default: "2" },
        device: { type: "string", default: "cpu" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", default: false },
      },
    },
    USAGE,
  );
  if (values.help || values.sgd === undefined) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  // Before the data is read, which takes a while.
  const numbers = {
    runTokens: readCount("--tokens", values.tokens, USAGE),
    rate: readRate("--rate", values.rate, USAGE),
    warmupSteps: readCount("--warmup", values.warmup, USAGE, { least: 0 }),
    decayShare: readShare("--decay", values.decay, USAGE),
    threads: readCount("--threads", values.threads, USAGE),
    seed: readCount("--seed", values.seed, USAGE, { least: 0 }),
  };
  const device = await readDevice(values.device, USAGE);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`reading SGD train from ${values.sgd}`);
  let progress: Progress | undefined;
  let average = Number.NaN;
  await pretrain({
    sgd: readSgd(values.sgd, "train"),
    configJson: BASE_CONFIG,
    out: values.out,
    from: values.from ?? values.out,
    tokensPerStep: TOKENS_PER_STEP,
    checkpointEverySteps: CHECKPOINT_EVERY_STEPS,
    ...numbers,
    device,
    say,
    onStep: ({ state, goalTokens, loss, gradNorm, factor }) => {
      progress ??= new Progress({ total: goalTokens, done: state.tokens });
      average = Number.isNaN(average) ? loss : 0.95 * average + 0.05 * loss;
      progress.show(
        state.tokens,
        `step ${state.steps}, loss ${average.toFixed(3)}, gradient ${gradNorm.toFixed(2)}, rate ×${factor.toFixed(2)}`,
      );
    },
  });
}

await main().catch((error: unknown) => failWith(error));
