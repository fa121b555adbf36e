/** Every operator with its three rules. An operator without one of them does not compile. Names are those of ONNX opset 23, com.microsoft and, for the norm, ONNX Runtime. */
import type { OpDef } from "./op-def.ts";
import { ELEMENTWISE, type ElementwiseAttrs } from "./ops/elementwise.ts";
import { LINALG, type LinalgAttrs } from "./ops/linalg.ts";
import { MOVEMENT, type MovementAttrs } from "./ops/movement.ts";
import { NN, type NnAttrs } from "./ops/nn.ts";
import { REDUCTION, type ReductionAttrs } from "./ops/reduction.ts";

export type OpAttrs = ElementwiseAttrs & LinalgAttrs & MovementAttrs & NnAttrs & ReductionAttrs;
export type OpName = keyof OpAttrs;

export const OP_TABLE: { readonly [K in OpName]: OpDef<OpAttrs[K]> } = { ...ELEMENTWISE, ...LINALG, ...MOVEMENT, ...NN, ...REDUCTION };
