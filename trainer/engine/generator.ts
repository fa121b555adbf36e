/** Generation with a key/value cache: prompts in batches, one prefill, then one token per row and step. */
import { at, invariant } from "../../shared/assert.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import type { HeldForm } from "../../shared/grammar/answer-form.ts";
import type { Constraint } from "../../shared/grammar/constraint.ts";
import { applyMask } from "../../shared/grammar/token-grammar.ts";
import { activatedFrom } from "../../shared/lora.ts";
import { MASKED } from "../model/attention.ts";
import { buildDecodeStep, buildPrefill } from "../model/decoding.ts";
import type { Bucket } from "../model/forward.ts";
import { Random } from "../random.ts";
import { discard } from "../onnx/memory.ts";
import type { Feeds } from "../onnx/session.ts";
import type { Adapter } from "./adapters.ts";
import { bucketRows, type Group, type Row, takeGroups } from "./answer-rows.ts";
import { expectBelow, expectLength } from "./batch.ts";
import { type EngineContext, adapterKey, tensorFeeds } from "./feeds.ts";
import { logProbsAfter } from "./head.ts";
import { KeyValueCache } from "./key-value-cache.ts";
import { forwardLayers } from "./layers.ts";
import type { Prefix } from "./prefix.ts";
import { BUDGET_BYTES } from "./prefixes.ts";
import { sampleToken } from "./sampling.ts";
import { together } from "./shares.ts";

export type GenerateOptions = {
  readonly prompts: readonly Int32Array[];
  /** Tokens per prompt at most; the end of the context may come first. */
  readonly maxTokens: number;
  readonly stopTokens: readonly number[];
  /** 0 takes the most probable token. */
  readonly temperature: number;
  /** With the prompt's index, decides its draws whatever it is batched with. */
  readonly seed: number;
  /** What each answer is held to, one per prompt; where absent, every token is free. Masked tokens take no part in the distribution. */
  readonly forms?: readonly AskedForm[];
};

/** The form of an answer: its tools, and what the request asks of it. */
export type AskedForm = { readonly tools: readonly ToolDefinition[]; readonly form: HeldForm };

export type Generation = {
  /** With the stop token, where one ended it. */
  readonly tokens: Int32Array;
  /** ln p under the distribution drawn from; at temperature 0, at temperature 1. */
  readonly logProbs: Float32Array;
};

const MAX_CACHE_BYTES = 192 * 1024 * 1024; // of a batch: 24,576 tokens of the shipped base; where it grows it is there twice; activations, where whole prompts are read, take about as much
const MAX_READ_BYTES = BUDGET_BYTES / 2; // what is read before answers are begun is held beside what is kept of it

export class Generator {
  readonly #context: EngineContext;
  readonly #options: GenerateOptions;
  readonly #adapter: Adapter | undefined;

  constructor(context: EngineContext, options: GenerateOptions, adapter: Adapter | undefined) {
    this.#context = context;
    this.#options = options;
    this.#adapter = adapter;
    const { vocabSize, contextTokens } = context.config;
    options.prompts.forEach((prompt, index) => {
      expectBelow(`prompts[${index}]`, prompt, vocabSize);
      if (prompt.length === 0 || prompt.length >= contextTokens)
        throw new AppError("input/invalid", `prompts[${index}]: 1 to ${contextTokens - 1} tokens expected, got ${prompt.length}`);
    });
    if (options.forms !== undefined) expectLength("forms", options.forms.length, options.prompts.length);
    if (!(options.temperature >= 0)) throw new AppError("input/invalid", `temperature: 0 or more expected, got ${options.temperature}`);
  }

  async generate(): Promise<Generation[]> {
    const { prompts, seed } = this.#options;
    const rows = prompts.map((prompt, index): Row => ({
      index,
      prompt,
      random: new Random(seed + Math.imul(index, 0x9e3779b1)),
      tokens: [],
      logProbs: [],
      constraint: this.#constraint(index),
      finished: this.#options.maxTokens < 1,
    }));
    // Rows of like length share a batch: little padding, and all of a batch end near each other.
    const sorted = rows.toSorted((a, b) => a.prompt.length - b.prompt.length);
    const { layerCount, kvHeadCount, headDim } = this.#context.config;
    const { lanes } = this.#context.sessions;
    const tokenBytes = 2 * layerCount * kvHeadCount * headDim * Float32Array.BYTES_PER_ELEMENT;
    const limits = { mostTokens: MAX_CACHE_BYTES / (tokenBytes * lanes), mostRead: MAX_READ_BYTES / tokenBytes, lanes };
    while (sorted.length > 0) await this.#generateGroups(takeGroups(sorted, limits));
    return rows.map(({ tokens, logProbs }) => ({ tokens: Int32Array.from(tokens), logProbs: Float32Array.from(logProbs) }));
  }

