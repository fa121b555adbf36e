/** The engine's thread: takes calls in order, one at a time, because each may change what the next one reads. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../shared/assert.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import { EngineCore } from "./core.ts";
import { type CallMessage, CLOSE, type EngineOptions, type ReplyMessage, transferables } from "./protocol.ts";

const port = parentPort;
invariant(port !== null, "the engine's worker runs in a worker thread");

// Both ends of this port are compiled from protocol.ts.
const core = new EngineCore(workerData as EngineOptions);
let last: Promise<void> = Promise.resolve();
let closing = false;

port.on("message", (message: CallMessage | typeof CLOSE) => {
  if (message === CLOSE) {
    closing = true;
    // A thread that ends inside onnxruntime takes the process with it, so the call under way is let finish.
    void last.then(() => process.exit());
    return;
  }
  last = last.then(() => answer(message)).then((reply) => port.postMessage(reply, transferables(reply)));
});

async function answer({ id, name, args }: CallMessage): Promise<ReplyMessage> {
  try {
    if (closing) throw new AppError("engine/closed", "engine: an open engine expected, got a closing one");
    const call = core[name] as (...values: readonly unknown[]) => Promise<unknown>;
    return { id, status: "done", value: await call.apply(core, [...args]) };
  } catch (thrown) {
    return { id, status: "failed", error: toErrorRecord(thrown) };
  }
}
