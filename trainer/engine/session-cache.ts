/** Open sessions by key, the least recently used closed first. */
import type { Node } from "../autodiff/graph.ts";
import { encodeModel, inputNames } from "../onnx/encode.ts";
import { peakBytes } from "../onnx/peak.ts";
import { type Feeds, GraphSession, type SessionOptions } from "../onnx/session.ts";

type Entry = { readonly session: GraphSession; readonly inputs: ReadonlySet<string>; readonly bytes: number };

// A session keeps the memory of its largest run: some hundred megabytes for a step of training, one for a step of decoding. An update and
// its gate open about a hundred. A budget that is too small for the ten of its steps, which come in turn, would open them at every step.
const BUDGET_BYTES = 2.5 * 1024 ** 3;
const MAX_SESSIONS = 250; // each has threads of its own

export class SessionCache {
  readonly #options: SessionOptions;
  // In order of use: the first is the oldest.
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Runs the graph of `key`, built on first use; feeds the graph does not read are left out. */
  async run(key: string, build: () => Record<string, Node>, feeds: Feeds): Promise<Record<string, Float32Array>> {
    const { session, inputs } = await this.#entry(key, build);
    return session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => inputs.has(name))));
  }

  async close(): Promise<void> {
    for (const { session } of this.#entries.values()) await session.close();
    this.#entries.clear();
    this.#bytes = 0;
  }

  async #entry(key: string, build: () => Record<string, Node>): Promise<Entry> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? (await this.#open(build()));
    this.#entries.set(key, entry);
    return entry;
  }

  async #open(outputs: Record<string, Node>): Promise<Entry> {
    const bytes = peakBytes(outputs);
    for (const [key, oldest] of this.#entries) {
      if (this.#bytes + bytes <= BUDGET_BYTES && this.#entries.size < MAX_SESSIONS) break;
      this.#entries.delete(key);
      this.#bytes -= oldest.bytes;
      await oldest.session.close();
    }
    const session = await GraphSession.open(encodeModel(outputs), this.#options);
    this.#bytes += bytes;
    return { session, inputs: new Set(inputNames(outputs)), bytes };
  }
}