  /** As many batches at once as there are lanes: whichever ends makes room for the next. */
  async #generateGroups(groups: readonly Group[]): Promise<void> {
    const wanted = groups.map(({ rows }) => this.#prefixesOf(rows));
    // Of all of them at once, so that what their prompts share is read once, and what is kept does not depend on which group is faster.
    const kept = await this.#context.prefixes.of(wanted.flatMap((each) => each ?? []));
    let next = 0;
    const keptOf = (each: readonly Int32Array[]): Prefix[] => kept.slice(next, (next += each.length));
    const open = groups.map((group, index) => ({ group, kept: wanted[index] && keptOf(wanted[index]) }));
    const work = async (): Promise<void> => {
      try {
        // The longest prompts take longest; what is short comes last, so that no lane waits long for another.
        for (let each = open.pop(); each !== undefined; each = open.pop()) await this.#generateGroup(each.group, each.kept);
      } catch (thrown) {
        open.length = 0; // nothing more is begun
        throw thrown;
      }
    };
    await together(Array.from({ length: this.#context.sessions.lanes }, work));
  }

  /** `kept`: what is known of what precedes each row's opening, where that is the base's to read. */
  async #generateGroup(whole: Group, kept: readonly Prefix[] | undefined): Promise<void> {
    const { config, pool } = this.#context;
    let group = whole;
    const cache = new KeyValueCache(config, { rows: bucketRows(group.rows), pool });
    try {
      let logits = await (kept === undefined ? this.#prefill(group, cache) : this.#open(group, cache, kept));
      while (true) {
        group.rows.forEach((row, index) => this.#extend(row, logits.subarray(index * config.vocabSize, (index + 1) * config.vocabSize)));
        const open = group.rows.filter(({ finished }) => !finished);
        if (open.length === 0) return;
        // Answers differ in length, and the longest would be computed as many times as there were rows.
        if (bucketRows(open) < bucketRows(group.rows)) {
          cache.narrow(
            open.map((row) => group.rows.indexOf(row)),
            bucketRows(open),
          );
          group = { ...group, rows: open };
        }
        logits = await this.#decode(group, cache, ({ tokens }) => tokens.slice(-1));
      }
    } finally {
      cache.close();
    }
  }

  #extend(row: Row, logits: Float32Array): void {
    if (row.finished) return;
    const { maxTokens, stopTokens, temperature } = this.#options;
    const mask = row.constraint?.mask();
    if (mask !== undefined) applyMask(logits, mask);
    const { token, logProb } = sampleToken(logits, { temperature, random: row.random });
    if (!Number.isFinite(logProb))
      throw new AppError("train/nonFinite", `prompts[${row.index}]: a finite log-probability expected, got ${logProb}`);
    row.constraint?.accept(token);
    row.tokens.push(token);
    row.logProbs.push(logProb);
    const room = this.#context.config.contextTokens - row.prompt.length;
    row.finished = stopTokens.includes(token) || row.tokens.length >= Math.min(maxTokens, room);
  }

  #constraint(index: number): Constraint | undefined {
    const asked = this.#options.forms?.[index];
    if (asked === undefined) return undefined;
    const { grammars } = this.#context;
    if (grammars === undefined) throw new AppError("input/invalid", "forms: an engine that was started with a tokenizer expected");
    return grammars.constraint(asked.tools, asked.form);
  }

  /**
   * What precedes each answer's opening, where that is the base's to read: an invocation, and what the template's arguments put behind it.
   * @throws {input/invalid} where the adapter's invocation does not stand as far before the end of every prompt
   */
  #prefixesOf(rows: readonly Row[]): Int32Array[] | undefined {
    const { invocation: own } = this.#context;
    const invocation = this.#adapter === undefined ? own : this.#adapter.invocation;
    const openings = new Set(
      rows.map(({ prompt }) => {
        const start = invocation === undefined ? undefined : activatedFrom(prompt, invocation);
        return start === undefined ? undefined : prompt.length - start;
      }),
    );
    const [opening] = openings;
    if (opening !== undefined && openings.size === 1) return rows.map(({ prompt }) => prompt.subarray(0, prompt.length - opening));
    if (this.#adapter?.invocation === undefined) return undefined;
    throw new AppError(
      "input/invalid",
      `prompts: the adapter's invocation ${this.#adapter.invocation.join()} as far before the end of each expected`,
    );
  }

  /** The logits after every prompt, of which what precedes the opening is known, and the opening alone computed. */
  async #open(group: Group, cache: KeyValueCache, kept: readonly Prefix[]): Promise<Float32Array> {
    const opening = at(group.rows, 0).prompt.length - at(kept, 0).tokens.length;
    cache.begin(kept, group.length - opening);
    return this.#decode(group, cache, ({ prompt }) => [...prompt.subarray(prompt.length - opening)]);
  }

  async #prefill({ rows, length }: Group, cache: KeyValueCache): Promise<Float32Array> {
    const { config, sessions, byLayer } = this.#context;
    const count = bucketRows(rows);
    const tokens = new Int32Array(length * count);
    const times = new BigInt64Array(length * count);
    rows.forEach(({ prompt }, row) => {
      const padding = length - prompt.length;
      prompt.forEach((token, time) => {
        tokens[(padding + time) * count + row] = token;
        times[(padding + time) * count + row] = BigInt(time);
      });
    });
    const mask = this.#mask(rows, { length, slots: length, filled: length });
    const lines = count * config.kvHeadCount;
    const feeds = inputsOf(tokens, times);
    if (byLayer) {
      // What is read alone sees what is read alone, and padding itself.
      const segments = { values: mask.map((value) => (value === 0 ? 1 : 0)), shape: [lines, 1, length] };
      return this.#byLayer({ rows: count, length, positions: 0, packed: true }, { feeds: { ...feeds, segments }, cache });
    }
    const shape = this.#adapter?.shape;
    const outputs = await sessions.run(
      `prefill ${count} ${length} ${adapterKey(shape)}`,
      () => buildPrefill(config, { rows: count, length }, { adapter: shape }),
      { ...this.#weights(), ...feeds, mask: { values: mask, shape: [lines, 1, 1, length] } },
    );
    return takeLogits(outputs, cache, length);
  }

  /** The logits after the next tokens of every row, as many of each. */
  async #decode({ rows, length }: Group, cache: KeyValueCache, next: (row: Row) => readonly number[]): Promise<Float32Array> {
    const { config, sessions, byLayer } = this.#context;
    const count = bucketRows(rows);
    const { slots } = cache;
    const steps = next(at(rows, 0)).length;
    const tokens = new Int32Array(count * steps);
    const times = new BigInt64Array(count * steps);
    rows.forEach((row, index) => {
      const ids = next(row);
      // A finished row computes on, unread; its time must stay inside the rotary table.
      const end = row.finished ? steps : cache.filled - length + row.prompt.length + steps;
      ids.forEach((token, step) => {
        tokens[step * count + index] = token;
        times[step * count + index] = BigInt(end - steps + step);
      });
    });
    const batch = count * config.kvHeadCount;
    const mask = this.#mask(rows, { length, slots, filled: cache.filled });
    const feeds = { ...inputsOf(tokens, times), mask: { values: mask, shape: [batch, 1, slots] }, ...cache.feeds() };
    if (byLayer) return this.#byLayer({ rows: count, length: steps, slots, positions: 0 }, { feeds, cache });
    const shape = this.#adapter?.shape;
    const outputs = await sessions.run(
      `decode ${count} ${slots} ${steps} ${adapterKey(shape)}`,
      () => buildDecodeStep(config, { rows: count, slots, steps }, { adapter: shape }),
      { ...this.#weights(), ...feeds },
    );
    return takeLogits(outputs, cache, steps);
  }

  /** The same a layer at a time; logits up to a constant of each row. */
  async #byLayer(bucket: Bucket, { feeds, cache }: { feeds: Feeds; cache: KeyValueCache }): Promise<Float32Array> {
    const context = this.#context;
    const trail = await forwardLayers({ context, bucket, feeds, adapter: this.#adapter }, { caches: true });
    cache.append(trail.cache, bucket.length);
    return logProbsAfter(context, trail.hidden.subarray(-bucket.rows * context.config.hiddenSize));
  }

  #weights(): Feeds {
    return { ...tensorFeeds(this.#context.base.buffer), ...(this.#adapter ? tensorFeeds(this.#adapter.parameters) : {}) };
  }

  /** [B·J, slots]: a large negative number over the left padding of each row and over slots not yet filled. */
  #mask(rows: readonly Row[], { length, slots, filled }: { length: number; slots: number; filled: number }): Float32Array {
    const { kvHeadCount } = this.#context.config;
    const mask = new Float32Array(bucketRows(rows) * kvHeadCount * slots);
    for (let line = 0; line * slots < mask.length; line += 1) {
      const prompt = rows[Math.floor(line / kvHeadCount)]?.prompt;
      mask.fill(MASKED, line * slots, line * slots + length - (prompt?.length ?? 1));
      mask.fill(MASKED, line * slots + filled, (line + 1) * slots);
    }
    return mask;
  }
}

function inputsOf(tokens: Int32Array, times: BigInt64Array): Feeds {
  return { tokens: { values: tokens, shape: [tokens.length] }, times: { values: times, shape: [times.length, 1] } };
}

/** The logits of a graph's outputs; their keys and values of so many `steps` go into the cache. */
function takeLogits({ logits, ...caches }: Readonly<Record<string, Float32Array>>, cache: KeyValueCache, steps: number): Float32Array {
  invariant(logits !== undefined, "logits expected");
  cache.append(caches, steps);
  discard(caches);
  return logits;
}
