/** A base checkpoint → the kernel's model table, with every matrix repacked into panels of float32. */
import { AppError } from "../../shared/errors.ts";
import { type LinearName, linearNames, LINEAR_PATHS, linearShape } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { parseSafetensors, type Tensor, toFloat32 } from "../../shared/safetensors.ts";
import * as layout from "../kernel/assembly/layout.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { cosSin, exp, ln } from "./portable-math.ts";

export type LoadedModel = {
  readonly config: ModelConfig;
  /** Address of the model table. */
  readonly table: number;
  readonly logits: number;
  /** Vocabulary padded to whole panels: the stride of the logits. */
  readonly logitsStride: number;
};

const WORD_BYTES = 4;

/**
 * Loads weights from the bytes of `model.safetensors`.
 * @throws {policy/refused} for a missing, misshapen, unknown or non-finite tensor, or sizes that the kernel cannot run
 */
export function loadWeights(kernel: Kernel, config: ModelConfig, file: Uint8Array): LoadedModel {
  checkSizes(config);
  const source = new TensorSource(kernel, parseSafetensors(file));
  const tableWords = layout.MODEL_LAYER_TABLE + config.layerCount * layout.LAYER_WORDS;
  const words = new Map<number, number>();
  const { hiddenSize: D, vocabSize: V } = config;
  const embedding = source.panels("model.embed_tokens.weight", V, D);
  words.set(layout.MODEL_EMBEDDING, embedding);
  words.set(layout.MODEL_HEAD, config.tiedHead ? embedding : source.panels("lm_head.weight", V, D));
  words.set(layout.MODEL_FINAL_NORM, source.vector("model.norm.weight", D));
  for (let layer = 0; layer < config.layerCount; layer++) {
    for (const [word, at] of layerWords(source, config, layer)) words.set(layout.MODEL_LAYER_TABLE + layer * layout.LAYER_WORDS + word, at);
  }
  source.finish();
  return buildTable(kernel, config, { tableWords, words });
}

function checkSizes(config: ModelConfig): void {
  const widths = {
    hidden_size: config.hiddenSize,
    "num_attention_heads * head_dim": config.headCount * config.headDim,
    "num_key_value_heads * head_dim": config.kvHeadCount * config.headDim,
    intermediate_size: config.intermediateSize,
  };
  for (const [name, width] of Object.entries(widths)) {
    if (width % layout.PANEL !== 0)
      throw new AppError("policy/refused", `config.json: ${name} a multiple of ${layout.PANEL} expected, got ${width}`);
  }
  if (config.headDim % 4 !== 0)
    throw new AppError("policy/refused", `config.json: head_dim a multiple of 4 expected, got ${config.headDim}`);
}

function layerWords(source: TensorSource, config: ModelConfig, layer: number): [number, number][] {
  const path = `model.layers.${layer}`;
  const { hiddenSize: D, headDim: K } = config;
  const words: [number, number][] = [
    [layout.LAYER_INPUT_NORM, source.vector(`${path}.input_layernorm.weight`, D)],
    [layout.LAYER_POST_NORM, source.vector(`${path}.post_attention_layernorm.weight`, D)],
  ];
  if (config.qkNorm) {
    words.push([layout.LAYER_Q_NORM, source.vector(`${path}.self_attn.q_norm.weight`, K)]);
    words.push([layout.LAYER_K_NORM, source.vector(`${path}.self_attn.k_norm.weight`, K)]);
  }
  const biases: readonly (readonly [number, LinearName])[] = [
    [layout.LAYER_Q_BIAS, "q_proj"],
    [layout.LAYER_K_BIAS, "k_proj"],
    [layout.LAYER_V_BIAS, "v_proj"],
  ];
  if (config.qkvBias) {
    for (const [word, name] of biases)
      words.push([word, source.vector(`${path}.${LINEAR_PATHS[name]}.bias`, linearShape(config, name).out)]);
  }
  linearNames().forEach((name, index) => {
    const shape = linearShape(config, name);
    words.push([layout.LAYER_LINEAR + index, source.panels(`${path}.${LINEAR_PATHS[name]}.weight`, shape.out, shape.in)]);
  });
  return words;
}

