/** The one decoder definition: Llama/Qwen blocks from a config. Training, scoring and decoding differ only in how attention finds its keys. */
import { add, customGradient, gather, mul, reshape, rmsNorm, rotaryEmbedding, sigmoid, sub } from "../autodiff/build.ts";
import type { Node } from "../autodiff/graph.ts";
import { dimOf, sizeOf } from "../autodiff/shape.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { type Weights, linear } from "./linear.ts";
import { EMBEDDING, FINAL_NORM, HEAD } from "./parameters.ts";

/** Mixes rows of queries [M, H·K] with keys and values [M, J·K] of the layer → [M, H·K]. */
export type Attend = (rows: { query: Node; key: Node; value: Node }, layer: number) => Node;

/** Angles for the rotary embedding: one position per row, and tables of cosines and sines. */
export type Rotary = { readonly positions: Node; readonly cos: Node; readonly sin: Node };

export type Decoder = {
  /** Embedded tokens [M, D]: what the embedding's gradient is taken with respect to. */
  readonly embedded: Node;
  /** Normalised last hidden states [M, D]. */
  readonly hidden: Node;
};

/** Builds the blocks over `tokens` [M]. */
export function buildDecoder(
  config: ModelConfig,
  { tokens, rotary, weights, attend }: { tokens: Node; rotary: Rotary; weights: Weights; attend: Attend },
): Decoder {
  // Tokens repeat, and adding up repeated rows belongs outside the graph: the gradient stops at the rows gathered.
  const embedded = customGradient(gather(weights.weight(EMBEDDING), tokens), [], () => []);
  let hidden = embedded;
  for (let layer = 0; layer < config.layerCount; layer += 1) {
    hidden = hidden.graph.scope(`block${layer}`, () => buildBlock(hidden, { config, layer, rotary, weights, attend }));
  }
  return { embedded, hidden: rmsNorm(hidden, weights.weight(FINAL_NORM), config.rmsNormEps) };
}

type BlockContext = { config: ModelConfig; layer: number; rotary: Rotary; weights: Weights; attend: Attend };

/** One layer over the residual stream [M, D] → [M, D]. */
export function buildBlock(residual: Node, context: BlockContext): Node {
  const { config, layer, weights } = context;
  const prefix = `model.layers.${layer}`;
  const norm = (x: Node, name: string): Node => rmsNorm(x, weights.weight(`${prefix}.${name}.weight`), config.rmsNormEps);
  const attended = add(
    residual,
    residual.graph.scope("attn", () => selfAttention(norm(residual, "input_layernorm"), prefix, context)),
  );
  return add(
    attended,
    residual.graph.scope("mlp", () => feedForward(norm(attended, "post_attention_layernorm"), prefix, weights)),
  );
}

function selfAttention(x: Node, prefix: string, { config, layer, rotary, weights, attend }: BlockContext): Node {
  const project = (name: "q" | "k" | "v"): Node => linear(x, `${prefix}.self_attn.${name}_proj`, weights);
  const turned = (name: "q" | "k"): Node =>
    rotate(headNorm(project(name), `${prefix}.self_attn.${name}_norm`, { config, weights }), rotary);
  const mixed = attend({ query: turned("q"), key: turned("k"), value: project("v") }, layer);
  return linear(mixed, `${prefix}.self_attn.o_proj`, weights);
}

function headNorm(rows: Node, layer: string, { config, weights }: { config: ModelConfig; weights: Weights }): Node {
  if (!config.qkNorm) return rows;
  const heads = reshape(rows, [sizeOf(rows.type.shape) / config.headDim, config.headDim]);
  return reshape(rmsNorm(heads, weights.weight(`${layer}.weight`), config.rmsNormEps), rows.type.shape);
}

function rotate(rows: Node, { positions, cos, sin }: Rotary): Node {
  return reshape(
    rotaryEmbedding(reshape(rows, [dimOf(rows.type.shape, 0), 1, dimOf(rows.type.shape, 1)]), positions, { cos, sin }),
    rows.type.shape,
  );
}

/** down(silu(gate x) · up x)  (SwiGLU, arXiv:2002.05202) */
function feedForward(x: Node, prefix: string, weights: Weights): Node {
  const gate = linear(x, `${prefix}.mlp.gate_proj`, weights);
  return linear(swiglu(gate, linear(x, `${prefix}.mlp.up_proj`, weights)), `${prefix}.mlp.down_proj`, weights);
}

function swiglu(gate: Node, up: Node): Node {
  const open = sigmoid(gate);
  const silu = mul(gate, open);
  return customGradient(mul(silu, up), [gate, up], (cotangent) => {
    // silu' = σ + silu · (1 − σ)
    const slope = add(open, sub(silu, mul(silu, open)));
    return [mul(mul(cotangent, up), slope), mul(cotangent, silu)];
  });
}

/** Weight of the output layer [V, D]: the embedding's own where the head is tied. */
export function headWeight(config: ModelConfig, weights: Weights): Node {
  return weights.weight(config.tiedHead ? EMBEDDING : HEAD);
}
