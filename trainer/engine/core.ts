/** The engine itself, on whatever thread it is made: it owns the parameters and every session over them. */
import { ParameterBuffer, initialiseParameters, listParameters } from "../model/parameters.ts";
import { createRandom } from "../model/random.ts";
import type { TokenBatch } from "./batch.ts";
import { FullTrainer } from "./full-trainer.ts";
import type { BatchLoss, EngineCalls, EngineOptions, StepOptions } from "./protocol.ts";
import { SessionCache } from "./session-cache.ts";

export class EngineCore implements EngineCalls {
  readonly #options: EngineOptions;
  readonly #parameters: ParameterBuffer;
  readonly #full: FullTrainer;

  constructor(options: EngineOptions) {
    const { config, threads } = options;
    this.#options = options;
    this.#parameters = new ParameterBuffer(listParameters(config));
    this.#full = new FullTrainer({ config, parameters: this.#parameters, sessions: new SessionCache({ threads }) });
  }

  async initialise({ seed }: { seed: number }): Promise<void> {
    initialiseParameters(this.#parameters, { layers: this.#options.config.layers, random: createRandom(seed) });
  }

  async loadWeights(weights: ReadonlyMap<string, Float32Array>): Promise<void> {
    this.#parameters.load(weights);
  }

  async readWeights(): Promise<Map<string, Float32Array>> {
    return this.#parameters.read();
  }

  accumulate(batch: TokenBatch): Promise<BatchLoss> {
    return this.#full.accumulate(batch);
  }

  step(options: StepOptions): Promise<{ gradNorm: number }> {
    return this.#full.step(options);
  }
}
