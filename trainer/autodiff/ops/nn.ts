/** Softmax, rotary positions, and values with a derivative of their own. */
import { at } from "../../../shared/assert.ts";
import { exp, mul, neg, reduceSum, rotaryEmbedding, sub } from "../build.ts";
import type { Node } from "../graph.ts";
import type { OpDef } from "../op-def.ts";

type None = Record<string, never>;
export type NnAttrs = {
  Softmax: None;
  LogSoftmax: None;
  RotaryEmbedding: None;
  CustomGradient: { rule: (cotangent: Node) => readonly (Node | null)[] };
};

export const NN: { readonly [K in keyof NnAttrs]: OpDef<NnAttrs[K]> } = {
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
