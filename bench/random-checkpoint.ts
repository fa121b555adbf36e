/** Checkpoints and adapters of any size with seeded random weights, for tests and for benches without a base. */
import { linearNames, LINEAR_PATHS, linearShape, type Adapter, type LinearName } from "../shared/lora.ts";
import type { ModelConfig } from "../shared/model-config.ts";
import { type FloatTensor, type TensorType, writeSafetensors } from "../shared/safetensors.ts";

/** The content of config.json for a model of these sizes. */
export function toHuggingFaceConfig(config: ModelConfig): Record<string, unknown> {
  return {
    model_type: config.qkNorm ? "qwen3" : config.qkvBias ? "qwen2" : "llama",
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layerCount,
    num_attention_heads: config.headCount,
    num_key_value_heads: config.kvHeadCount,
    head_dim: config.headDim,
    intermediate_size: config.intermediateSize,
    max_position_embeddings: config.contextTokens,
    rope_theta: config.ropeTheta,
    rms_norm_eps: config.rmsNormEps,
    tie_word_embeddings: config.tiedHead,
  };
}

/** Uniform numbers in [-1, 1) from a 32-bit linear congruence (Numerical Recipes). */
export function createNoise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Weights large enough that every part of the model matters to the logits. */
export function randomWeights(config: ModelConfig, seed: number): Map<string, FloatTensor> {
  const noise = createNoise(seed);
  const tensors = new Map<string, FloatTensor>();
  const add = (name: string, shape: readonly number[], scale: number, centre = 0): void => {
    const length = shape.reduce((product, extent) => product * extent, 1);
    tensors.set(name, { shape, values: Float32Array.from({ length }, () => centre + scale * noise()) });
  };
  add("model.embed_tokens.weight", [config.vocabSize, config.hiddenSize], 0.3);
  if (!config.tiedHead) add("lm_head.weight", [config.vocabSize, config.hiddenSize], 0.3);
  add("model.norm.weight", [config.hiddenSize], 0.2, 1);
  for (let layer = 0; layer < config.layerCount; layer++) {
    const path = `model.layers.${layer}`;
    add(`${path}.input_layernorm.weight`, [config.hiddenSize], 0.2, 1);
    add(`${path}.post_attention_layernorm.weight`, [config.hiddenSize], 0.2, 1);
    if (config.qkNorm) for (const name of ["q_norm", "k_norm"]) add(`${path}.self_attn.${name}.weight`, [config.headDim], 0.2, 1);
    for (const name of linearNames()) {
      const { out, in: inputs } = linearShape(config, name);
      add(`${path}.${LINEAR_PATHS[name]}.weight`, [out, inputs], 1.5 / Math.sqrt(inputs));
      if (config.qkvBias && ["q_proj", "k_proj", "v_proj"].includes(name)) add(`${path}.${LINEAR_PATHS[name]}.bias`, [out], 0.2);
    }
  }
  return tensors;
}

/** The bytes of model.safetensors for `randomWeights`. */
export function randomCheckpoint(config: ModelConfig, seed: number, type: TensorType = "F32"): Uint8Array<ArrayBuffer> {
  return writeSafetensors(randomWeights(config, seed), { type });
}

/** An adapter with no zero half, so that it changes every output. */
export function randomAdapter(
  config: ModelConfig,
  { seed, rank = 8, targets = linearNames() }: { seed: number; rank?: number; targets?: readonly LinearName[] },
): Adapter {
  const noise = createNoise(seed);
  const pairs = Array.from({ length: config.layerCount }, (_, layer) =>
    targets.map((linear) => {
      const { out, in: inputs } = linearShape(config, linear);
      return {
        layer,
        linear,
        a: Float32Array.from({ length: rank * inputs }, () => noise() / Math.sqrt(inputs)),
        b: Float32Array.from({ length: out * rank }, () => (0.5 * noise()) / Math.sqrt(rank)),
      };
    }),
  );
  return { rank, alpha: 2 * rank, pairs: pairs.flat() };
}
