/** Open sessions by key, the least recently used closed first. */
import type { Node } from "../autodiff/graph.ts";
import { encodeModel, inputNames } from "../onnx/encode.ts";
import { type Feeds, GraphSession, type SessionOptions } from "../onnx/session.ts";

type Entry = { readonly session: GraphSession; readonly inputs: readonly string[] };

// An update scores, trains and generates over a few buckets each, and generation alone may use eight cache lengths. A session
// keeps the memory of its largest run: some hundred megabytes for 4,096 tokens of training, a few for a decode step.
const MAX_SESSIONS = 40;

export class SessionCache {
  readonly #options: SessionOptions;
  // In order of use: the first is the oldest.
  readonly #entries = new Map<string, Entry>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Runs the graph of `key`, built on first use; feeds the graph does not read are left out. */
  async run(key: string, build: () => Record<string, Node>, feeds: Feeds): Promise<Record<string, Float32Array>> {
    const { session, inputs } = await this.#entry(key, build);
    return session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => inputs.includes(name))));
  }

  async close(): Promise<void> {
    for (const { session } of this.#entries.values()) await session.close();
    this.#entries.clear();
  }

  async #entry(key: string, build: () => Record<string, Node>): Promise<Entry> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? (await this.#open(build()));
    this.#entries.set(key, entry);
    return entry;
  }

  async #open(outputs: Record<string, Node>): Promise<Entry> {
    const [oldest] = this.#entries;
    if (oldest !== undefined && this.#entries.size >= MAX_SESSIONS) {
      this.#entries.delete(oldest[0]);
      await oldest[1].session.close();
    }
    return { session: await GraphSession.open(encodeModel(outputs), this.#options), inputs: inputNames(outputs) };
  }
}
