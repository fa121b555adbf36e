/**
 * Sessions that hold frozen tensors where they run. One serves every bucket and both directions of a pass, so a tensor is there
 * once: a session's initializers are its own, and onnxruntime-node has no tensor that stays on a CUDA device between sessions.
 */
import { createHash } from "node:crypto";
import { at, invariant } from "../../shared/assert.ts";
import { encodeBfloat16, encodeFloat16 } from "../../shared/float16.ts";
import type { Node } from "../autodiff/graph.ts";
import type { ElementType } from "../autodiff/shape.ts";
import { BRANCH, encodeOpenModel, LAYER, type OpenModel, resultOf } from "../onnx/open-model.ts";
import type { StoredTensor, StoredTensors } from "../model/base-weights.ts";
import { discard } from "../onnx/memory.ts";
import { type Feeds, GraphSession, type OpenGraph, type SessionOptions } from "../onnx/session.ts";

/** Tensors that stay: `id` says which. */
export type Resident = {
  readonly id: string;
  /** The tensors under the names that the graph has them by: of each layer that is held, or once where there are none. Read when a session is opened. */
  readonly tensors: readonly StoredTensors[];
  /** Which of several layers a run is of. */
  readonly layer?: number;
};

/** One or two results of one graph, of which a run gives one. */
export type Branches = readonly Readonly<Record<string, Node>>[];

export type ResidentRun = {
  /** Default 0. */
  readonly branch?: number;
  /** Outputs that are given back; by default all of the branch. */
  readonly wanted?: readonly string[];
  readonly feeds: Feeds;
  readonly resident: Resident;
};

type Traced = Omit<OpenModel, "model"> & { readonly digest: string; readonly outputs: readonly (readonly string[])[] };
type Entry = { readonly id: string; readonly session: Promise<OpenGraph>; readonly bytes: number; running: number };

/** Sessions over one set of tensors, at most: each holds them all. What bucket decides is fed, so only other graphs make another: other terms of a loss. */
const MOST_COPIES = 3;
const MOST_TRACED = 200; // buckets, of which tables and shapes are kept

export class ResidentSessions {
  readonly #options: Pick<SessionOptions, "threads" | "device">;
  /** By key, the least recently used first. */
  readonly #traced = new Map<string, Traced>();
  /** By tensors and model, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytesMoved = 0;

  constructor(options: Pick<SessionOptions, "threads" | "device">) {
    this.#options = options;
  }

  /** Bytes that runs were fed and gave back so far. */
  get bytesMoved(): number {
    return this.#bytesMoved;
  }

