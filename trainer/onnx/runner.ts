/** Graphs on a thread of their own, so that several are run at once: one operator's work is often too little to be shared by threads. */
import type { AdamWUpdate } from "../optim/adamw.ts";
import { Caller } from "../threads/caller.ts";
import type { RunnerCalls } from "./runner-thread.ts";
import type { Feeds, OpenGraph, SessionOptions, Tensor, TensorValues } from "./session.ts";

export class GraphRunner {
  readonly #thread: Caller<RunnerCalls>;

  constructor({ threads }: Pick<SessionOptions, "threads">) {
    this.#thread = new Caller("graph runner", new URL("runner-thread.ts", import.meta.url), { threads });
  }

  /** As `GraphSession.open`, on the CPU. */
  async open(model: Uint8Array, options: Pick<SessionOptions, "arena">): Promise<OpenGraph> {
    const graph = await this.#thread.call("open", model, options);
    return {
      run: (feeds) => this.#thread.call("run", graph, crossing(feeds)),
      close: () => this.#thread.call("release", graph),
    };
  }

  /** Updates of tensors in shared memory. */
  adamW(updates: readonly AdamWUpdate[]): Promise<void> {
    return this.#thread.call("adamW", updates);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** Of a view that is not shared, the whole buffer would be copied. */
function crossing(feeds: Feeds): Feeds {
  return Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, compact(tensor)]));
}

function compact({ values, shape }: Tensor): Tensor {
  const crosses = values.buffer instanceof SharedArrayBuffer || values.byteLength === values.buffer.byteLength;
  return { values: crosses ? values : (values.slice() as TensorValues), shape };
}
