/** Norms, softmax, rotary positions, and values with a derivative of their own. */
import { at } from "../../../shared/assert.ts";
import { add, exp, mul, neg, reciprocal, reduceMean, reduceSum, rotaryEmbedding, sqrt, sub } from "../build.ts";
import type { Node } from "../graph.ts";
import type { OpDef } from "../op-def.ts";

type None = Record<string, never>;
export type NnAttrs = {
  SimplifiedLayerNormalization: { epsilon: number };
  Softmax: None;
  LogSoftmax: None;
  RotaryEmbedding: None;
  CustomGradient: { rule: (cotangent: Node) => readonly (Node | null)[] };
};

export const NN: { readonly [K in keyof NnAttrs]: OpDef<NnAttrs[K]> } = {
  // x̂ · w with x̂ = x / √(mean(x²) + ε) over the last axis (RMSNorm, arXiv:1910.07467); x [..., D], w [D].
  SimplifiedLayerNormalization: {
    infer: (inputs) => at(inputs, 0),
    vjp: ({ inputs, cotangent: g, attrs: { epsilon } }) => {
      const [x, weight] = [at(inputs, 0), at(inputs, 1)];
      const scale = reciprocal(sqrt(add(reduceMean(mul(x, x), [-1], true), x.graph.scalar(epsilon)))); // [..., 1]
      const normalised = mul(x, scale);
      const product = mul(g, normalised);
      // dx = (g w − x̂ · mean(g w x̂)) · scale
      const mean = reduceMean(mul(product, weight), [-1], true);
      const rows = x.type.shape.slice(0, -1).map((_, axis) => axis);
      return [mul(sub(mul(g, weight), mul(normalised, mean)), scale), reduceSum(product, rows)];
    },
    emit: ({ epsilon }) => ({ attributes: { axis: { int: -1 }, epsilon: { float: epsilon } } }),
  },
  // Over the last axis.
  Softmax: {
    infer: (inputs) => at(inputs, 0),
    vjp: ({ node, cotangent: g }) => [mul(node, sub(g, reduceSum(mul(g, node), [-1], true)))], // p (g − Σ g p)
    emit: () => ({ attributes: { axis: { int: -1 } } }),
  },
  LogSoftmax: {
    infer: (inputs) => at(inputs, 0),
    vjp: ({ node, cotangent: g }) => [sub(g, mul(exp(node), reduceSum(g, [-1], true)))], // g − p Σ g
    emit: () => ({ attributes: { axis: { int: -1 } } }),
  },
  // com.microsoft: x [M, 1, H·K], positions [M, 1] int64, cos and sin [·, K/2]; halves are rotated (not interleaved), as Llama and Qwen do.
  RotaryEmbedding: {
    infer: (inputs) => at(inputs, 0),
    // A rotation's transpose turns back: the same angles with the opposite sine.
    vjp: ({ inputs, cotangent }) => [
      rotaryEmbedding(cotangent, at(inputs, 1), { cos: at(inputs, 2), sin: neg(at(inputs, 3)) }),
      null,
      null,
      null,
    ],
    emit: () => ({ domain: "com.microsoft", attributes: { interleaved: { int: 0 } } }),
  },
  // Inputs: the value, then the arguments the rule gives cotangents for.
  CustomGradient: {
    infer: (inputs) => at(inputs, 0),
    vjp: ({ cotangent, attrs: { rule } }) => [null, ...rule(cotangent)],
    emit: "alias",
  },
};