  /** Bytes of the tensors that sessions hold. */
  get bytesHeld(): number {
    return [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Runs a branch of the graph of `key`, built on first use; feeds that it does not read are left out. */
  async run(
    key: string,
    build: () => Branches,
    { branch = 0, wanted, feeds, resident }: ResidentRun,
  ): Promise<Record<string, Float32Array>> {
    const { entry, traced } = this.#open(`${key} ${resident.tensors.length}`, build, resident);
    const names = at(traced.outputs, branch);
    const places = (wanted ?? names).map((name) => names.indexOf(name));
    const choices: Feeds = {
      [BRANCH]: { values: Int32Array.of(branch), shape: [1] },
      [LAYER]: { values: BigInt64Array.of(BigInt(resident.layer ?? 0)), shape: [] },
    };
    const given = Object.entries({ ...feeds, ...choices }).filter(([name]) => traced.inputs.has(name));
    const all = { ...traced.bound, ...Object.fromEntries(given) };
    entry.running += 1;
    try {
      const results = await (await entry.session).run(all, places.map(resultOf));
      for (const { byteLength } of [...Object.values(all).map(({ values }) => values), ...Object.values(results)])
        this.#bytesMoved += byteLength;
      return Object.fromEntries(places.map((place) => [at(names, place), resultIn(results, place)]));
    } finally {
      entry.running -= 1;
    }
  }

  /** Gives up everything: after tensors have changed, or at the end. */
  async close(): Promise<void> {
    const open = [...this.#entries.values()];
    this.#entries.clear();
    this.#traced.clear();
    for (const { session } of open) await (await session).close();
  }

  #open(key: string, build: () => Branches, resident: Resident): { entry: Entry; traced: Traced } {
    const known = this.#traced.get(key);
    if (known !== undefined) {
      renew(this.#traced, key, known);
      const own = `${resident.id} ${known.digest}`;
      const entry = this.#entries.get(own);
      if (entry !== undefined) {
        renew(this.#entries, own, entry);
        return { entry, traced: known };
      }
    }
    const branches = build();
    const tensors = at(resident.tensors, 0);
    const encoded = encodeOpenModel(branches, {
      isResident: (name) => tensors[name] !== undefined,
      layers: resident.layer === undefined ? undefined : resident.tensors.length,
    });
    const { model, ...rest } = encoded;
    const digest = createHash("sha256").update(model).digest("hex");
    const traced = { ...rest, digest, outputs: branches.map((branch) => Object.keys(branch)) };
    renew(this.#traced, key, traced);
    for (const oldest of this.#traced.keys()) {
      if (this.#traced.size <= MOST_TRACED) break;
      this.#traced.delete(oldest);
    }
    const own = `${resident.id} ${digest}`;
    const entry = this.#entries.get(own) ?? this.#start(own, encoded, resident);
    renew(this.#entries, own, entry);
    return { entry, traced };
  }

  #start(own: string, { model, resident: elements }: OpenModel, { id, tensors }: Resident): Entry {
    const copies = [...this.#entries].filter(([, entry]) => entry.id === id);
    const closed = copies.slice(0, Math.max(0, copies.length - MOST_COPIES + 1)).flatMap(([key, entry]) => {
      if (entry.running > 0) return [];
      this.#entries.delete(key);
      return [entry.session.then((session) => session.close())];
    });
    // What is given up makes room first. What is uploaded is let go with this call.
    const open = async (): Promise<OpenGraph> => {
      await Promise.all(closed);
      const external = new Map([...elements].map(([name, element]) => [name, bytesAs(element, tensors, name)]));
      const session = await GraphSession.open(model, { ...this.#options, external });
      discard(Object.fromEntries(external));
      return session;
    };
    const bytes = [...elements].reduce((sum, [name, element]) => sum + tensors.length * bytesOf(element, at(tensors, 0), name), 0);
    const entry = { id, session: open(), bytes, running: 0 };
    entry.session.catch(() => {
      if (this.#entries.get(own) === entry) this.#entries.delete(own);
    });
    return entry;
  }
}

/** The last to be given up. */
function renew<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

function resultIn(results: Readonly<Record<string, Float32Array>>, place: number): Float32Array {
  const found = results[resultOf(place)];
  invariant(found !== undefined, "an output of the branch expected");
  return found;
}

const widthOf = (element: ElementType): number => (element === "float16" || element === "bfloat16" ? 2 : 4);

function bytesOf(element: ElementType, tensors: StoredTensors, name: string): number {
  return tensorIn(tensors, name).size * widthOf(element);
}

function tensorIn(tensors: StoredTensors, name: string): StoredTensor {
  const tensor = tensors[name];
  invariant(tensor !== undefined, `a resident tensor expected for ${name}`);
  return tensor;
}

/** A tensor of every layer one after another, freshly written as a graph that computes in `element` holds them: one layer's at a time is read. */
function bytesAs(element: ElementType, layers: readonly StoredTensors[], name: string): Uint8Array {
  const narrow = { float16: encodeFloat16, bfloat16: encodeBfloat16 };
  const whole = new Uint8Array(layers.reduce((sum, tensors) => sum + bytesOf(element, tensors, name), 0));
  let end = 0;
  for (const tensors of layers) {
    const values = tensorIn(tensors, name).read();
    const held = element === "float16" || element === "bfloat16" ? narrow[element](values) : values;
    whole.set(new Uint8Array(held.buffer, held.byteOffset, held.byteLength), end);
    end += held.byteLength;
  }
  return whole;
}
