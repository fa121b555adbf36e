/** The engine itself, on whatever thread it is made: it owns the parameters and every session over them. */
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { BaseWeights } from "../model/base-weights.ts";
import { initialiseParameters } from "../model/parameters.ts";
import { checkCompute } from "../onnx/device.ts";
import { SharedPool } from "../onnx/pool.ts";
import { Random } from "../random.ts";
import { type AdapterLoss, type AdapterStepOptions, accumulateAdapter, stepAdapter } from "./adapter-trainer.ts";
import type { LossBatch } from "./loss-batch.ts";
import { type Adapter, type AdapterCreation, AdapterStore, type AdapterWeights } from "./adapters.ts";
import type { PositionBatch, TokenBatch } from "./batch.ts";
import type { EngineContext } from "./feeds.ts";
import { FullTrainer } from "./full-trainer.ts";
import { type GenerateOptions, type Generation, Generator } from "./generator.ts";
import { layerOptions } from "./layers.ts";
import type { AdapterChoice, BatchLoss, EngineCalls, EngineOptions, PrefixScope, StepOptions } from "./protocol.ts";
import { PrefixRooms, PrefixStore } from "./prefixes.ts";
import { type ScoreOptions, type Scores, scoreBatch } from "./scorer.ts";
import { SessionCache } from "./session-cache.ts";

const SHARED = "shared";
const MOST_LANES = 4; // a batch of a few dozen answers is no work for more

export class EngineCore implements EngineCalls {
  readonly #context: EngineContext;
  readonly #full: FullTrainer;
  readonly #adapters: AdapterStore;
  readonly #prefixes: Map<string, PrefixStore>;
  readonly #rooms = new PrefixRooms();

  constructor({ config, threads, tokenizer, device = "cpu", placement, compute = "float32", ...options }: EngineOptions) {
    const { byLayer = layerOptions(config, device) } = options;
    checkCompute(compute, device);
    const reader = tokenizer === undefined ? undefined : new Tokenizer(tokenizer);
    const grammars =
      tokenizer === undefined || reader === undefined
        ? undefined
        : new AnswerGrammars(tokenizer, { tokenizer: reader, vocabSize: config.vocabSize });
    const layers = byLayer === false ? undefined : byLayer;
    // Layers come one after the other, and are large enough for all threads.
    const lanes = layers === undefined && device === "cpu" && placement !== "device" ? Math.min(threads, MOST_LANES) : 1;
    const sessions = new SessionCache({ threads, lanes, device, ...(placement && { placement }) });
    const base = new BaseWeights(config, { leaves: layers !== undefined && sessions.residents !== undefined });
    const parts = { config, base, sessions, byLayer: layers, compute };
    const opens = reader?.invocation ?? [];
    // As `alora_invocation_tokens` has to be: of one token llama.cpp would act on the one before it.
    this.#context = {
      ...parts,
      prefixes: new PrefixStore(parts, this.#rooms),
      pool: new SharedPool(),
      grammars,
      invocation: opens.length < 2 ? undefined : opens,
    };
    this.#prefixes = new Map([[SHARED, this.#context.prefixes]]);
    this.#full = new FullTrainer(this.#context);
    this.#adapters = new AdapterStore(config);
  }

  /** Bytes that graphs were fed and gave back so far. */
  get bytesMoved(): number {
    return this.#context.sessions.bytesMoved;
  }

  /** Bytes of frozen tensors that sessions hold on a device. */
  get bytesHeld(): number {
    return this.#context.sessions.residents?.bytesHeld ?? 0;
  }

  async initialise({ seed }: { seed: number }): Promise<void> {
    await this.#forgetAll();
    initialiseParameters(this.#context.base.buffer, { layerCount: this.#context.config.layerCount, random: new Random(seed) });
  }

  async loadCheckpoint(folder: string): Promise<void> {
    await this.#forgetAll();
    this.#context.base.load(folder);
  }

  async loadWeights(weights: ReadonlyMap<string, Float32Array>): Promise<void> {
    await this.#forgetAll();
    this.#context.base.buffer.load(weights);
  }

  async readWeights(): Promise<Map<string, Float32Array>> {
    return this.#context.base.read();
  }

  accumulate(batch: TokenBatch): Promise<BatchLoss> {
    return this.#full.accumulate(batch);
  }

  async step(options: StepOptions): Promise<{ gradNorm: number }> {
    await this.#forgetAll();
    return this.#full.step(options);
  }

  async createAdapter(name: string, options: AdapterCreation): Promise<void> {
    this.#adapters.create(name, options);
  }

  async loadAdapter(name: string, weights: AdapterWeights): Promise<void> {
    this.#adapters.load(name, weights);
  }

  async readAdapter(name: string): Promise<AdapterWeights> {
    return this.#adapters.read(name);
  }

  async dropAdapter(name: string): Promise<void> {
    this.#adapters.drop(name);
  }

  async accumulateAdapter(name: string, batch: LossBatch, { scope }: PrefixScope = {}): Promise<AdapterLoss> {
    return accumulateAdapter(this.#in(scope), this.#adapters.get(name), batch);
  }

  async stepAdapter(name: string, options: AdapterStepOptions): Promise<{ gradNorm: number }> {
    return stepAdapter(this.#adapters.get(name), options);
  }

  async score(batch: PositionBatch, { adapter, scope, ...options }: ScoreOptions & AdapterChoice & PrefixScope = {}): Promise<Scores> {
    return scoreBatch(this.#in(scope), batch, { ...options, adapter: this.#chosen(adapter) });
  }

  async generate({ adapter, scope, ...options }: GenerateOptions & AdapterChoice & PrefixScope): Promise<Generation[]> {
    return new Generator(this.#in(scope), options, this.#chosen(adapter)).generate();
  }

  async forgetPrefixes({ scope }: PrefixScope = {}): Promise<void> {
    this.#in(scope).prefixes.clear();
  }

  /** Closes every session, and the files of the base. */
  async close(): Promise<void> {
    await this.#context.sessions.close();
    this.#context.base.close();
  }

  /** The context with the keys and values of a scope. */
  #in(scope = SHARED): EngineContext {
    const prefixes = this.#prefixes.get(scope) ?? new PrefixStore(this.#context, this.#rooms);
    this.#prefixes.set(scope, prefixes);
    return { ...this.#context, prefixes };
  }

  /** What was computed from parameters that change now, or holds them. */
  async #forgetAll(): Promise<void> {
    for (const prefixes of this.#prefixes.values()) prefixes.clear();
    await this.#context.sessions.forgetResident();
  }

  #chosen(name: string | undefined): Adapter | undefined {
    return name === undefined ? undefined : this.#adapters.get(name);
  }
}
