/**
 * The embedded policy: one base in one kernel, adapters beside it, and the conversations' KV caches. Any number of
 * answers under any mix of versions run at once; each gives way to the others every few tokens.
 */
import { z } from "zod";
import { abortedByReader, AppError } from "../../shared/errors.ts";
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { activatedFrom, parseAdapter } from "../../shared/lora.ts";
import { checkEmbeddedShape } from "../../shared/embedded-shape.ts";
import { parseModelConfig } from "../../shared/model-config.ts";
import { Tokenizer, type TokenizerFiles } from "../../shared/tokenizer.ts";
import { createKernel } from "../kernel/kernel.ts";
import { ADAPTER_BUDGET_BYTES } from "./adapter-table.ts";
import { AdapterCache, type AdapterUse } from "./adapters.ts";
import type { CompletionRequest, CompletionStep } from "./completion.ts";
import { Decoder } from "./decoder.ts";
import { generate } from "./generate.ts";
import { KvCache, type KvSequence } from "./kv-cache.ts";
import type { Clock } from "./lease.ts";
import { loadWeights } from "./weights.ts";

/** The files of a base that the policy needs, JSON ones parsed. */
export type BaseFiles = { readonly config: unknown; readonly tokenizer: TokenizerFiles; readonly weights: Uint8Array };

export type PolicyOptions = {
  readonly kernelModule: WebAssembly.Module;
  readonly files: BaseFiles;
  /** Bytes for resident adapters, and for keys and values. An isolate has 128 MB in all. */
  readonly adapterBytes?: number;
  readonly kvBytes?: number;
  readonly now?: Clock;
  readonly pause?: () => Promise<void>;
};

export type PolicyStats = AdapterCache["stats"] & KvCache["stats"] & { readonly generatedTokens: number; readonly memoryBytes: number };

const MIB = 1024 * 1024;
const DEFAULT_KV_BYTES = 48 * MIB;
const FULL_RETRY_MS = 5;

const Limits = z.object({
  maxTokens: z.number().int().min(1),
  temperature: z.number().min(0).max(2),
  topP: z.number().gt(0).max(1),
  seed: z.number().int(),
  topLogProbs: z.number().int().min(0).max(20),
});

/** @throws {policy/refused} for files that do not fit together or that the kernel cannot run */
export function createPolicy(options: PolicyOptions): Policy {
  return new Policy(options);
}

export class Policy {
  readonly tokenizer: Tokenizer;
  readonly contextTokens: number;
  /** No token stands for more bytes of text. */
  readonly longestTokenBytes: number;
  readonly #decoder: Decoder;
  readonly #grammars: AnswerGrammars;
  readonly #adapters: AdapterCache;
  readonly #kv: KvCache;
  readonly #pause: () => Promise<void>;
  #generatedTokens = 0;

  constructor({
    kernelModule,
    files,
    adapterBytes = ADAPTER_BUDGET_BYTES,
    kvBytes = DEFAULT_KV_BYTES,
    now = Date.now,
    pause = nextTask,
  }: PolicyOptions) {
    const config = parseModelConfig(files.config);
    checkEmbeddedShape(config);
    const kernel = createKernel(kernelModule);
    this.tokenizer = new Tokenizer(files.tokenizer);
    this.contextTokens = config.contextTokens;
    this.#grammars = new AnswerGrammars(files.tokenizer, { tokenizer: this.tokenizer, vocabSize: config.vocabSize });
    void this.#grammars.markers; // refuses a tokenizer without them now, not at the first answer
    this.longestTokenBytes = this.#grammars.vocabulary.longestBytes;
    this.#decoder = new Decoder(kernel, loadWeights(kernel, config, files.weights));
    this.#adapters = new AdapterCache({ kernel, config, budgetBytes: adapterBytes, now });
    this.#kv = new KvCache({ kernel, pageBytes: this.#decoder.pageBytes, budgetBytes: kvBytes, contextTokens: config.contextTokens, now });
    this.#pause = pause;
  }

