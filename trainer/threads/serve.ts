/** The thread's side of calls: takes them in order, one at a time, because each may change what the next one reads. */
import { parentPort } from "node:worker_threads";
import { invariant } from "../../shared/assert.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import { type CallMessage, CLOSE, type ReplyMessage, transferables } from "./messages.ts";

/** Answers calls to `served`, which is closed before the thread ends. */
export function serve(served: { close(): Promise<void> }): void {
  const port = parentPort;
  invariant(port !== null, "calls are served in a worker thread");
  let last: Promise<void> = Promise.resolve();
  let closing = false;
  const answer = async ({ id, name, args }: CallMessage): Promise<ReplyMessage> => {
    try {
      if (closing) throw new AppError("engine/closed", "an open thread expected, got a closing one");
      // Both ends are compiled from one type of calls.
      const call = (served as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>)[name];
      invariant(call !== undefined, `a call that is served expected, got ${name}`);
      return { id, status: "done", value: await call.apply(served, [...args]) };
    } catch (thrown) {
      return { id, status: "failed", error: toErrorRecord(thrown) };
    }
  };
  port.on("message", (message: CallMessage | typeof CLOSE) => {
    if (message === CLOSE) {
      closing = true;
      // A thread that ends inside onnxruntime takes the process with it, so the call under way is let finish.
      void last.then(() => served.close()).finally(() => process.exit());
      return;
    }
    last = last.then(() => answer(message)).then((reply) => port.postMessage(reply, transferables(reply)));
  });
}
