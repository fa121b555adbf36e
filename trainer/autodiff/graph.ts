/**
 * The graph being built: hash-consed nodes over static shapes, in topological order.
 * Building the same model twice gives the same nodes with the same names.
 */
import { createHash } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { at } from "../../shared/assert.ts";
import { type OpAttrs, type OpName, OP_TABLE } from "./op-table.ts";
import { type ElementType, type Shape, type ValueType, shapeError, sizeOf } from "./shape.ts";

export type ConstantValues = Float32Array | Int32Array | BigInt64Array;

/** What a node computes: an input of the graph, values fixed when it is built, or an operator. */
export type Source =
  | { readonly kind: "input" }
  | { readonly kind: "constant"; readonly values: ConstantValues }
  | { readonly kind: "op"; readonly application: Application };

/** An operator with its attributes; the two belong to the same name. */
export type Application<K extends OpName = OpName> = { readonly op: K; readonly attrs: OpAttrs[K] };

export type Node = {
  readonly graph: Graph;
  /** Position in creation order: every input of a node has a smaller id. */
  readonly id: number;
  readonly name: string;
  readonly type: ValueType;
  readonly inputs: readonly Node[];
  readonly source: Source;
};

// User names may not start with it: ONNX value names share one namespace.
const GENERATED = "/";

export class Graph {
  readonly nodes: Node[] = [];
  readonly #known = new Map<string, Node>();
  readonly #inputs = new Set<string>();
  #scope = "";

  /** Adds a graph input. @throws {graph/unsupported} for a name given twice or starting with the reserved prefix. */
  input(name: string, shape: Shape, element: ElementType = "float32"): Node {
    if (name.startsWith(GENERATED) || this.#inputs.has(name)) {
      throw new AppError("graph/unsupported", `input name unique and without leading ${GENERATED} expected, got ${name}`);
    }
    this.#inputs.add(name);
    return this.#push(name, { element, shape }, [], { kind: "input" });
  }

  /** Adds values known when the graph is built; equal values give one node. */
  constant(values: ConstantValues, shape: Shape): Node {
    if (values.length !== sizeOf(shape)) throw shapeError(`constant: ${sizeOf(shape)} values expected, got ${values.length}`);
    const element = elementOf(values);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const key = `constant|${element}|${shape}|${createHash("sha256").update(bytes).digest("hex")}`;
    return this.#once(key, () => this.#push(this.#generate("Constant"), { element, shape }, [], { kind: "constant", values }));
  }

  scalar(value: number): Node {
    return this.constant(Float32Array.of(value), []);
  }

  /** Applies an operator; the same operator on the same inputs with the same attributes gives one node. */
  apply<K extends OpName>(op: K, inputs: readonly Node[], attrs: OpAttrs[K]): Node {
    const key = `${op}|${inputs.map((input) => input.id)}|${JSON.stringify(attrs)}`;
    const build = (): Node => {
      const type = OP_TABLE[op].infer(
        inputs.map((input) => input.type),
        attrs,
      );
      return this.#push(this.#generate(op), type, inputs, { kind: "op", application: { op, attrs } });
    };
    // A custom rule is a closure: two of them are never known to be equal.
    return op === "CustomGradient" ? build() : this.#once(key, build);
  }

  /** Names the nodes built inside `build` under `name`. */
  scope<T>(name: string, build: () => T): T {
    const outer = this.#scope;
    this.#scope = outer === "" ? name : `${outer}.${name}`;
    try {
      return build();
    } finally {
      this.#scope = outer;
    }
  }

  #once(key: string, build: () => Node): Node {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const node = build();
    this.#known.set(key, node);
    return node;
  }

  #generate(op: string): string {
    return `${GENERATED}${this.#scope}/${op}_${this.nodes.length}`;
  }

  #push(name: string, type: ValueType, inputs: readonly Node[], source: Source): Node {
    const node: Node = { graph: this, id: this.nodes.length, name, type, inputs, source };
    this.nodes.push(node);
    return node;
  }
}

function elementOf(values: ConstantValues): ElementType {
  if (values instanceof Float32Array) return "float32";
  return values instanceof Int32Array ? "int32" : "int64";
}

/** The nodes `outputs` depend on, in topological order: everything else is dead. `readBy` says what a node needs, by default all its inputs. */
export function liveNodes(outputs: readonly Node[], readBy = ({ inputs }: Node): readonly Node[] => inputs): Node[] {
  const [first] = outputs;
  if (first === undefined) return [];
  const live = new Set<number>(outputs.map((node) => node.id));
  const { nodes } = first.graph;
  for (let id = Math.max(...live); id >= 0; id -= 1) {
    if (live.has(id)) for (const input of readBy(at(nodes, id))) live.add(input.id);
  }
  return nodes.filter((node) => live.has(node.id));
}
