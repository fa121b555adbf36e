/** The engine as the rest of the trainer sees it: asynchronous calls answered by a worker thread, in the order they were made. */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import type { AdapterLoss, AdapterStepOptions, LossBatch } from "./adapter-trainer.ts";
import type { AdapterCreation, AdapterWeights } from "./adapters.ts";
import type { PositionBatch, TokenBatch } from "./batch.ts";
import type { GenerateOptions, Generation } from "./generator.ts";
import type { ScoreOptions, Scores } from "./scorer.ts";
import { EVERYTHING, type TrainingPort } from "./training-port.ts";
import type {
  AdapterChoice,
  BatchLoss,
  CallArguments,
  CallMessage,
  CallName,
  CallResult,
  EngineCalls,
  EngineOptions,
  PrefixScope,
  ReplyMessage,
  StepOptions,
} from "./protocol.ts";
import { CLOSE } from "./protocol.ts";

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: AppError) => void };

const CLOSING_MS = 10_000; // longer than any one call takes

export class Engine implements EngineCalls, TrainingPort {
  readonly capabilities = EVERYTHING;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #exited = false;
  #closed: AppError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (reply: ReplyMessage) => this.#settle(reply));
    // Not `engine/closed`: waiting brings no crashed thread back, so the process must end and be started again.
    worker.on("error", (cause) => this.#end(new AppError("internal", "engine: a living worker expected, got a crash", { cause })));
    worker.on("exit", () => (this.#exited = true));
    worker.on("exit", (code) => this.#end(new AppError("internal", `engine: a living worker expected, got exit code ${code}`)));
  }

  /** Starts the worker thread. Parameters are zero until `initialise`, `loadCheckpoint` or `loadWeights`. */
  static async start(options: EngineOptions): Promise<Engine> {
    return new Engine(new Worker(fileURLToPath(new URL("./worker.ts", import.meta.url).href), { workerData: options }));
  }

  /** Ends the thread; calls under way are rejected at once, and the thread ends when the one it is at is done. */
  async close(): Promise<void> {
    this.#end(new AppError("engine/closed", "engine: an open engine expected, got a closed one"));
    if (this.#exited) return;
    const exit = new Promise((resolve) => this.#worker.once("exit", resolve));
    this.#worker.postMessage(CLOSE);
    const patience = setTimeout(() => void this.#worker.terminate(), CLOSING_MS);
    await exit;
    clearTimeout(patience);
  }

  /** Random weights: normal, deviation 0.02, residual outputs scaled by 1/√(2L). */
  initialise(options: { seed: number }): Promise<void> {
    return this.#call("initialise", options);
  }

  /** Fills the parameters from a Hugging Face folder, read where they stay. @throws {policy/refused} naming the file or tensor that does not fit. */
  loadCheckpoint(folder: string): Promise<void> {
    return this.#call("loadCheckpoint", folder);
  }

  /** Replaces every parameter. Keys are Hugging Face names. @throws {input/invalid} unless exactly this model's are given. */
  loadWeights(weights: ReadonlyMap<string, Float32Array>): Promise<void> {
    return this.#call("loadWeights", weights);
  }

  readWeights(): Promise<Map<string, Float32Array>> {
    return this.#call("readWeights");
  }

  /** Adds the gradient of Σ weight · cross-entropy over the batch. */
  accumulate(batch: TokenBatch): Promise<BatchLoss> {
    return this.#call("accumulate", batch);
  }

  /** Updates the parameters from the accumulated gradient divided by the accumulated weight; `gradNorm` is of that, before clipping. */
  step(options: StepOptions): Promise<{ gradNorm: number }> {
    return this.#call("step", options);
  }

  /** Makes an adapter that changes nothing yet, in place of any of that name. */
  createAdapter(name: string, options: AdapterCreation): Promise<void> {
    return this.#call("createAdapter", name, options);
  }

  /** Takes an adapter's tensors by PEFT name, in place of any of that name; its moments begin at zero. */
  loadAdapter(name: string, weights: AdapterWeights): Promise<void> {
    return this.#call("loadAdapter", name, weights);
  }

  readAdapter(name: string): Promise<AdapterWeights> {
    return this.#call("readAdapter", name);
  }

  dropAdapter(name: string): Promise<void> {
    return this.#call("dropAdapter", name);
  }

  /** Adds the gradient of Σ_terms Σ_i weights_i · loss_i to the adapter's. */
  accumulateAdapter(name: string, batch: LossBatch, options: PrefixScope = {}): Promise<AdapterLoss> {
    return this.#call("accumulateAdapter", name, batch, options);
  }

  /** Updates the adapter by AdamW from its accumulated gradient, divided by `divisor`; `gradNorm` is of that, before clipping. */
  stepAdapter(name: string, options: AdapterStepOptions): Promise<{ gradNorm: number }> {
    return this.#call("stepAdapter", name, options);
  }

  /** Log-probabilities without gradients. */
  score(batch: PositionBatch, options: ScoreOptions & AdapterChoice & PrefixScope = {}): Promise<Scores> {
    return this.#call("score", batch, options);
  }

  /** Answers in the order of the prompts. */
  generate(options: GenerateOptions & AdapterChoice & PrefixScope): Promise<Generation[]> {
    return this.#call("generate", options);
  }

  /** Gives up keys and values kept from earlier calls: what follows is computed as in a new engine. */
  forgetPrefixes(options: PrefixScope = {}): Promise<void> {
    return this.#call("forgetPrefixes", options);
  }

  #call<K extends CallName>(name: K, ...args: CallArguments<K>): Promise<CallResult<K>> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const id = (this.#calls += 1);
    const message: CallMessage = { id, name, args };
    return new Promise((resolve, reject) => {
      // The worker answers a call with its own result type.
      this.#waiting.set(id, { resolve: (value) => resolve(value as CallResult<K>), reject });
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

/** The same engine with keys and values kept under a name of their own: what others ask meanwhile changes nothing in what is computed. */
export function keepApart(engine: TrainingPort, scope: string): TrainingPort {
  return {
    capabilities: engine.capabilities,
    createAdapter: (name, options) => engine.createAdapter(name, options),
    loadAdapter: (name, weights) => engine.loadAdapter(name, weights),
    readAdapter: (name) => engine.readAdapter(name),
    dropAdapter: (name) => engine.dropAdapter(name),
    accumulateAdapter: (name, batch) => engine.accumulateAdapter(name, batch, { scope }),
    stepAdapter: (name, options) => engine.stepAdapter(name, options),
    score: (batch, options) => engine.score(batch, { ...options, scope }),
    generate: (options) => engine.generate({ ...options, scope }),
    forgetPrefixes: () => engine.forgetPrefixes({ scope }),
  };
}