  /** Counters since the isolate started, and what memory holds now. */
  stats(): PolicyStats {
    const memoryBytes = this.#decoder.kernel.exports.memory.buffer.byteLength;
    return { ...this.#adapters.stats, ...this.#kv.stats, generatedTokens: this.#generatedTokens, memoryBytes };
  }

  /**
   * Yields tokens and one end. Ending the iteration early, or the signal, stops the work.
   * @throws {input/invalid} for numbers out of range, {session/aborted} once the signal has fired,
   * {policy/refused} for an adapter that does not fit the base
   */
  async *complete(request: CompletionRequest): AsyncGenerator<CompletionStep, void, void> {
    this.#check(request);
    const adapter = await this.#leaseAdapter(request);
    try {
      const adaptedFrom = adaptedPosition(adapter, request);
      const sequence = await this.#leaseSequence(request, adaptedFrom);
      try {
        yield* this.#generate(request, { adapter, adaptedFrom, sequence });
      } finally {
        sequence.release();
      }
    } finally {
      adapter?.lease.close();
    }
  }

  async *#generate(
    request: CompletionRequest,
    leases: { adapter: AdapterUse | undefined; adaptedFrom: number; sequence: KvSequence },
  ): AsyncGenerator<CompletionStep, void, void> {
    const parts = {
      decoder: this.#decoder,
      grammars: this.#grammars,
      eosId: this.tokenizer.eosId,
      pause: this.#pause,
      ...leases,
    };
    for await (const step of generate(parts, request)) {
      if (step.kind === "token") this.#generatedTokens += 1;
      yield step;
    }
  }

  #check({ promptTokens, ...request }: CompletionRequest): void {
    const limits = Limits.safeParse(request);
    if (!limits.success) throw new AppError("input/invalid", z.prettifyError(limits.error));
    const total = promptTokens.length + request.maxTokens;
    if (promptTokens.length === 0 || total > this.contextTokens)
      throw new AppError(
        "input/invalid",
        `prompt and answer of 2 to ${this.contextTokens} tokens expected, got ${promptTokens.length} + ${request.maxTokens}`,
      );
  }

  async #leaseAdapter({ policyDigest, adapter, readFile, signal }: CompletionRequest): Promise<AdapterUse | undefined> {
    if (adapter === null) return undefined;
    const resident = this.#adapters.acquire(policyDigest);
    if (resident !== undefined) return resident;
    const [config, weights] = await Promise.all([readFile(adapter.configDigest), readFile(adapter.weightsDigest)]);
    const files = { adapterConfig: new TextDecoder().decode(config), adapterModel: weights };
    const parsed = parseAdapter(this.#decoder.model.config, files);
    if (parsed.rank !== adapter.rank || parsed.alpha !== adapter.alpha)
      throw new AppError(
        "policy/refused",
        `adapter of rank ${adapter.rank}, alpha ${adapter.alpha} expected by its manifest, got ${parsed.rank}, ${parsed.alpha}`,
      );
    return this.#untilThere(() => this.#adapters.insert(policyDigest, parsed), signal);
  }

  /** What comes before an adapter acts is the base's, so it is shared by versions; an adapter that acts from the start shares nothing. */
  #leaseSequence({ promptTokens, maxTokens, policyDigest, cacheKey, signal }: CompletionRequest, adaptedFrom: number): Promise<KvSequence> {
    const capacityTokens = promptTokens.length + maxTokens;
    const kept = adaptedFrom === 0 ? { weights: policyDigest } : { weights: "base", keptTokens: adaptedFrom };
    return this.#untilThere(() => this.#kv.acquire({ ...kept, cacheKey, promptTokens, capacityTokens }), signal);
  }

  /**
   * Waits for memory that other answers hold. By asking again rather than by a promise of theirs: a Durable Object
   * cannot rely on being woken by another one.
   */
  async #untilThere<T>(lease: () => T | undefined, signal: AbortSignal | undefined): Promise<T> {
    for (;;) {
      if (signal?.aborted === true) throw abortedByReader(signal.reason);
      const found = lease();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, FULL_RETRY_MS));
    }
  }
}

/** First position that the adapter acts on; beyond every position without one. @throws {policy/refused} for a prompt without its invocation */
function adaptedPosition(adapter: AdapterUse | undefined, { promptTokens, policyDigest }: CompletionRequest): number {
  if (adapter === undefined) return Number.POSITIVE_INFINITY;
  if (adapter.invocation === undefined) return 0;
  const from = activatedFrom(promptTokens, adapter.invocation);
  if (from !== undefined) return from;
  throw new AppError("policy/refused", `a prompt with the invocation ${adapter.invocation.join()} of ${policyDigest} expected, got none`);
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
