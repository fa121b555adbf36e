/** Open sessions by key, the least recently used closed first. */
import { invariant } from "../../shared/assert.ts";
import { encodeBfloat16, encodeFloat16 } from "../../shared/float16.ts";
import type { Node } from "../autodiff/graph.ts";
import type { ElementType } from "../autodiff/shape.ts";
import { encodeModel, graphInputs } from "../onnx/encode.ts";
import { peakBytes } from "../onnx/peak.ts";
import { type Feeds, GraphSession, type SessionOptions, type TensorValues } from "../onnx/session.ts";

/** Tensors that stay as they are from run to run: `id` says which, where graphs of one key are run with several. */
export type Resident = { readonly id: string; readonly feeds: Feeds };

export type CacheOptions = SessionOptions & {
  /**
   * `inputs`: graphs read resident tensors in place, at each run. `device`: each session holds its own on the device, and only
   * what else it is fed crosses. Default: inputs on the CPU, else device.
   */
  readonly placement?: "inputs" | "device";
};

type Entry = { readonly session: GraphSession; readonly inputs: ReadonlySet<string>; readonly bytes: number };

// A session keeps the memory of its largest run: some hundred megabytes for a step of training, one for a step of decoding. An update and
// its gate open about a hundred. A budget that is too small for the ten of its steps, which come in turn, would open them at every step;
// on a device, where each layer has its own, they all have to fit.
const BUDGET_BYTES = 2.5 * 1024 ** 3;
const MAX_SESSIONS = 250; // each has threads of its own

export class SessionCache {
  readonly #options: CacheOptions;
  readonly #onDevice: boolean;
  // In order of use: the first is the oldest.
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

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
    const read = Object.fromEntries(Object.entries(all).filter(([name]) => inputs.has(name)));
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
    this.#bytes = 0;
  }

  async #entry(key: string, build: () => Record<string, Node>, resident?: Feeds): Promise<Entry> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? (await this.#open(build(), resident));
    this.#entries.set(key, entry);
    return entry;
  }

  async #open(outputs: Record<string, Node>, resident?: Feeds): Promise<Entry> {
    const inputs = graphInputs(outputs);
    const held = inputs.filter(({ name }) => resident?.[name] !== undefined);
    const external = new Map(held.map(({ name, type }) => [name, bytesAs(type.element, resident?.[name]?.values)]));
    const bytes = peakBytes(outputs) + [...external.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    for (const [key, oldest] of this.#entries) {
      if ((this.#onDevice || this.#bytes + bytes <= BUDGET_BYTES) && this.#entries.size < MAX_SESSIONS) break;
      this.#entries.delete(key);
      this.#bytes -= oldest.bytes;
      await oldest.session.close();
    }
    const model = encodeModel(outputs, new Set(external.keys()));
    const session = await GraphSession.open(model, { ...this.#options, ...(held.length > 0 && { external }) });
    this.#bytes += bytes;
    return { session, inputs: new Set(inputs.map(({ name }) => name).filter((name) => !external.has(name))), bytes };
  }
}

/** Float32 values as a graph that computes in `element` holds them. */
function bytesAs(element: ElementType, values: TensorValues | undefined): Uint8Array {
  invariant(values instanceof Float32Array, "resident tensors of float32 expected");
  const narrow = { float16: encodeFloat16, bfloat16: encodeBfloat16 };
  const held = element === "float16" || element === "bfloat16" ? narrow[element](values) : values;
  return new Uint8Array(held.buffer, held.byteOffset, held.byteLength);
}
