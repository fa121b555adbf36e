/**
 * A plain float64 decoder for checks: one function per block, written from the architectures as published, over the raw
 * fields of config.json. It shares nothing with the graphs that it is held against.
 */

/** The fields of config.json, by their own names. */
export type RawConfig = Readonly<Record<string, unknown>>;
export type Matrix = { readonly shape: readonly number[]; readonly values: Float64Array };
export type RawWeights = ReadonlyMap<string, Matrix>;
/** Beside any linear map, by its path; the map adds scale · B A. */
export type RawAdapter = { readonly scale: number; readonly tensors: ReadonlyMap<string, Matrix> };
type RawModel = { readonly config: RawConfig; readonly weights: RawWeights; readonly adapter?: RawAdapter };

type Vector = number[];

/** Tensors as the reference computes with them. */
export function toMatrices(tensors: ReadonlyMap<string, { shape: readonly number[]; values: ArrayLike<number> }>): Map<string, Matrix> {
  return new Map(Array.from(tensors, ([name, { shape, values }]) => [name, { shape, values: Float64Array.from(values) }]));
}

/** ln p of every token after each of `tokens`, [T][V]. */
export function referenceLogProbs(model: RawModel, tokens: readonly number[]): Vector[] {
  return referenceLogits(model, tokens).map(logSoftmax);
}

export function referenceLogits({ config, weights, adapter }: RawModel, tokens: readonly number[]): Vector[] {
  const size = (name: string): number => Number(config[name]);
  const epsilon = size("rms_norm_eps");
  const heads = size("num_attention_heads");
  const keyHeads = Number(config["num_key_value_heads"] ?? heads);
  const width = Number(config["head_dim"] ?? size("hidden_size") / heads);
  const matrix = (name: string): Matrix => {
    const found = weights.get(name);
    if (found === undefined) throw new Error(`the checkpoint lacks ${name}`);
    return found;
  };
  const vector = (name: string): Vector => Array.from(matrix(name).values);
  const map = (path: string, x: Vector): Vector => {
    const y = multiply(matrix(`${path}.weight`), x);
    const bias = weights.get(`${path}.bias`);
    const low = adapter?.tensors.get(`base_model.model.${path}.lora_A.weight`);
    const up = adapter?.tensors.get(`base_model.model.${path}.lora_B.weight`);
    const beside = low && up ? multiply(up, multiply(low, x)) : [];
    return y.map((value, i) => value + (bias?.values[i] ?? 0) + (adapter?.scale ?? 0) * (beside[i] ?? 0));
  };
  const { frequencies, length } = rotation(config, width);
  const head = (path: string, x: Vector, position: number | undefined): Vector => {
    const gain = position === undefined ? undefined : weights.get(`${path}_norm.weight`);
    const normed = gain === undefined ? x : rmsNorm(x, Array.from(gain.values), epsilon);
    return position === undefined ? x : rotate(normed, position, { frequencies, length });
  };

  let states = tokens.map((token) => rowOf(matrix("model.embed_tokens.weight"), token));
  for (let layer = 0; layer < size("num_hidden_layers"); layer += 1) {
    const block = `model.layers.${layer}`;
    const attention = `${block}.self_attn`;
    const inputs = states.map((state) => rmsNorm(state, vector(`${block}.input_layernorm.weight`), epsilon));
    const project = (which: "q" | "k" | "v"): Vector[][] =>
      inputs.map((x, position) =>
        chunks(map(`${attention}.${which}_proj`, x), width).map((each) =>
          head(`${attention}.${which}`, each, which === "v" ? undefined : position),
        ),
      );
    const [queries, keys, values] = [project("q"), project("k"), project("v")];
    states = states.map((state, t) => {
      const mixed = Array.from({ length: heads }, (_, h) => {
        const j = Math.floor(h / (heads / keyHeads));
        const past = (of: Vector[][]): Vector[] => of.slice(0, t + 1).map((each) => each[j] ?? []);
        return attend(queries[t]?.[h] ?? [], past(keys), past(values));
      });
      const attended = sum(state, map(`${attention}.o_proj`, mixed.flat()));
      const x = rmsNorm(attended, vector(`${block}.post_attention_layernorm.weight`), epsilon);
      const gated = swiGlu(map(`${block}.mlp.gate_proj`, x), map(`${block}.mlp.up_proj`, x));
      return sum(attended, map(`${block}.mlp.down_proj`, gated));
    });
  }
  const output = matrix(config["tie_word_embeddings"] === true ? "model.embed_tokens.weight" : "lm_head.weight");
  return states.map((state) => multiply(output, rmsNorm(state, vector("model.norm.weight"), epsilon)));
}

/** x / √(mean x² + ε) · gain. */
function rmsNorm(x: Vector, gain: Vector, epsilon: number): Vector {
  const mean = x.reduce((total, value) => total + value * value, 0) / x.length;
  return x.map((value, i) => (value / Math.sqrt(mean + epsilon)) * (gain[i] ?? 0));
}

