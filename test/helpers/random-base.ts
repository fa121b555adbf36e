/**
 * A tiny base with random weights: a real Qwen3 folder that says nothing sensible, quickly. Its tokens are the bytes
 * and the special tokens; normalisation and chat format are the shipped base's.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FloatTensor, writeSafetensors } from "../../shared/safetensors.ts";
import { tokenizerJson, trainBpe } from "../../trainer/pretrain/bpe.ts";
import { CHAT_TEMPLATE } from "../../trainer/pretrain/chat-template.ts";

const OPENS = "{{- '<|im_start|>' + message.role + '\\n' -}}";
const EMPTY_THOUGHT = "{{- '<think>\\n\\n</think>\\n\\n' -}}";
/** Of a model that thinks before it answers unless its template is told otherwise; written down, the last answer has a thought, as with Qwen3's. */
export const THINKING_TEMPLATE = [
  CHAT_TEMPLATE.replace(OPENS, `${OPENS}{%- if loop.last and message.role == 'assistant' -%}${EMPTY_THOUGHT}{%- endif -%}`),
  `{%- if add_generation_prompt and enable_thinking is defined and enable_thinking is false -%}${EMPTY_THOUGHT}{%- endif -%}`,
].join("");

const SIZES = { hidden: 32, layers: 2, heads: 2, kvHeads: 1, headDim: 32, intermediate: 64 };

/** Writes the folder and returns its path; the same seed gives the same bytes. @param options.finalNorm what the last norm multiplies by: the smaller, the less sure it is of any token */
export async function writeRandomBase(
  folder: string,
  seed = 1,
  { finalNorm = 1, template = CHAT_TEMPLATE }: { finalNorm?: number; template?: string } = {},
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const bytesOnly = trainBpe(new Map(), 0);
  const vocabSize = bytesOnly.vocabulary.size;
  const files: Record<string, string | Uint8Array> = {
    "config.json": JSON.stringify(modelConfig(vocabSize)),
    "model.safetensors": writeSafetensors(randomTensors(vocabSize, { seed, finalNorm }), { type: "BF16" }),
    "tokenizer.json": JSON.stringify(tokenizerJson(bytesOnly)),
    "tokenizer_config.json": JSON.stringify({ chat_template: template, eos_token: "<|im_end|>", pad_token: "<|pad|>" }),
    "generation_config.json": JSON.stringify({ eos_token_id: 2, pad_token_id: 0 }),
  };
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)));
  return folder;
}

function modelConfig(vocabSize: number): Record<string, unknown> {
  return {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    vocab_size: vocabSize,
    hidden_size: SIZES.hidden,
    num_hidden_layers: SIZES.layers,
    num_attention_heads: SIZES.heads,
    num_key_value_heads: SIZES.kvHeads,
    head_dim: SIZES.headDim,
    intermediate_size: SIZES.intermediate,
    max_position_embeddings: 2048,
    rope_theta: 10_000,
    rms_norm_eps: 1e-6,
    hidden_act: "silu",
    tie_word_embeddings: true,
    attention_bias: false,
  };
}

function randomTensors(vocabSize: number, { seed, finalNorm }: { seed: number; finalNorm: number }): Map<string, FloatTensor> {
  const { hidden, layers, heads, kvHeads, headDim, intermediate } = SIZES;
  const random = uniform(seed);
  const matrix = (rows: number, columns: number): FloatTensor => ({
    shape: [rows, columns],
    values: Float32Array.from({ length: rows * columns }, () => random() / Math.sqrt(columns)),
  });
  const ones = (size: number): FloatTensor => ({ shape: [size], values: new Float32Array(size).fill(1) });
  const tensors = new Map([
    ["model.embed_tokens.weight", matrix(vocabSize, hidden)],
    ["model.norm.weight", { shape: [hidden], values: new Float32Array(hidden).fill(finalNorm) }],
  ]);
  for (let layer = 0; layer < layers; layer++) {
    const parts: Record<string, FloatTensor> = {
      "input_layernorm.weight": ones(hidden),
      "post_attention_layernorm.weight": ones(hidden),
      "self_attn.q_proj.weight": matrix(heads * headDim, hidden),
      "self_attn.k_proj.weight": matrix(kvHeads * headDim, hidden),
      "self_attn.v_proj.weight": matrix(kvHeads * headDim, hidden),
      "self_attn.o_proj.weight": matrix(hidden, heads * headDim),
      "self_attn.q_norm.weight": ones(headDim),
      "self_attn.k_norm.weight": ones(headDim),
      "mlp.gate_proj.weight": matrix(intermediate, hidden),
      "mlp.up_proj.weight": matrix(intermediate, hidden),
      "mlp.down_proj.weight": matrix(hidden, intermediate),
    };
    for (const [name, tensor] of Object.entries(parts)) tensors.set(`model.layers.${layer}.${name}`, tensor);
  }
  return tensors;
}

/** Numbers in [−√3, √3), so of variance 1: a 32-bit linear congruential generator (Numerical Recipes, §7.1). */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * Math.sqrt(3);
  };
}
