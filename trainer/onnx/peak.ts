/** What a run of a graph needs of memory, told from the graph alone. */
import { type Node, liveNodes } from "../autodiff/graph.ts";
import { sizeOf } from "../autodiff/shape.ts";
import { readWhenRun, resolveAlias } from "./encode.ts";

const ELEMENT_BYTES = 4; // few values are of eight

/** Bytes that a run holds at most at once, beside its inputs: every value from the operator that makes it to the last one that reads it. */
export function peakBytes(outputs: Readonly<Record<string, Node>>): number {
  const results = Object.values(outputs).map(resolveAlias);
  const made = liveNodes(results, readWhenRun).filter((node) => node.source.kind === "op" && resolveAlias(node) === node);
  const lastRead = new Map<Node, number>();
  made.forEach((node, index) => readWhenRun(node).forEach((input) => lastRead.set(resolveAlias(input), index)));
  for (const node of results) lastRead.delete(node);
  const freed = made.map((): Node[] => []);
  for (const node of made) freed[lastRead.get(node) ?? -1]?.push(node);
  let [held, peak] = [0, 0];
  made.forEach((node, index) => {
    held += bytesOf(node);
    peak = Math.max(peak, held);
    for (const each of freed[index] ?? []) held -= bytesOf(each);
  });
  return peak;
}

/** Bytes of the largest value that an operator makes. */
export function largestBytes(outputs: Readonly<Record<string, Node>>): number {
  const made = liveNodes(Object.values(outputs), readWhenRun).filter(({ source }) => source.kind === "op");
  return made.reduce((most, node) => Math.max(most, bytesOf(node)), 0);
}

function bytesOf({ type }: Node): number {
  return sizeOf(type.shape) * ELEMENT_BYTES;
}
