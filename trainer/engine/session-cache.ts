/** Open sessions by key, the least recently used closed first. */
import { invariant } from "../../shared/assert.ts";
import { encodeBfloat16, encodeFloat16 } from "../../shared/float16.ts";
import type { Node } from "../autodiff/graph.ts";
import type { ElementType } from "../autodiff/shape.ts";
import { encodeModel, graphInputs } from "../onnx/encode.ts";
import { type Feeds, GraphSession, type SessionOptions, type TensorValues } from "../onnx/session.ts";

/** Tensors that stay as they are from run to run: `id` says which, where graphs of one key are run with several. */
export type Resident = { readonly id: string; readonly feeds: Feeds };

export type CacheOptions = SessionOptions & {
  /**
   * `inputs`: graphs read resident tensors in place, at each run. `device`: each session holds its own on the device, and only
   * what else it is fed crosses. Default: inputs on the CPU, else device.
   */
  readonly placement?: "inputs" | "device";
  /** Sessions open at a time. */
  readonly most: number;
};

type Entry = { readonly session: GraphSession; readonly inputs: readonly string[] };

export class SessionCache {
  readonly #options: CacheOptions;
  readonly #onDevice: boolean;
  // In order of use: the first is the oldest.
  readonly #entries = new Map<string, Entry>();

  #bytesMoved = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
    const { device = "cpu", placement = device === "cpu" ? "inputs" : "device" } = options;
    this.#onDevice = placement === "device";
  }

  /** Bytes that runs were fed and gave back so far: on another device than the CPU, what crossed. */
  get bytesMoved(): number {
    return this.#bytesMoved;
  }

  /** Runs the graph of `key`, built on first use; feeds the graph does not read are left out. */
  async run(key: string, build: () => Record<string, Node>, feeds: Feeds, resident?: Resident): Promise<Record<string, Float32Array>> {
    const held = resident === undefined || !this.#onDevice ? undefined : resident;
    const { session, inputs } = await this.#entry(held === undefined ? key : `${key} ${held.id}`, build, held?.feeds);
    const all = held === undefined ? { ...resident?.feeds, ...feeds } : feeds;
    const read = Object.fromEntries(Object.entries(all).filter(([name]) => inputs.includes(name)));
    const outputs = await session.run(read);
    for (const { byteLength } of [...Object.values(read).map(({ values }) => values), ...Object.values(outputs)])
      this.#bytesMoved += byteLength;
    return outputs;
  }

  /** After resident tensors have changed. */
  async forgetResident(): Promise<void> {
    if (this.#onDevice) await this.close();
  }

  async close(): Promise<void> {
    for (const { session } of this.#entries.values()) await session.close();
    this.#entries.clear();
  }

  async #entry(key: string, build: () => Record<string, Node>, resident?: Feeds): Promise<Entry> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? (await this.#open(build(), resident));
    this.#entries.set(key, entry);
    return entry;
  }

  async #open(outputs: Record<string, Node>, resident?: Feeds): Promise<Entry> {
    const [oldest] = this.#entries;
    if (oldest !== undefined && this.#entries.size >= this.#options.most) {
      this.#entries.delete(oldest[0]);
      await oldest[1].session.close();
    }
    const inputs = graphInputs(outputs);
    const held = inputs.filter(({ name }) => resident?.[name] !== undefined);
    const external = new Map(held.map(({ name, type }) => [name, bytesAs(type.element, resident?.[name]?.values)]));
    const model = encodeModel(outputs, new Set(external.keys()));
    return {
      session: await GraphSession.open(model, { ...this.#options, ...(held.length > 0 && { external }) }),
      inputs: inputs.map(({ name }) => name).filter((name) => !external.has(name)),
    };
  }
}

/** Float32 values as a graph that computes in `element` holds them. */
function bytesAs(element: ElementType, values: TensorValues | undefined): Uint8Array {
  invariant(values instanceof Float32Array, "resident tensors of float32 expected");
  const narrow = { float16: encodeFloat16, bfloat16: encodeBfloat16 };
  const held = element === "float16" || element === "bfloat16" ? narrow[element](values) : values;
  return new Uint8Array(held.buffer, held.byteOffset, held.byteLength);
}
