/** A plain float64 decoder without cache, blocks or vectors, written from the model's definition alone. */
import type { Adapter } from "../../../shared/lora.ts";
import { LINEAR_PATHS, type LinearName } from "../../../shared/lora.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import type { FloatTensor } from "../../../shared/safetensors.ts";

type Vector = number[];

export type Reference = { config: ModelConfig; weights: ReadonlyMap<string, FloatTensor>; adapter?: Adapter };

/** Logits of every position, [T][V]. */
export function referenceLogits(reference: Reference, tokens: readonly number[]): Vector[] {
  const { config } = reference;
  let states = tokens.map((token) => rowOf(reference, "model.embed_tokens.weight", token, config.hiddenSize));
  for (let layer = 0; layer < config.layerCount; layer++) states = runLayer(reference, layer, states);
  const gain = valuesOf(reference, "model.norm.weight");
  const head = config.tiedHead ? "model.embed_tokens.weight" : "lm_head.weight";
  return states.map((state) => multiply(valuesOf(reference, head), norm(state, gain, config.rmsNormEps)));
}

/** ln p of a distribution given by logits. */
export function logSoftmax(logits: ArrayLike<number>): Vector {
  const values = Array.from(logits);
  const max = Math.max(...values);
  const logSum = max + Math.log(values.reduce((sum, logit) => sum + Math.exp(logit - max), 0));
  return values.map((logit) => logit - logSum);
}

function runLayer(reference: Reference, layer: number, states: readonly Vector[]): Vector[] {
  const { config } = reference;
  const path = `model.layers.${layer}`;
  const normed = states.map((state) => norm(state, valuesOf(reference, `${path}.input_layernorm.weight`), config.rmsNormEps));
  const q = normed.map((x, position) => heads(reference, { layer, linear: "q_proj", norm: "q_norm", position }, x));
  const k = normed.map((x, position) => heads(reference, { layer, linear: "k_proj", norm: "k_norm", position }, x));
  const v = normed.map((x) => split(linear(reference, layer, "v_proj", x), config.headDim));
  return states.map((state, t) => {
    const mixed = at(q, t).flatMap((query, head) => {
      const group = Math.floor((head * config.kvHeadCount) / config.headCount);
      return attend(
        query,
        k.slice(0, t + 1).map((each) => at(each, group)),
        v.slice(0, t + 1).map((each) => at(each, group)),
      );
    });
    const attended = add(state, linear(reference, layer, "o_proj", mixed));
    const inner = norm(attended, valuesOf(reference, `${path}.post_attention_layernorm.weight`), config.rmsNormEps);
    const gate = linear(reference, layer, "gate_proj", inner);
    const up = linear(reference, layer, "up_proj", inner);
    return add(
      attended,
      linear(
        reference,
        layer,
        "down_proj",
        gate.map((g, i) => (g / (1 + Math.exp(-g))) * at(up, i)),
      ),
    );
  });
}

function heads(reference: Reference, which: { layer: number; linear: LinearName; norm: string; position: number }, x: Vector): Vector[] {
  const { config } = reference;
  return split(linear(reference, which.layer, which.linear, x), config.headDim).map((head) => {
    const gain = config.qkNorm ? valuesOf(reference, `model.layers.${which.layer}.self_attn.${which.norm}.weight`) : undefined;
    return rotate(gain === undefined ? head : norm(head, gain, config.rmsNormEps), which.position, config.ropeTheta);
  });
}

function rotate(head: Vector, position: number, theta: number): Vector {
  const half = head.length / 2;
  return head.map((value, i) => {
    const angle = position * theta ** (-(i % half) / half);
    const other = i < half ? -at(head, i + half) : at(head, i - half);
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}

function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const weights = logSoftmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length))).map(Math.exp);
  return query.map((_, d) => values.reduce((sum, value, t) => sum + at(weights, t) * at(value, d), 0));
}

/** W x + bias + (alpha / rank) B A x. */
function linear(reference: Reference, layer: number, name: LinearName, x: Vector): Vector {
  const path = `model.layers.${layer}.${LINEAR_PATHS[name]}`;
  let y = multiply(valuesOf(reference, `${path}.weight`), x);
  const bias = reference.weights.get(`${path}.bias`);
  if (bias !== undefined) y = add(y, Array.from(bias.values));
  const pair = reference.adapter?.pairs.find((each) => each.layer === layer && each.linear === name);
  if (pair === undefined || reference.adapter === undefined) return y;
  const scale = reference.adapter.alpha / reference.adapter.rank;
  return add(
    y,
    multiply(pair.b, multiply(pair.a, x)).map((value) => scale * value),
  );
}

function multiply(matrix: Float32Array, x: Vector): Vector {
  return Array.from({ length: matrix.length / x.length }, (_, row) =>
    x.reduce((sum, value, i) => sum + value * at(matrix, row * x.length + i), 0),
  );
}

function norm(x: Vector, gain: Float32Array, eps: number): Vector {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + eps);
  return x.map((value, i) => value * scale * at(gain, i));
}

function split(x: Vector, width: number): Vector[] {
  return Array.from({ length: x.length / width }, (_, i) => x.slice(i * width, (i + 1) * width));
}

function rowOf(reference: Reference, name: string, row: number, width: number): Vector {
  return Array.from(valuesOf(reference, name).subarray(row * width, (row + 1) * width));
}

function valuesOf({ weights }: Reference, name: string): Float32Array {
  const tensor = weights.get(name);
  if (tensor === undefined) throw new Error(`weight ${name} expected, got none`);
  return tensor.values;
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, value, i) => sum + value * at(b, i), 0);
}

function add(a: Vector, b: Vector): Vector {
  return a.map((value, i) => value + at(b, i));
}

function at<T>(values: ArrayLike<T>, index: number): T {
  const value = values[index];
  if (value === undefined) throw new Error(`index below ${values.length} expected, got ${index}`);
  return value;
}