/** Pair i, values i and i + K/2, turned by position · frequency and made longer. */
function rotate(x: Vector, position: number, { frequencies, length }: { frequencies: Vector; length: number }): Vector {
  const half = x.length / 2;
  const turned = [...x];
  frequencies.forEach((frequency, i) => {
    const [cos, sin] = [length * Math.cos(position * frequency), length * Math.sin(position * frequency)];
    const [a, b] = [x[i] ?? 0, x[i + half] ?? 0];
    turned[i] = a * cos - b * sin;
    turned[i + half] = b * cos + a * sin;
  });
  return turned;
}

/** Σ softmax(q · k / √K) v. */
function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const scores = keys.map((key) => dot(query, key) / Math.sqrt(query.length));
  const weights = logSoftmax(scores).map(Math.exp);
  const mixed = query.map(() => 0);
  values.forEach((value, t) => value.forEach((each, d) => (mixed[d] = (mixed[d] ?? 0) + (weights[t] ?? 0) * each)));
  return mixed;
}

/** gate · σ(gate) · up. */
function swiGlu(gate: Vector, up: Vector): Vector {
  return gate.map((g, i) => (g / (1 + Math.exp(-g))) * (up[i] ?? 0));
}

/** Radians per position of each pair, and what cosines and sines are multiplied by, from the fields as published. */
function rotation(config: RawConfig, width: number): { frequencies: Vector; length: number } {
  const newer = config["rope_parameters"] as RawConfig | undefined;
  const scaling = newer ?? (config["rope_scaling"] as RawConfig | null | undefined) ?? {};
  const theta = Number(newer?.["rope_theta"] ?? config["rope_theta"] ?? 10_000);
  const plain = Array.from({ length: width / 2 }, (_, i) => 1 / theta ** ((2 * i) / width));
  const factor = Number(scaling["factor"]);
  const original = Number(scaling["original_max_position_embeddings"] ?? config["max_position_embeddings"]);
  switch (scaling["rope_type"] ?? scaling["type"] ?? "default") {
    case "llama3":
      return { frequencies: plain.map((f) => stretchByWave(f, scaling, { factor, original })), length: 1 };
    case "yarn":
      return {
        frequencies: plain.map((f, i) => stretchByPair(f, i, { theta, width, factor, original })),
        length: Number(scaling["attention_factor"] ?? 0.1 * Math.log(factor) + 1),
      };
    default:
      return { frequencies: plain, length: 1 };
  }
}

function stretchByWave(frequency: number, scaling: RawConfig, { factor, original }: { factor: number; original: number }): number {
  const wave = (2 * Math.PI) / frequency;
  const [low, high] = [Number(scaling["low_freq_factor"]), Number(scaling["high_freq_factor"])];
  if (wave < original / high) return frequency;
  if (wave > original / low) return frequency / factor;
  const smooth = (original / wave - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

type Yarn = { theta: number; width: number; factor: number; original: number };

/** With the paper's 32 and 1 turns as bounds, rounded outwards to whole pairs. */
function stretchByPair(frequency: number, pair: number, { theta, width, factor, original }: Yarn): number {
  const bound = (turns: number): number => (width * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const low = Math.max(Math.floor(bound(32)), 0);
  const high = Math.min(Math.ceil(bound(1)), width - 1);
  const ramp = Math.min(1, Math.max(0, (pair - low) / (high === low ? 0.001 : high - low)));
  return (frequency / factor) * ramp + frequency * (1 - ramp);
}

function multiply({ shape: [rows = 0, columns = 0], values }: Matrix, x: Vector): Vector {
  const product = new Array<number>(rows);
  for (let row = 0; row < rows; row += 1) {
    let total = 0;
    for (let column = 0; column < columns; column += 1) total += (values[row * columns + column] ?? NaN) * (x[column] ?? NaN);
    product[row] = total;
  }
  return product;
}

function logSoftmax(scores: Vector): Vector {
  const most = Math.max(...scores);
  const total = most + Math.log(scores.reduce((all, score) => all + Math.exp(score - most), 0));
  return scores.map((score) => score - total);
}

function rowOf({ shape: [, width = 0], values }: Matrix, row: number): Vector {
  return Array.from({ length: width }, (_, i) => values[row * width + i] ?? NaN);
}

function chunks(x: Vector, width: number): Vector[] {
  return Array.from({ length: x.length / width }, (_, i) => x.slice(i * width, (i + 1) * width));
}

function dot(a: Vector, b: Vector): number {
  let total = 0;
  for (let i = 0; i < a.length; i += 1) total += (a[i] ?? 0) * (b[i] ?? 0);
  return total;
}

function sum(a: Vector, b: Vector): Vector {
  return a.map((value, i) => value + (b[i] ?? 0));
}
