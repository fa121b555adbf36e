/**
 * A tiny base with random weights: a real Qwen3 folder that says nothing sensible, quickly. One token per byte, so any
 * text can be encoded; the chat format is the shipped base's.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FloatTensor, writeSafetensors } from "../../shared/safetensors.ts";

const SPECIAL_TOKENS = ["<|pad|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<hint>", "<note>"];

const SIZES = { hidden: 32, layers: 2, heads: 2, kvHeads: 1, headDim: 32, intermediate: 64 };

const CHAT_TEMPLATE = `{%- if messages[0].role == 'system' or tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content }}{%- endif %}
{%- if tools %}
{{- '\\n# Tools' }}
{%- for tool in tools %}{{- '\\n' + (tool.function | tojson) }}{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{{- '<|im_start|>user\\n' + message.content }}
{%- if message.notes %}{%- for note in message.notes %}{{- '\\n<note>' + note }}{%- endfor %}{%- endif %}
{%- if message.hint %}{{- '\\n<hint>' + message.hint }}{%- endif %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- if message.tool_calls %}
{%- for call in message.tool_calls %}
{{- '<tool_call>{"name": ' + (call.function.name | tojson) + ', "arguments": ' + call.function.arguments + '}</tool_call>' }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>tool\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;

/** Writes the folder and returns its path; the same seed gives the same bytes. */
export async function writeRandomBase(folder: string, seed = 1): Promise<string> {
  await mkdir(folder, { recursive: true });
  const vocabulary = [...SPECIAL_TOKENS, ...byteCharacters()];
  const files: Record<string, string | Uint8Array> = {
    "config.json": JSON.stringify(modelConfig(vocabulary.length)),
    "model.safetensors": writeSafetensors(randomTensors(vocabulary.length, seed), { type: "BF16" }),
    "tokenizer.json": JSON.stringify(tokenizerJson(vocabulary)),
    "tokenizer_config.json": JSON.stringify({ chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>", pad_token: "<|pad|>" }),
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

function randomTensors(vocabSize: number, seed: number): Map<string, FloatTensor> {
  const { hidden, layers, heads, kvHeads, headDim, intermediate } = SIZES;
  const random = uniform(seed);
  const matrix = (rows: number, columns: number): FloatTensor => ({
    shape: [rows, columns],
    values: Float32Array.from({ length: rows * columns }, () => random() / Math.sqrt(columns)),
  });
  const ones = (size: number): FloatTensor => ({ shape: [size], values: new Float32Array(size).fill(1) });
  const tensors = new Map([
    ["model.embed_tokens.weight", matrix(vocabSize, hidden)],
    ["model.norm.weight", ones(hidden)],
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

function tokenizerJson(vocabulary: string[]): Record<string, unknown> {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: "BPE", vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])), merges: [] },
  };
}

/** The printable stand-ins of the 256 bytes, as GPT-2's byte-level BPE defines them (`bytes_to_unicode`). */
function byteCharacters(): string[] {
  let shifted = 0;
  const printable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : 256 + shifted++));
}

/** Numbers in [−√3, √3), so of variance 1: a 32-bit linear congruential generator (Numerical Recipes, §7.1). */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * Math.sqrt(3);
  };
}
