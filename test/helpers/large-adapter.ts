/** Adapters as large as those of real models: Qwen3-4B's shapes, and bytes that repeat only after a prime number of them. */
import { linearNames, linearShape, writeAdapter, type LoraPair } from "../../shared/lora.ts";
import { parseModelConfig, type ModelConfig } from "../../shared/model-config.ts";
import { utf8 } from "./call.ts";

/** https://huggingface.co/Qwen/Qwen3-4B/blob/main/config.json */
export const QWEN3_4B = {
  ...{ architectures: ["Qwen3ForCausalLM"], model_type: "qwen3", vocab_size: 151_936, hidden_size: 2_560, intermediate_size: 9_728 },
  ...{ num_hidden_layers: 36, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, max_position_embeddings: 40_960 },
  ...{ rope_theta: 1_000_000, rms_norm_eps: 1e-6, hidden_act: "silu", tie_word_embeddings: true, attention_bias: false },
};

const PERIOD = 8_191;

/** The two files of an adapter on all seven linear maps, in BF16. */
export function largeAdapter(
  rank: number,
  config: ModelConfig = parseModelConfig(QWEN3_4B),
): { rank: number; alpha: number; configBytes: Uint8Array<ArrayBuffer>; weightBytes: Uint8Array<ArrayBuffer> } {
  const values = (count: number, offset: number): Float32Array =>
    Float32Array.from({ length: count }, (_, index) => (((index + offset) % PERIOD) + 1) / PERIOD);
  const pairs: LoraPair[] = [];
  for (let layer = 0; layer < config.layerCount; layer += 1)
    for (const linear of linearNames()) {
      const { out, in: width } = linearShape(config, linear);
      pairs.push({ layer, linear, a: values(rank * width, layer), b: values(out * rank, layer + 1) });
    }
  const alpha = 2 * rank;
  const { adapterConfig, adapterModel } = writeAdapter(config, { rank, alpha, pairs }, { baseModel: "Qwen/Qwen3-4B", type: "BF16" });
  return { rank, alpha, configBytes: utf8(adapterConfig), weightBytes: adapterModel };
}