function buildTable(
  kernel: Kernel,
  config: ModelConfig,
  { tableWords, words }: { tableWords: number; words: ReadonlyMap<number, number> },
): LoadedModel {
  const logitsStride = Math.ceil(config.vocabSize / layout.PANEL) * layout.PANEL;
  const table = kernel.heap.allocate(tableWords * WORD_BYTES);
  const logits = kernel.heap.allocate(layout.MAX_ROWS * logitsStride * WORD_BYTES);
  const rope = ropeTables(kernel, config);
  const view = kernel.words(table, tableWords);
  view.fill(0);
  const sizes: readonly (readonly [number, number])[] = [
    [layout.MODEL_HIDDEN, config.hiddenSize],
    [layout.MODEL_LAYERS, config.layerCount],
    [layout.MODEL_HEADS, config.headCount],
    [layout.MODEL_KV_HEADS, config.kvHeadCount],
    [layout.MODEL_HEAD_DIM, config.headDim],
    [layout.MODEL_INTERMEDIATE, config.intermediateSize],
    [layout.MODEL_VOCAB, logitsStride],
    [layout.MODEL_COS, rope.cos],
    [layout.MODEL_SIN, rope.sin],
    [layout.MODEL_LOGITS, logits],
    ...words,
  ];
  for (const [word, value] of sizes) view[word] = value;
  kernel.floats(table, tableWords)[layout.MODEL_EPS] = config.rmsNormEps;
  const scratch = kernel.heap.allocate(kernel.exports.scratchBytes(table, config.contextTokens));
  kernel.words(table, tableWords)[layout.MODEL_SCRATCH] = scratch;
  return { config, table, logits, logitsStride };
}

/** cos and sin of position · theta^(−2i / headDim), [context, headDim / 2].   RoPE (arXiv:2104.09864) eq. 15 */
function ropeTables(kernel: Kernel, config: ModelConfig): { cos: number; sin: number } {
  const half = config.headDim / 2;
  const frequencies = Float64Array.from({ length: half }, (_, i) => exp((-i / half) * ln(config.ropeTheta)));
  const cos = new Float32Array(config.contextTokens * half);
  const sin = new Float32Array(config.contextTokens * half);
  for (let index = 0; index < cos.length; index++) {
    const turned = cosSin(Math.floor(index / half) * (frequencies[index % half] ?? NaN));
    cos[index] = turned.cos;
    sin[index] = turned.sin;
  }
  return { cos: place(kernel, cos), sin: place(kernel, sin) };
}

/** Copies values into a fresh block and returns its address. */
function place(kernel: Kernel, values: Float32Array): number {
  const at = kernel.heap.allocate(values.length * WORD_BYTES);
  kernel.floats(at, values.length).set(values);
  return at;
}

/** Tensors of a file, each to be taken exactly once. */
class TensorSource {
  readonly #kernel: Kernel;
  readonly #tensors: Map<string, Tensor>;

  constructor(kernel: Kernel, tensors: Map<string, Tensor>) {
    this.#kernel = kernel;
    this.#tensors = tensors;
  }

  vector(name: string, length: number): number {
    return place(this.#kernel, this.#take(name, [length]));
  }

  /** [out, in] row-major → panels [out / PANEL][in][PANEL], rows past `out` zero. */
  panels(name: string, out: number, inputs: number): number {
    const rows = this.#take(name, [out, inputs]);
    const panelCount = Math.ceil(out / layout.PANEL);
    const length = panelCount * inputs * layout.PANEL;
    const at = this.#kernel.heap.allocate(length * WORD_BYTES);
    const panels = this.#kernel.floats(at, length).fill(0);
    for (let o = 0; o < out; o++) {
      const start = Math.floor(o / layout.PANEL) * inputs * layout.PANEL + (o % layout.PANEL);
      for (let i = 0; i < inputs; i++) panels[start + i * layout.PANEL] = rows[o * inputs + i] ?? 0;
    }
    return at;
  }

  finish(): void {
    const [unknown] = this.#tensors.keys();
    if (unknown !== undefined)
      throw new AppError("policy/refused", `model.safetensors: no tensor ${unknown} expected for this config.json, got one`);
  }

  #take(name: string, shape: readonly number[]): Float32Array {
    const tensor = this.#tensors.get(name);
    if (tensor === undefined) throw new AppError("policy/refused", `model.safetensors: tensor ${name} expected, got none`);
    if (tensor.shape.join() !== shape.join())
      throw new AppError(
        "policy/refused",
        `model.safetensors: tensor ${name}: shape [${shape.join(", ")}] expected, got [${tensor.shape.join(", ")}]`,
      );
    this.#tensors.delete(name);
    const values = toFloat32(tensor);
    if (!values.every(Number.isFinite)) throw new AppError("policy/refused", `model.safetensors: tensor ${name}: finite values expected`);
    return values;
  }
}
