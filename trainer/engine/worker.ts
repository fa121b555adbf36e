/** The engine's thread: takes calls in order, one at a time, because each may change what the next one reads. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../shared/assert.ts";
import { toErrorRecord } from "../../shared/errors.ts";
import { EngineCore } from "./core.ts";
import { type CallMessage, type EngineOptions, type ReplyMessage, transferables } from "./protocol.ts";

const port = parentPort;
invariant(port !== null, "the engine's worker runs in a worker thread");

// Both ends of this port are compiled from protocol.ts.
const core = new EngineCore(workerData as EngineOptions);
let last: Promise<void> = Promise.resolve();

port.on("message", (message: CallMessage) => {
  last = last.then(() => answer(message)).then((reply) => port.postMessage(reply, transferables(reply)));
});

async function answer({ id, name, args }: CallMessage): Promise<ReplyMessage> {
  try {
    const call = core[name] as (...values: readonly unknown[]) => Promise<unknown>;
    return { id, status: "done", value: await call.apply(core, [...args]) };
  } catch (thrown) {
    return { id, status: "failed", error: toErrorRecord(thrown) };
  }
}
