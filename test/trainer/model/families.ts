/** Checkpoints of each family with the fields that its makers publish, small sizes and random weights. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from "../../../shared/float16.ts";
import { type FloatTensor, type TensorType, writeSafetensors } from "../../../shared/safetensors.ts";
import { Random } from "../../../trainer/random.ts";
import type { RawConfig } from "./reference.ts";

const SIZES = {
  vocab_size: 61,
  hidden_size: 32,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 128,
  hidden_act: "silu",
  rms_norm_eps: 1e-6,
};

// Originals that stretch what turns visibly within a test's sequence, with bounds between pairs.
const LLAMA3 = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 48 };
const YARN = { factor: 4, original_max_position_embeddings: 2_048 };

/** By what tells each from the others. */
export const FAMILIES: Readonly<Record<string, RawConfig>> = {
  // https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json
  "Qwen3, tied head, heads wider than their share": {
    ...SIZES,
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    head_dim: 12,
    attention_bias: false,
    max_window_layers: 28,
    rope_scaling: null,
    rope_theta: 1_000_000,
    sliding_window: null,
    tie_word_embeddings: true,
    use_sliding_window: false,
  },
  // https://huggingface.co/Qwen/Qwen3-8B#processing-long-texts
  "Qwen3, untied head, stretched by YaRN": {
    ...SIZES,
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    head_dim: 16,
    attention_bias: false,
    max_position_embeddings: 2_048,
    rope_scaling: { rope_type: "yarn", ...YARN },
    rope_theta: 10_000,
    tie_word_embeddings: false,
  },
  // https://huggingface.co/Qwen/Qwen2.5-7B-Instruct/blob/main/config.json
  "Qwen2.5, biases, untied head": {
    ...SIZES,
    architectures: ["Qwen2ForCausalLM"],
    model_type: "qwen2",
    max_window_layers: 28,
    rope_theta: 1_000_000,
    sliding_window: 131_072,
    tie_word_embeddings: false,
    use_sliding_window: false,
  },
  "Qwen2.5, tied head, stretched by YaRN under its older name": {
    ...SIZES,
    architectures: ["Qwen2ForCausalLM"],
    model_type: "qwen2",
    max_position_embeddings: 2_048,
    rope_scaling: { type: "yarn", ...YARN },
    rope_theta: 10_000,
    tie_word_embeddings: true,
  },
  // https://huggingface.co/meta-llama/Meta-Llama-3-8B-Instruct/blob/main/config.json
  "Llama 3, as many key heads as query heads": {
    ...SIZES,
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    attention_bias: false,
    num_key_value_heads: 4,
    pretraining_tp: 1,
    rms_norm_eps: 1e-5,
    rope_scaling: null,
    rope_theta: 500_000,
    tie_word_embeddings: false,
  },
  // https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct/blob/main/config.json
  "Llama 3.1, stretched": {
    ...SIZES,
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    attention_bias: false,
    mlp_bias: false,
    eos_token_id: [128_001, 128_008, 128_009],
    rms_norm_eps: 1e-5,
    rope_scaling: LLAMA3,
    rope_theta: 10_000,
    tie_word_embeddings: false,
  },
  // As transformers 5 writes Llama 3.2: https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md
  "Llama 3.2, tied head, stretched, in the fields of transformers 5": {
    ...SIZES,
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    head_dim: 16,
    num_key_value_heads: 1,
    rms_norm_eps: 1e-5,
    rope_parameters: { ...LLAMA3, rope_theta: 10_000 },
    tie_word_embeddings: true,
  },
};

/** Tensors under the family's published names, as a file of `type` can hold them. */
export function familyWeights(config: RawConfig, type: TensorType = "F32", seed = 1): Map<string, FloatTensor> {
  const random = new Random(seed);
  const size = (name: string): number => Number(config[name]);
  const [hidden, inner, vocabulary] = [size("hidden_size"), size("intermediate_size"), size("vocab_size")];
  const width = Number(config["head_dim"] ?? hidden / size("num_attention_heads"));
  const [queries, keys] = [width * size("num_attention_heads"), width * size("num_key_value_heads")];
  const tensors = new Map<string, FloatTensor>();
  const add = (name: string, shape: readonly number[], deviation: number, centre = 0): void => {
    const length = shape.reduce((product, extent) => product * extent, 1);
    tensors.set(name, {
      shape,
      values: rounded(
        type,
        Float32Array.from({ length }, () => centre + deviation * random.normal()),
      ),
    });
  };
  const linear = (path: string, out: number, inputs: number): void => add(`${path}.weight`, [out, inputs], 1.2 / Math.sqrt(inputs));
  add("model.embed_tokens.weight", [vocabulary, hidden], 0.4);
  for (let layer = 0; layer < size("num_hidden_layers"); layer += 1) {
    const block = `model.layers.${layer}`;
    add(`${block}.input_layernorm.weight`, [hidden], 0.2, 1);
    add(`${block}.post_attention_layernorm.weight`, [hidden], 0.2, 1);
    linear(`${block}.self_attn.q_proj`, queries, hidden);
    linear(`${block}.self_attn.k_proj`, keys, hidden);
    linear(`${block}.self_attn.v_proj`, keys, hidden);
    linear(`${block}.self_attn.o_proj`, hidden, queries);
    linear(`${block}.mlp.gate_proj`, inner, hidden);
    linear(`${block}.mlp.up_proj`, inner, hidden);
    linear(`${block}.mlp.down_proj`, hidden, inner);
    if (config["model_type"] === "qwen3")
      for (const name of ["q_norm", "k_norm"]) add(`${block}.self_attn.${name}.weight`, [width], 0.2, 1);
    if (config["model_type"] === "qwen2") {
      add(`${block}.self_attn.q_proj.bias`, [queries], 0.3);
      add(`${block}.self_attn.k_proj.bias`, [keys], 0.3);
      add(`${block}.self_attn.v_proj.bias`, [keys], 0.3);
    }
  }
  add("model.norm.weight", [hidden], 0.2, 1);
  if (config["tie_word_embeddings"] !== true) add("lm_head.weight", [vocabulary, hidden], 0.4);
  return tensors;
}

/** Writes config.json and weights in `shards` files; one has no index. */
export async function writeFamily(
  folder: string,
  {
    config,
    weights,
    type,
    shards = 1,
  }: { config: RawConfig; weights: ReadonlyMap<string, FloatTensor>; type: TensorType; shards?: number },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  if (shards === 1) {
    await writeFile(join(folder, "model.safetensors"), writeSafetensors(weights, { type, metadata: { format: "pt" } }));
    return folder;
  }
  const names = [...weights.keys()];
  const number = (shard: number): string => String(shard).padStart(5, "0");
  const fileOf = (index: number): string => `model-${number((index % shards) + 1)}-of-${number(shards)}.safetensors`;
  const map = Object.fromEntries(names.map((name, index) => [name, fileOf(index)]));
  for (const file of new Set(Object.values(map)))
    await writeFile(join(folder, file), writeSafetensors(new Map([...weights].filter(([name]) => map[name] === file)), { type }));
  await writeFile(join(folder, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: map }));
  return folder;
}

function rounded(type: TensorType, values: Float32Array): Float32Array {
  if (type === "BF16") return decodeBfloat16(encodeBfloat16(values));
  return type === "F16" ? decodeFloat16(encodeFloat16(values)) : values;
}
