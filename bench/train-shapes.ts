/** What `bench:train` and `check:gpu` train, by name: sizes, a batch, and how we have to stand beside PyTorch. */
import { existsSync, readFileSync } from "node:fs";
import { SHIPPED_SIZES } from "./base-files.ts";
import { toHuggingFaceConfig } from "./random-checkpoint.ts";

export type TrainShape = {
  /** As config.json has it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly kinds: readonly ("full" | "adapter")[];
  readonly rows: number;
  readonly length: number;
  readonly rank: number;
  /** Runs of each side, and timed steps in each. */
  readonly rounds: number;
  readonly steps: number;
  readonly warmup: number;
  /** Our speed over PyTorch's at least, by kind, our peak memory over PyTorch's at most. */
  readonly bars: { readonly speed: { readonly full: number; readonly adapter: number }; readonly memory: number };
};

const BASE_CONFIG = new URL("../base/config.json", import.meta.url);

function shippedConfig(): Record<string, unknown> {
  return existsSync(BASE_CONFIG)
    ? (JSON.parse(readFileSync(BASE_CONFIG, "utf8")) as Record<string, unknown>)
    : toHuggingFaceConfig(SHIPPED_SIZES);
}

/** https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json; the weights are random. */
export const QWEN3_0_6B = {
  model_type: "qwen3",
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
} as const;

export const SHAPES: { readonly [name: string]: TrainShape } = {
  base: {
    config: shippedConfig(),
    kinds: ["full", "adapter"],
    rows: 8,
    length: 256,
    rank: 16,
    rounds: 5,
    steps: 8,
    warmup: 2,
    bars: { speed: { full: 1, adapter: 1.2 }, memory: 0.7 },
  },
  "qwen3-0.6b": {
    config: QWEN3_0_6B,
    kinds: ["adapter"],
    rows: 1,
    length: 256,
    rank: 16,
    rounds: 3,
    steps: 3,
    warmup: 1,
    bars: { speed: { full: 1, adapter: 1.2 }, memory: 0.75 },
  },
};
