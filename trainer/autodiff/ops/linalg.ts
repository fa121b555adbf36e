/** Matrix products: Gemm over matrices, FusedMatMul (com.microsoft) over batches with free batch layout. */
import { at } from "../../../shared/assert.ts";
import { fusedMatMul, gemm, transpose } from "../build.ts";
import type { Node } from "../graph.ts";
import type { OpDef } from "../op-def.ts";
import { type Shape, broadcast, dimOf, shapeError } from "../shape.ts";

type GemmAttrs = { transA: boolean; transB: boolean; alpha: number };
type FusedAttrs = GemmAttrs & { transBatchA: boolean; transBatchB: boolean };
export type LinalgAttrs = { Gemm: GemmAttrs; FusedMatMul: FusedAttrs };

const flag = (on: boolean): { int: number } => ({ int: on ? 1 : 0 });

/** The shape of op(x): batch axes first, then rows and columns after transposition. */
function operand(
  shape: Shape,
  { trans, transBatch }: { trans: boolean; transBatch: boolean },
): { batch: Shape; rows: number; columns: number } {
  if (shape.length < 2) throw shapeError(`matrix product: rank 2 or more expected, got [${shape}]`);
  const batch = transBatch ? shape.slice(1, -1) : shape.slice(0, -2);
  const rows = transBatch ? dimOf(shape, 0) : dimOf(shape, -2);
  const columns = dimOf(shape, -1);
  return trans ? { batch, rows: columns, columns: rows } : { batch, rows, columns };
}

function productShape(a: Shape, b: Shape, { transA, transB, transBatchA, transBatchB }: FusedAttrs): Shape {
  const left = operand(a, { trans: transA, transBatch: transBatchA });
  const right = operand(b, { trans: transB, transBatch: transBatchB });
  if (left.columns !== right.rows) throw shapeError(`matrix product: equal inner dimensions expected, got [${a}] and [${b}]`);
  return [...broadcast(left.batch, right.batch), left.rows, right.columns];
}

/** [...batch, rows, columns] → [rows, ...batch, columns]. */
function rowsFirst(x: Node): Node {
  const rank = x.type.shape.length;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  return transpose(x, [rank - 2, ...axes.slice(0, rank - 2), rank - 1]);
}

export const LINALG: { readonly [K in keyof LinalgAttrs]: OpDef<LinalgAttrs[K]> } = {
  Gemm: {
    infer: (inputs, attrs) => ({
      element: at(inputs, 0).element,
      shape: productShape(at(inputs, 0).shape, at(inputs, 1).shape, { ...attrs, transBatchA: false, transBatchB: false }),
    }),
    // Y = α op(A) op(B):  d op(A) = α G op(B)ᵀ,  d op(B) = α op(A)ᵀ G
    vjp: ({ inputs, cotangent: g, attrs: { transA, transB, alpha } }) => {
      const [a, b] = [at(inputs, 0), at(inputs, 1)];
      return [
        transA ? gemm(b, g, { transA: transB, transB: true, alpha }) : gemm(g, b, { transB: !transB, alpha }),
        transB ? gemm(g, a, { transA: true, transB: transA, alpha }) : gemm(a, g, { transA: !transA, alpha }),
      ];
    },
    emit: ({ transA, transB, alpha }) => ({ attributes: { transA: flag(transA), transB: flag(transB), alpha: { float: alpha } } }),
  },
  FusedMatMul: {
    infer: (inputs, attrs) => ({ element: "float32", shape: productShape(at(inputs, 0).shape, at(inputs, 1).shape, attrs) }),
    vjp: ({ inputs, cotangent: g, attrs: { transA, transB, transBatchA, transBatchB, alpha } }) => {
      const [a, b] = [at(inputs, 0), at(inputs, 1)];
      const left = transA
        ? fusedMatMul(b, g, { transA: transB, transBatchA: transBatchB, transB: true, alpha })
        : fusedMatMul(g, b, { transB: !transB, transBatchB, alpha });
      const right = transB
        ? fusedMatMul(g, a, { transA: true, transB: transA, transBatchB: transBatchA, alpha })
        : fusedMatMul(a, g, { transA: !transA, transBatchA, alpha });
      return [transBatchA ? rowsFirst(left) : left, transBatchB ? rowsFirst(right) : right];
    },
    emit: ({ transA, transB, transBatchA, transBatchB, alpha }) => ({
      domain: "com.microsoft",
      attributes: {
        transA: flag(transA),
        transB: flag(transB),
        transBatchA: flag(transBatchA),
        transBatchB: flag(transBatchB),
        alpha: { float: alpha },
      },
    }),
  },
};
