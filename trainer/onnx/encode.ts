/** A graph as ONNX ModelProto bytes. Field numbers are those of onnx.proto (IR version 10, opset 23). Same graph, same bytes. */
import { at } from "../../shared/assert.ts";
import { type Application, type ConstantValues, type Node, liveNodes } from "../autodiff/graph.ts";
import type { Attribute, Emission } from "../autodiff/op-def.ts";
import { ELEMENT_CODES } from "../autodiff/ops/elementwise.ts";
import { type OpName, OP_TABLE } from "../autodiff/op-table.ts";
import type { ElementType, Shape } from "../autodiff/shape.ts";
import { ProtoWriter } from "./proto.ts";

const IR_VERSION = 10;
const OPSET = 23;
const MICROSOFT_OPSET = 1;

/** Encodes what `outputs` (by name) depend on; dead nodes are left out. */
export function encodeModel(outputs: Readonly<Record<string, Node>>): Uint8Array {
  return writeModel((graph) => writeGraph(graph, outputs));
}

/** A model of one graph. */
export function writeModel(write: (graph: ProtoWriter) => void): Uint8Array {
  const model = new ProtoWriter().int(1, IR_VERSION).text(2, "nextstate");
  model.message(7, write);
  model.message(8, (opset) => opset.text(1, "").int(2, OPSET));
  model.message(8, (opset) => opset.text(1, "com.microsoft").int(2, MICROSOFT_OPSET));
  return model.finish();
}

/** The graph inputs that `outputs` depend on. */
export function graphInputs(outputs: Readonly<Record<string, Node>>): Node[] {
  return liveNodes(Object.values(outputs), readWhenRun).filter(({ source }) => source.kind === "input");
}

function writeGraph(graph: ProtoWriter, outputs: Readonly<Record<string, Node>>): void {
  const live = writtenNodes(Object.values(outputs));
  const vectors = new Map<string, readonly number[]>();
  // Equal vectors are one.
  writeNodes(graph, live, (vector) => {
    const name = `/vector/${vector.join("_")}`;
    vectors.set(name, vector);
    return name;
  });
  writeResults(graph, outputs);
  graph.text(2, "graph");
  for (const node of live)
    if (node.source.kind === "constant") graph.message(5, (tensor) => writeTensor(tensor, node.name, node.type.shape, constantOf(node)));
  for (const [name, values] of vectors) {
    graph.message(5, (tensor) => writeTensor(tensor, name, [values.length], BigInt64Array.from(values, BigInt)));
  }
  for (const node of live) if (node.source.kind === "input") graph.message(11, (info) => writeValueInfo(info, node.name, node.type));
  for (const [name, { type }] of Object.entries(outputs)) graph.message(12, (info) => writeValueInfo(info, name, type));
}

/** The nodes that `outputs` depend on and that are written: all but aliases. */
export function writtenNodes(outputs: readonly Node[]): Node[] {
  return liveNodes(outputs.map(resolveAlias), readWhenRun).filter((node) => !isAlias(node));
}

/** The operators among `live`. `nameOf` gives the int64 vectors that they read a name. */
export function writeNodes(graph: ProtoWriter, live: readonly Node[], nameOf: NameVector): void {
  for (const node of live) if (node.source.kind === "op") writeNode(graph, { node, application: node.source.application, nameOf });
}

/** A graph output needs a node that writes it: Identity gives it the name asked for. */
export function writeResults(graph: ProtoWriter, outputs: Readonly<Record<string, Node>>): void {
  for (const [name, node] of Object.entries(outputs))
    graph.message(1, (proto) => proto.text(1, resolveAlias(node).name).text(2, name).text(4, "Identity"));
}

export function constantOf(node: Node): ConstantValues {
  return node.source.kind === "constant" ? node.source.values : new Float32Array(0);
}

/** Of an alias only what it stands for: what its rule gave cotangents to need not be computed. */
export function readWhenRun(node: Node): readonly Node[] {
  return isAlias(node) ? node.inputs.slice(0, 1) : node.inputs;
}

function isAlias(node: Node): boolean {
  return node.source.kind === "op" && OP_TABLE[node.source.application.op].emit === "alias";
}

/** The node whose value this one is under another shape, or itself. */
export function resolveAlias(node: Node): Node {
  return isAlias(node) ? resolveAlias(at(node.inputs, 0)) : node;
}

/** `index` counts the sizes that the node reads; axes have none, and are the same for every bucket. */
export type NameVector = (vector: readonly number[], node: Node, index?: number) => string;
type NodeContext<K extends OpName> = { node: Node; application: Application<K>; nameOf: NameVector };

function writeNode<K extends OpName>(graph: ProtoWriter, { node, application, nameOf }: NodeContext<K>): void {
  const { emit } = OP_TABLE[application.op];
  const emission: Emission =
    emit === "alias"
      ? {}
      : emit(
          application.attrs,
          node.inputs.map((input) => input.type),
        );
  graph.message(1, (proto) => {
    for (const input of node.inputs) proto.text(1, resolveAlias(input).name);
    for (const [index, vector] of (emission.sizes ?? []).entries()) proto.text(1, nameOf(vector, node, index));
    if (emission.axes !== undefined) proto.text(1, nameOf(emission.axes, node));
    proto.text(2, node.name).text(3, node.name).text(4, application.op);
    for (const [name, attribute] of Object.entries(emission.attributes ?? {}))
      proto.message(5, (field) => writeAttribute(field, name, attribute));
    if (emission.domain !== undefined) proto.text(7, emission.domain);
  });
}

// AttributeProto.AttributeType: FLOAT 1, INT 2, STRING 3, INTS 7
function writeAttribute(proto: ProtoWriter, name: string, attribute: Attribute): void {
  proto.text(1, name);
  if ("float" in attribute) proto.float(2, attribute.float).int(20, 1);
  else if ("int" in attribute) proto.int(3, attribute.int).int(20, 2);
  else if ("text" in attribute) proto.text(4, attribute.text).int(20, 3);
  else {
    for (const value of attribute.ints) proto.int(8, value);
    proto.int(20, 7);
  }
}

export function writeTensor(proto: ProtoWriter, name: string, shape: Shape, values: ConstantValues): void {
  for (const dim of shape) proto.int(1, dim);
  proto.int(2, ELEMENT_CODES[elementOf(values)]);
  proto.text(8, name).bytes(9, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}

export function elementOf(values: ConstantValues): ElementType {
  if (values instanceof Float32Array) return "float32";
  return values instanceof Int32Array ? "int32" : "int64";
}

/** Name, element type and, where there is one, shape. */
export function writeValueInfo(proto: ProtoWriter, name: string, { element, shape }: { element: ElementType; shape?: Shape }): void {
  proto.text(1, name).message(2, (typeProto) =>
    typeProto.message(1, (tensor) => {
      tensor.int(1, ELEMENT_CODES[element]);
      if (shape === undefined) return;
      tensor.message(2, (dims) => {
        for (const dim of shape) dims.message(1, (entry) => entry.int(1, dim));
      });
    }),
  );
}
