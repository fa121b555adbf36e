/** Calls to an object that lives on a thread of its own: answered in the order they were made. */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import { CLOSE, type CallMessage, type ReplyMessage } from "./messages.ts";

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: AppError) => void };

export class Caller<Calls> {
  readonly #name: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #exited = false;
  #closed: AppError | undefined;

  /** Starts a thread from `script`, which serves what is called here. `name` is what errors call it. */
  constructor(name: string, script: URL, workerData: unknown) {
    this.#name = name;
    this.#worker = new Worker(fileURLToPath(script.href), { workerData });
    this.#worker.on("message", (reply: ReplyMessage) => this.#settle(reply));
    // Not `engine/closed`: waiting brings no crashed thread back, so the process must end and be started again.
    this.#worker.on("error", (cause) =>
      this.#end(new AppError("engine/crashed", `${name}: a living worker expected, got a crash`, { cause })),
    );
    this.#worker.on("exit", () => (this.#exited = true));
    this.#worker.on("exit", (code) =>
      this.#end(new AppError("engine/crashed", `${name}: a living worker expected, got exit code ${code}`)),
    );
  }

  /**
   * Ends the thread; calls under way are rejected at once, and the thread ends when the one it is at is done, however long that takes: one
   * that is terminated inside onnxruntime takes the process with it. Who cannot wait kills the process.
   */
  async close(): Promise<void> {
    this.#end(new AppError("engine/closed", `${this.#name}: an open thread expected, got a closed one`));
    if (this.#exited) return;
    const exit = new Promise((resolve) => this.#worker.once("exit", resolve));
    this.#worker.postMessage(CLOSE);
    await exit;
  }

  call<K extends keyof Calls & string>(name: K, ...args: ArgumentsOf<Calls[K]>): Promise<ResultOf<Calls[K]>> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const id = (this.#calls += 1);
    const message: CallMessage = { id, name, args };
    return new Promise((resolve, reject) => {
      // The thread answers a call with its own result type.
      this.#waiting.set(id, { resolve: (value) => resolve(value as ResultOf<Calls[K]>), reject });
      this.#worker.postMessage(message);
    });
  }

  #settle(reply: ReplyMessage): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.status === "done") waiting?.resolve(reply.value);
    else waiting?.reject(fromErrorRecord(reply.error));
  }

  #end(error: AppError): void {
    this.#closed ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

type ArgumentsOf<Call> = Call extends (...args: infer Args) => unknown ? Args : never;
type ResultOf<Call> = Call extends (...args: never[]) => infer Result ? Awaited<Result> : never;
