/** Reverse-mode differentiation: graph nodes in, graph nodes out. */
import { at, invariant } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import { add, reduceSum, reshape } from "./build.ts";
import { type Application, type Node, liveNodes } from "./graph.ts";
import { type OpName, OP_TABLE } from "./op-table.ts";
import { nonDifferentiable } from "./op-def.ts";
import { type Shape, sameShape } from "./shape.ts";

/**
 * Gradients of a scalar `loss` with respect to `targets`, in their order and shapes.
 * A target may be any node on the way to the loss; null where the loss does not depend on it.
 * @throws {graph/unsupported} where the path goes through an operator without a derivative.
 */
export function gradients(loss: Node, targets: readonly Node[]): (Node | null)[] {
  invariant(loss.type.shape.length === 0, `a scalar loss expected, got shape [${loss.type.shape}]`);
  return pullback(loss, { seed: loss.graph.scalar(1), targets });
}

/**
 * Gradients of a loss that is known only by `seed`, its gradient with respect to `output`, in the shape of `output`: how one
 * layer is differentiated where another graph has computed what follows. Null where `output` does not depend on the target.
 * @throws {graph/unsupported} where the path goes through an operator without a derivative.
 */
export function pullback(output: Node, { seed, targets }: { seed: Node; targets: readonly Node[] }): (Node | null)[] {
  invariant(sameShape(seed.type.shape, output.type.shape), `a seed of shape [${output.type.shape}] expected, got [${seed.type.shape}]`);
  const live = liveNodes([output]);
  const onPath = dependents(live, targets);
  const cotangents = new Map<Node, Node>([[output, seed]]);
  for (const node of live.toReversed()) {
    const cotangent = cotangents.get(node);
    if (cotangent === undefined || !onPath.has(node) || node.source.kind !== "op") continue;
    const parts = output.graph.scope("grad", () =>
      applyRule(node, { cotangent, application: node.source.kind === "op" ? node.source.application : unreachable() }),
    );
    parts.forEach((part, index) => accumulate(cotangents, { onPath, input: at(node.inputs, index), part }));
  }
  return targets.map((target) => cotangents.get(target) ?? null);
}

function unreachable(): never {
  throw new AppError("internal", "internal: operator expected");
}

/** The nodes among `live` through which a target reaches the loss. */
function dependents(live: readonly Node[], targets: readonly Node[]): Set<Node> {
  const onPath = new Set<Node>(targets);
  for (const node of live) if (node.inputs.some((input) => onPath.has(input))) onPath.add(node);
  return onPath;
}

function applyRule<K extends OpName>(
  node: Node,
  { cotangent, application }: { cotangent: Node; application: Application<K> },
): readonly (Node | null)[] {
  const { vjp } = OP_TABLE[application.op];
  if (vjp === nonDifferentiable)
    throw new AppError("graph/unsupported", `differentiable operator expected, got ${application.op} at ${node.name}`);
  const parts = vjp({ node, inputs: node.inputs, cotangent, attrs: application.attrs });
  invariant(parts.length === node.inputs.length, `${application.op}: ${node.inputs.length} cotangents expected, got ${parts.length}`);
  return parts;
}

function accumulate(cotangents: Map<Node, Node>, { onPath, input, part }: { onPath: Set<Node>; input: Node; part: Node | null }): void {
  if (part === null || !onPath.has(input)) return;
  const own = unbroadcast(part, input.type.shape);
  const sum = cotangents.get(input);
  cotangents.set(input, sum === undefined ? own : add(sum, own));
}

/** Sums a cotangent over the axes along which its primal of shape `shape` was broadcast. */
export function unbroadcast(cotangent: Node, shape: Shape): Node {
  const from = cotangent.type.shape;
  if (sameShape(from, shape)) return cotangent;
  const lead = from.length - shape.length;
  const axes = from.flatMap((dim, axis) => (axis < lead || (shape[axis - lead] === 1 && dim !== 1) ? [axis] : []));
  const summed = axes.length === 0 ? cotangent : reduceSum(cotangent, axes, true);
  return sameShape(summed.type.shape, shape) ? summed : reshape(summed, shape);
}
