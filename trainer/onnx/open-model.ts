/**
 * A graph as a model that any bucket's sizes fit: what a bucket decides (shapes, ranges, tables) is no part of it but fed to each
 * run, so that one session, and what is resident in it, serves them all. Where it has two results to choose from, one model has
 * both behind an `If`, over the same resident tensors.
 */
import { invariant } from "../../shared/assert.ts";
import type { Node } from "../autodiff/graph.ts";
import { ELEMENT_CODES } from "../autodiff/ops/elementwise.ts";
import type { ElementType } from "../autodiff/shape.ts";
import {
  constantOf,
  elementOf,
  type NameVector,
  writeModel,
  writeNodes,
  writeResults,
  writeTensor,
  writeValueInfo,
  writtenNodes,
} from "./encode.ts";
import type { ProtoWriter } from "./proto.ts";
import type { Feeds, Tensor } from "./session.ts";

/** Which of two branches is run: int32, one value. */
export const BRANCH = "/branch";
/** Which of several layers that are resident: int64, one value. */
export const LAYER = "/layer";

/** Outputs by name. */
type Branch = Readonly<Record<string, Node>>;

export type OpenModel = {
  readonly model: Uint8Array;
  /** What this bucket feeds to every run. */
  readonly bound: Feeds;
  /** What a caller feeds, with `BRANCH` and `LAYER` where the model reads them. */
  readonly inputs: ReadonlySet<string>;
  /** Element types of resident tensors. */
  readonly resident: ReadonlyMap<string, ElementType>;
};

export type Residency = {
  readonly isResident: (name: string) => boolean;
  /** Layers of which each resident tensor has one after another, along an axis before its own; undefined where it is one tensor. */
  readonly layers: number | undefined;
};

/** Output `index` of whichever branch is run. */
export const resultOf = (index: number): string => `/result/${index}`;

/** Encodes one or two branches over the same graph. Resident tensors become external data at locations of their names. */
export function encodeOpenModel(branches: readonly Branch[], { isResident, layers }: Residency): OpenModel {
  const all = writtenNodes(branches.flatMap((branch) => Object.values(branch)));
  const inputs = all.filter(({ source }) => source.kind === "input");
  const held = inputs.filter(({ name }) => isResident(name));
  const bound: Record<string, Tensor> = {};
  const fixed = new Map<string, readonly number[]>();
  const nameOf: NameVector = (vector, node, index) => {
    const name = index === undefined ? `/axes/${vector.join("_")}` : `/size${node.name}/${index}`;
    if (index === undefined) fixed.set(name, vector);
    else bound[name] = { values: BigInt64Array.from(vector, BigInt), shape: [vector.length] };
    return name;
  };
  for (const node of all)
    if (node.source.kind === "constant" && !isScalar(node)) bound[node.name] = { values: constantOf(node), shape: node.type.shape };
  const feeds = inputs.filter((node) => !held.includes(node)).map(({ name, type: { element } }) => ({ name, element }));
  if (branches.length > 1) feeds.push({ name: BRANCH, element: "int32" });
  if (layers !== undefined && held.length > 0) feeds.push({ name: LAYER, element: "int64" });
  const model = writeModel((graph) => {
    if (layers !== undefined) for (const { name } of held) writeChoice(graph, name);
    writeBranches(graph, branches, nameOf);
    graph.text(2, "graph");
    for (const node of all)
      if (isScalar(node)) graph.message(5, (tensor) => writeTensor(tensor, node.name, node.type.shape, constantOf(node)));
    for (const [name, axes] of fixed)
      graph.message(5, (tensor) => writeTensor(tensor, name, [axes.length], BigInt64Array.from(axes, BigInt)));
    for (const node of held) graph.message(5, (tensor) => writeExternal(tensor, node, layers));
    for (const { name, element } of feeds) graph.message(11, (info) => writeValueInfo(info, name, { element }));
    for (const [name, { values }] of Object.entries(bound))
      graph.message(11, (info) => writeValueInfo(info, name, { element: elementOf(values) }));
    for (let index = 0; index < resultCount(branches); index += 1)
      graph.message(12, (info) => writeValueInfo(info, resultOf(index), { element: "float32" }));
  });
  return {
    model,
    bound,
    inputs: new Set(feeds.map(({ name }) => name)),
    resident: new Map(held.map(({ name, type }) => [name, type.element])),
  };
}

function resultCount(branches: readonly Branch[]): number {
  return Math.max(...branches.map((branch) => Object.keys(branch).length));
}

/** A number that is the same whatever the bucket. */
function isScalar({ source, type }: Node): boolean {
  return source.kind === "constant" && type.shape.length === 0;
}

function writeBranches(graph: ProtoWriter, branches: readonly Branch[], nameOf: NameVector): void {
  const [only, other, ...more] = branches;
  invariant(only !== undefined && more.length === 0, "one branch or two expected");
  if (other === undefined) {
    writeNodes(graph, writtenNodes(Object.values(only)), nameOf);
    writeResults(graph, Object.fromEntries(Object.values(only).map((node, index) => [resultOf(index), node])));
    return;
  }
  const count = resultCount(branches);
  graph.message(1, (cast) =>
    cast
      .text(1, BRANCH)
      .text(2, "/chosen")
      .text(4, "Cast")
      .message(5, (field) => field.text(1, "to").int(3, ELEMENT_CODES.bool).int(20, 2)),
  );
  graph.message(1, (choice) => {
    choice.text(1, "/chosen");
    for (let index = 0; index < count; index += 1) choice.text(2, resultOf(index));
    choice.text(4, "If");
    // AttributeProto: g 6, type GRAPH 5
    for (const [name, branch] of [
      ["then_branch", other],
      ["else_branch", only],
    ] as const)
      choice.message(5, (field) =>
        field
          .text(1, name)
          .message(6, (inner) => writeBranch(inner, branch, { name, count, nameOf }))
          .int(20, 5),
      );
  });
}

/** A branch gives as many results as the other: what it has too few of are its last once more. */
function writeBranch(
  graph: ProtoWriter,
  branch: Branch,
  { name, count, nameOf }: { name: string; count: number; nameOf: NameVector },
): void {
  const nodes = Object.values(branch);
  writeNodes(graph, writtenNodes(nodes), nameOf);
  const results = Array.from({ length: count }, (_, index) => [`/${name}/${index}`, nodes[Math.min(index, nodes.length - 1)]] as const);
  writeResults(graph, Object.fromEntries(results.flatMap(([each, node]) => (node === undefined ? [] : [[each, node]]))));
  graph.text(2, name);
  for (const [each] of results) graph.message(12, (info) => writeValueInfo(info, each, { element: "float32" }));
}

const stackOf = (name: string): string => `/stack/${name}`;

/** The layer's own of what all layers have. */
function writeChoice(graph: ProtoWriter, name: string): void {
  graph.message(1, (proto) => proto.text(1, stackOf(name)).text(1, LAYER).text(2, name).text(4, "Gather"));
}

// TensorProto.external_data, as key and value, and DataLocation EXTERNAL.
function writeExternal(proto: ProtoWriter, { name, type }: Node, layers: number | undefined): void {
  if (layers !== undefined) proto.int(1, layers);
  for (const dim of type.shape) proto.int(1, dim);
  proto.int(2, ELEMENT_CODES[type.element]).text(8, layers === undefined ? name : stackOf(name));
  proto.message(13, (entry) => entry.text(1, "location").text(2, name)).int(14, 1);
}
