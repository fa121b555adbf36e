/** The engine as the rest of the trainer sees it: asynchronous calls answered by a worker thread, in the order they were made. */
import type { AdapterLoss, AdapterStepOptions } from "./adapter-trainer.ts";
import type { LossBatch } from "./loss-batch.ts";
import type { AdapterCreation, AdapterWeights } from "./adapters.ts";
import type { PositionBatch, TokenBatch } from "./batch.ts";
import type { GenerateOptions, Generation } from "./generator.ts";
import type { ScoreOptions, Scores } from "./scorer.ts";
import { EVERYTHING, type TrainingPort } from "./training-port.ts";
import { Caller } from "../threads/caller.ts";
import type { AdapterChoice, BatchLoss, EngineCalls, EngineOptions, PrefixScope, StepOptions } from "./protocol.ts";

export class Engine implements EngineCalls, TrainingPort {
  readonly capabilities = EVERYTHING;
  readonly #thread: Caller<EngineCalls>;

  private constructor(options: EngineOptions) {
    this.#thread = new Caller("engine", new URL("worker.ts", import.meta.url), options);
  }

  /** Starts the worker thread. Parameters are zero until `initialise`, `loadCheckpoint` or `loadWeights`. */
  static async start(options: EngineOptions): Promise<Engine> {
    return new Engine(options);
  }

  /** Ends the thread; calls under way are rejected at once, and the thread ends when the one it is at is done. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  /** Random weights: normal, deviation 0.02, residual outputs scaled by 1/√(2L). */
  initialise(options: { seed: number }): Promise<void> {
    return this.#thread.call("initialise", options);
  }

  /** Fills the parameters from a Hugging Face folder, read where they stay. @throws {policy/refused} naming the file or tensor that does not fit. */
  loadCheckpoint(folder: string): Promise<void> {
    return this.#thread.call("loadCheckpoint", folder);
  }

  /** Replaces every parameter. Keys are Hugging Face names. @throws {input/invalid} unless exactly this model's are given. */
  loadWeights(weights: ReadonlyMap<string, Float32Array>): Promise<void> {
    return this.#thread.call("loadWeights", weights);
  }

  readWeights(): Promise<Map<string, Float32Array>> {
    return this.#thread.call("readWeights");
  }

  /** Adds the gradient of Σ weight · cross-entropy over the batch. */
  accumulate(batch: TokenBatch): Promise<BatchLoss> {
    return this.#thread.call("accumulate", batch);
  }

  /** Updates the parameters from the accumulated gradient divided by the accumulated weight; `gradNorm` is of that, before clipping. */
  step(options: StepOptions): Promise<{ gradNorm: number }> {
    return this.#thread.call("step", options);
  }

  /** Makes an adapter that changes nothing yet, in place of any of that name. */
  createAdapter(name: string, options: AdapterCreation): Promise<void> {
    return this.#thread.call("createAdapter", name, options);
  }

  /** Takes an adapter's tensors by PEFT name, in place of any of that name; its moments begin at zero. */
  loadAdapter(name: string, weights: AdapterWeights): Promise<void> {
    return this.#thread.call("loadAdapter", name, weights);
  }

  readAdapter(name: string): Promise<AdapterWeights> {
    return this.#thread.call("readAdapter", name);
  }

  dropAdapter(name: string): Promise<void> {
    return this.#thread.call("dropAdapter", name);
  }

  /** Adds the gradient of Σ_terms Σ_i weights_i · loss_i to the adapter's. */
  accumulateAdapter(name: string, batch: LossBatch, options: PrefixScope = {}): Promise<AdapterLoss> {
    return this.#thread.call("accumulateAdapter", name, batch, options);
  }

  /** Updates the adapter by AdamW from its accumulated gradient, divided by `divisor`; `gradNorm` is of that, before clipping. */
  stepAdapter(name: string, options: AdapterStepOptions): Promise<{ gradNorm: number }> {
    return this.#thread.call("stepAdapter", name, options);
  }

  /** Log-probabilities without gradients. */
  score(batch: PositionBatch, options: ScoreOptions & AdapterChoice & PrefixScope = {}): Promise<Scores> {
    return this.#thread.call("score", batch, options);
  }

  /** Answers in the order of the prompts. */
  generate(options: GenerateOptions & AdapterChoice & PrefixScope): Promise<Generation[]> {
    return this.#thread.call("generate", options);
  }

  /** Gives up keys and values kept from earlier calls: what follows is computed as in a new engine. */
  forgetPrefixes(options: PrefixScope = {}): Promise<void> {
    return this.#thread.call("forgetPrefixes", options);
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
