/**
 * Errands by the version that an update goes out from: whoever learns from version n meets the same ones, so that a trainer with nothing else
 * to do reads them before anybody is corrected. What precedes their answers has the base's keys and values, whichever version asks. An
 * update sees each a few times at most: a handful is learned by heart, and what was not among it drifts.
 */
import { invariant } from "../../../shared/assert.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import type { TokenBatch } from "../../engine/batch.ts";
import { keepApart } from "../../engine/engine.ts";
import { BUDGET_BYTES } from "../../engine/prefixes.ts";
import type { TrainingPort } from "../../engine/training-port.ts";
import { shareFloats } from "../../onnx/memory.ts";
import type { Base } from "../../policy/base.ts";
import { Random, seedAt } from "../../random.ts";
import { drawErrandBatch, ERRAND_LENGTH, ERRAND_ROWS } from "./errands.ts";

const BATCHES = 10; // of an update; what is said to one costs more than a step on it
const POOLS = 2; // the version that is learned from, and the one that comes of it
const ERRANDS = 3_001; // apart from every seed that an update draws with

/** The errands of one version's children, drawn as they are first asked for. */
export class ErrandPool {
  readonly engine: TrainingPort;
  readonly #draw: () => TokenBatch;
  readonly #vocabSize: number;
  readonly #batches: TokenBatch[] = [];
  readonly #saidByBase = new Map<number, Promise<Float32Array>>();

  constructor(engine: TrainingPort, { version, base }: { version: number; base: Pick<Base, "tokenizer" | "config"> }) {
    const random = new Random(seedAt(ERRANDS, version));
    this.engine = engine;
    this.#draw = () => drawErrandBatch(base.tokenizer, random, base.config);
    this.#vocabSize = base.config.vocabSize;
  }

  /** One of ten, which come in turn. */
  batch(step: number): TokenBatch {
    const index = step % BATCHES;
    while (this.#batches.length <= index) this.#batches.push(this.#draw());
    const batch = this.#batches[index];
    invariant(batch !== undefined, "a batch that has been drawn");
    return batch;
  }

  /** Log-probs [N·V] at the positions of a batch, of an adapter or, asked for once, of the base. */
  logProbs(step: number, adapter: string | undefined): Promise<Float32Array> {
    if (adapter !== undefined) return this.#ask(step, adapter);
    const index = step % BATCHES;
    const known = this.#saidByBase.get(index);
    if (known !== undefined) return known;
    const said = this.#ask(index, undefined);
    this.#saidByBase.set(index, said);
    // A call that failed once may not fail again: what it said is not kept.
    said.catch(() => this.#saidByBase.delete(index));
    return said;
  }

  /** Reads all batches, so that an update finds their keys and values. */
  async read(): Promise<void> {
    for (let index = 0; index < BATCHES; index += 1) await this.logProbs(index, undefined);
  }

  async #ask(step: number, adapter: string | undefined): Promise<Float32Array> {
    const batch = this.batch(step);
    if (batch.weights.every((weight) => weight === 0)) return new Float32Array(batch.weights.length * this.#vocabSize);
    const { full } = await this.engine.score(batch, { fullLogProbs: true, ...(adapter === undefined ? {} : { adapter }) });
    invariant(full !== undefined, "whole distributions were asked for");
    return shareFloats(full);
  }
}

/** The pools in use, the least recently used first. Each has keys and values of its own: one that goes takes nothing from another. */
export class ErrandPools {
  readonly #engine: TrainingPort;
  readonly #base: Pick<Base, "tokenizer" | "config">;
  readonly #kept = new Map<number, { readonly pool: ErrandPool; readonly scope: string }>();

  constructor(engine: TrainingPort, base: Pick<Base, "tokenizer" | "config">) {
    this.#engine = engine;
    this.#base = base;
  }

  /** Errands for updates from a version, with or without what was read of them before. */
  async of(version: number): Promise<ErrandPool> {
    const known = this.#kept.get(version);
    if (known !== undefined && keepsWhole(this.#base.config)) {
      this.#kept.delete(version);
      this.#kept.set(version, known);
      return known.pool;
    }
    const scope = this.#free(version);
    const engine = keepApart(this.#engine, scope);
    const pool = new ErrandPool(engine, { version, base: this.#base });
    // Before anything is waited for: who asks meanwhile must not be given the same name.
    this.#kept.set(version, { pool, scope });
    // What is computed must not depend on what happened to be left there.
    await engine.forgetPrefixes();
    return pool;
  }

  /** Reads a version's errands before they are needed, where what is read can be kept. */
  async prepare(version: number): Promise<void> {
    if (keepsWhole(this.#base.config)) await (await this.of(version)).read();
  }

  /** A name for what is kept of a version: a new one, or that of the one used longest ago. */
  #free(version: number): string {
    const [oldest] = this.#kept;
    const given = this.#kept.has(version) ? version : this.#kept.size < POOLS ? undefined : oldest?.[0];
    const scope = (given === undefined ? undefined : this.#kept.get(given)?.scope) ?? `errands.${this.#kept.size}`;
    if (given !== undefined) this.#kept.delete(given);
    return scope;
  }
}

/** The errands of one run of steps, a batch for each. */
export class Errands {
  readonly #pools: ErrandPools;
  readonly #asked: { readonly version: number; readonly parent: string | undefined };
  readonly #said = new Map<TokenBatch, Promise<Float32Array>>();
  #pool: ErrandPool | undefined;
  #step = 0;

  /** @param asked.version that the update goes out from, and the `parent`'s adapter; undefined for the bare base */
  constructor(pools: ErrandPools, asked: { version: number; parent: string | undefined }) {
    this.#pools = pools;
    this.#asked = asked;
  }

  /** Adds the gradient of `weight` · mean over tokens of KL(parent ‖ adapter) on the next batch to the adapter's; returns its value, nats. */
  async accumulate(adapter: string, weight: number): Promise<number> {
    const { version, parent } = this.#asked;
    const pool = (this.#pool ??= await this.#pools.of(version));
    const step = this.#step++;
    const batch = pool.batch(step);
    const { weights: kept, ...positions } = batch;
    const count = kept.reduce((sum, each) => sum + each, 0);
    if (count === 0) return 0;
    const said = this.#said.get(batch) ?? pool.logProbs(step, parent);
    this.#said.set(batch, said);
    const forwardKl = { teacherLogProbs: await said, weights: kept.map((each) => (each * weight) / count) };
    const { losses } = await pool.engine.accumulateAdapter(adapter, { ...positions, forwardKl });
    return losses.forwardKl ?? 0;
  }
}

/** Whether keys and values of all errands of a pool, float32, find room at once: of a part of them nothing could be told in advance. */
function keepsWhole({ layerCount, kvHeadCount, headDim }: ModelConfig): boolean {
  const tokens = BATCHES * ERRAND_ROWS * ERRAND_LENGTH;
  return tokens * layerCount * 2 * kvHeadCount * headDim * Float32Array.BYTES_PER_ELEMENT <= BUDGET_BYTES;
}
