/** The planted circuit, worked out in plain float64: whom each of its two heads attends to before any training. */
import { describe, expect, it } from "vitest";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { initialiseParameters, listParameters, ParameterBuffer } from "../../../trainer/model/parameters.ts";
import { Random } from "../../../trainer/random.ts";
import { plantInductionHead } from "../../../trainer/pretrain/induction-init.ts";

const [WIDTH, HEAD, HEADS] = [256, 64, 4];
const config = parseModelConfig({
  ...{ model_type: "qwen3", vocab_size: 500, hidden_size: WIDTH, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: HEADS },
  ...{
    num_key_value_heads: 2,
    head_dim: HEAD,
    max_position_embeddings: 256,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: true,
  },
});
const buffer = new ParameterBuffer(listParameters(config));
initialiseParameters(buffer, { layerCount: config.layerCount, random: new Random(3) });
const weights = buffer.read();
plantInductionHead(weights, config, 3);

const tensor = (name: string): Float32Array => weights.get(name) ?? new Float32Array(0);
const normed = (x: number[]): number[] => {
  const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + 1e-6);
  return x.map((value) => value * scale);
};
const rows = (matrix: Float32Array, columns: number, x: number[]): number[] =>
  Array.from({ length: HEAD }, (_, row) => x.reduce((sum, value, column) => sum + value * (matrix[row * columns + column] ?? 0), 0));
const rotated = (x: number[], position: number): number[] =>
  x.map((value, index) => {
    const angle = position * 10000 ** (-(index % 32) / 32);
    return index < 32
      ? value * Math.cos(angle) - (x[index + 32] ?? 0) * Math.sin(angle)
      : value * Math.cos(angle) + (x[index - 32] ?? 0) * Math.sin(angle);
  });

/** Attention of head 0 at every position over the residual stream, [position][attended]. */
function attention(layer: number, stream: number[][]): number[][] {
  const at = (name: string) => tensor(`model.layers.${layer}.self_attn.${name}.weight`);
  const project = (name: "q" | "k") =>
    stream.map((x, position) =>
      rotated(
        normed(rows(at(`${name}_proj`), WIDTH, normed(x))).map((value, index) => value * (at(`${name}_norm`)[index] ?? 0)),
        position,
      ),
    );
  const [queries, keys] = [project("q"), project("k")];
  return queries.map((query, position) => {
    const scores = keys
      .slice(0, position + 1)
      .map((key) => Math.exp(key.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0) / 8));
    const total = scores.reduce((sum, score) => sum + score, 0);
    return scores.map((score) => score / total);
  });
}

const random = new Random(9);
const half = Array.from({ length: 60 }, () => Math.floor(random.next() * 500));
const tokens = [...half, ...half];
const embedded = tokens.map((token) => Array.from(tensor("model.embed_tokens.weight").subarray(token * WIDTH, (token + 1) * WIDTH)));
const first = attention(0, embedded);

describe("plantInductionHead", () => {
  it("makes head 0 of block 0 look at the token before, whatever the tokens are", () => {
    for (let position = 1; position < tokens.length; position++) expect(first[position]?.[position - 1]).toBeGreaterThan(0.8);
  });

  it("makes head 0 of block 1 look most often at what followed the same token before", () => {
    const values = embedded.map((x) => rows(tensor("model.layers.0.self_attn.v_proj.weight"), WIDTH, normed(x)));
    const output = tensor("model.layers.0.self_attn.o_proj.weight");
    const stream = embedded.map((x, position) => {
      const read = (first[position] ?? []).reduce(
        (sum, share, at) => sum.map((each, index) => each + share * (values[at]?.[index] ?? 0)),
        new Array<number>(HEAD).fill(0),
      );
      return x.map((each, row) => each + read.reduce((sum, v, column) => sum + v * (output[row * HEADS * HEAD + column] ?? 0), 0));
    });
    const second = attention(1, stream);
    const hits = tokens.slice(60).filter((_, index) => {
      const shares = second[index + 60] ?? [];
      return shares.indexOf(Math.max(...shares)) === index + 1;
    });
    expect(hits.length).toBeGreaterThan(40);
  });
});
