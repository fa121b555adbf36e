/** The thread of a `GraphRunner`. */
import { workerData } from "node:worker_threads";
import { invariant } from "../../shared/assert.ts";
import { type AdamWUpdate, adamWUpdate } from "../optim/adamw.ts";
import { serve } from "../threads/serve.ts";
import { type Feeds, GraphSession, type SessionOptions } from "./session.ts";

class Runner {
  readonly #options: SessionOptions;
  readonly #open = new Map<number, GraphSession>();
  #opened = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** A number that stands for the graph. */
  async open(model: Uint8Array, options: Pick<SessionOptions, "arena">): Promise<number> {
    const session = await GraphSession.open(model, { ...this.#options, ...options });
    this.#opened += 1;
    this.#open.set(this.#opened, session);
    return this.#opened;
  }

  async run(graph: number, feeds: Feeds): Promise<Record<string, Float32Array>> {
    return this.#get(graph).run(feeds);
  }

  /** Of tensors in shared memory. */
  async adamW(updates: readonly AdamWUpdate[]): Promise<void> {
    for (const { buffers, options } of updates) adamWUpdate(buffers, options);
  }

  async release(graph: number): Promise<void> {
    const session = this.#get(graph);
    this.#open.delete(graph);
    await session.close();
  }

  async close(): Promise<void> {
    for (const session of this.#open.values()) await session.close();
    this.#open.clear();
  }

  #get(graph: number): GraphSession {
    const session = this.#open.get(graph);
    invariant(session !== undefined, `an open graph expected, got ${graph}`);
    return session;
  }
}

export type RunnerCalls = Pick<Runner, "open" | "run" | "adamW" | "release">;

serve(new Runner(workerData as SessionOptions));
