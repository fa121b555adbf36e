/** A decoder small enough for exact checks, and batches for it. */
import type { TokenBatch } from "../../trainer/engine/batch.ts";
import { type ModelConfig, parseModelConfig } from "../../shared/model-config.ts";
import { Random } from "../../trainer/random.ts";

const TINY = {
  model_type: "qwen3",
  vocab_size: 19,
  hidden_size: 12,
  intermediate_size: 10,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 4,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};

/** Sizes whose weights, 124 MiB of float32, stand out in a process's memory. */
export const WEIGHTY = {
  vocab_size: 2048,
  hidden_size: 512,
  intermediate_size: 2048,
  num_hidden_layers: 8,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 64,
};

export function tinyConfig(changes: Readonly<Record<string, unknown>> = {}): ModelConfig {
  return parseModelConfig({ ...TINY, ...changes });
}

const draws = (random: Random, count: number, limit: number): Int32Array =>
  Int32Array.from({ length: count }, () => Math.floor(random.next() * limit));

/** Random tokens, the first `positions` of a random order of positions, random targets and weights in (0, 1]. */
export function randomBatch({
  rows,
  length,
  positions,
  vocab = 19,
  seed = 1,
}: {
  rows: number;
  length: number;
  positions: number;
  vocab?: number;
  seed?: number;
}): TokenBatch {
  const random = new Random(seed);
  const order = Array.from({ length: rows * length }, (_, position) => ({ position, key: random.next() }));
  return {
    rows,
    length,
    tokens: draws(random, rows * length, vocab),
    positions: Int32Array.from(order.toSorted((a, b) => a.key - b.key).slice(0, positions), ({ position }) => position),
    targets: draws(random, positions, vocab),
    weights: Float32Array.from({ length: positions }, () => 1 - random.next()),
  };
}

/** Weights moved by normal noise, by default so far that every part of the model matters. */
export function spreadWeights(weights: ReadonlyMap<string, Float32Array>, deviation = 0.3): Map<string, Float32Array> {
  const random = new Random(3);
  return new Map([...weights].map(([name, values]) => [name, values.map((value) => value + deviation * random.normal())]));
}

/** ‖a − b‖ / max(‖b‖, floor): below the floor, rounding is all there is to see. */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>, floor = 0): number {
  let [difference, norm] = [0, 0];
  for (let index = 0; index < b.length; index += 1) {
    difference += ((a[index] ?? Number.NaN) - (b[index] ?? Number.NaN)) ** 2;
    norm += (b[index] ?? Number.NaN) ** 2;
  }
  return Math.sqrt(difference) / Math.max(Math.sqrt(norm), floor);
}

/** Four places evenly over an array: enough to catch a wrong gradient, few enough to difference one by one. */
export function spreadPlaces(length: number): number[] {
  return Array.from({ length: 4 }, (_, index) => Math.floor((length * (index + 0.5)) / 4));
}

/** The derivative at zero of a float32 computation, by fourth-order central differences. */
export async function differenceAtZero(probe: (shift: number) => Promise<number>): Promise<number> {
  const h = 2 ** -7;
  const [near, far] = [(await probe(h)) - (await probe(-h)), (await probe(2 * h)) - (await probe(-2 * h))];
  return (8 * near - far) / (12 * h);
}
