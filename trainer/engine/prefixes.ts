/**
 * Keys and values of what precedes an answer. They are the bare base's, whichever adapter the answer is given under
 * (activated LoRA, arXiv:2504.12397), so they are computed once and serve every step, score and answer that goes on from there.
 */
import { at, invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { MASKED } from "../model/attention.ts";
import { cachedKeysOf, cachedValuesOf } from "../model/continued.ts";
import { buildDecodeStep, buildPrefill, keysOf, valuesOf } from "../model/decoding.ts";
import type { ParameterBuffer } from "../model/parameters.ts";
import type { Feeds, Tensor } from "../onnx/session.ts";
import { tensorFeeds } from "./feeds.ts";
import type { SessionCache } from "./session-cache.ts";

/** Tokens whose keys and values are known: per layer [n, J·K], of which the first `tokens.length` rows count. */
export type Prefix = { readonly tokens: Int32Array; readonly keys: readonly Float32Array[]; readonly values: readonly Float32Array[] };

const BUDGET_BYTES = 512 * 1024 * 1024; // most of an update's contexts, at 8 KB per token of the shipped base
const LENGTH_ROUND = 128; // few compiled graphs
const MAX_ROWS = 16;
const MAX_TOKENS = 2_048;
const SHARED = 128; // tokens; for fewer, going on from where two part saves little
const EMPTY: Prefix = { tokens: new Int32Array(0), keys: [], values: [] };

/** What is to be read, and what is known of how it begins. */
type Start = { readonly tokens: Int32Array; readonly head: Prefix | undefined };

type Parts = { readonly config: ModelConfig; readonly parameters: ParameterBuffer; readonly sessions: SessionCache };

export class PrefixStore {
  readonly #parts: Parts;
  /** Least recently used first. */
  readonly #kept = new Set<Prefix>();
  readonly #rooms = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** After the parameters have changed, or where what is computed next must not depend on what was. */
  clear(): void {
    this.#kept.clear();
    this.#rooms.clear();
    this.#bytes = 0;
  }

  /** In the order of `wanted`. What is kept, or begins something kept, is not computed again; what begins alike is computed once. */
  async of(wanted: readonly Int32Array[]): Promise<Prefix[]> {
    const found = wanted.map((tokens) => this.#find(tokens));
    // The longest first: a conversation's earlier turns begin its later ones.
    const missing = wanted.filter((_, index) => found[index] === undefined).toSorted((a, b) => b.length - a.length);
    const distinct = missing.filter((tokens, index) => !missing.slice(0, index).some((longer) => begins(tokens, longer)));
    const computed: Prefix[] = [];
    // Two rounds: of those that begin alike, one is read from its start and the others go on from where they part.
    for (const round of [
      distinct.filter((tokens, index) => !distinct.slice(0, index).some((each) => partAt(tokens, each) >= SHARED)),
      distinct,
    ]) {
      const open = round.filter((tokens) => !computed.some((prefix) => prefix.tokens === tokens));
      const known = [...this.#kept, ...computed];
      const starts = open.map((tokens): Start => ({ tokens, head: longestHead(tokens, known) }));
      const byRest = starts.toSorted((a, b) => restOf(b) - restOf(a));
      while (byRest.length > 0) computed.push(...(await this.#compute(takeGroup(byRest))));
    }
    const result = wanted.map((tokens, index) => {
      const prefix = found[index] ?? computed.map((each) => shorten(each, tokens)).find((each) => each !== undefined);
      invariant(prefix !== undefined, `keys and values of ${tokens.length} tokens expected`);
      return prefix;
    });
    computed.forEach((prefix) => this.#keep(prefix));
    return result;
  }

  /** What `attendAfter` reads: row b goes on after prefixes[b], right-aligned in P slots; rows beyond them after nothing. Good until the next call. */
  feeds(prefixes: readonly Prefix[], { rows, slots }: { rows: number; slots: number }): Feeds {
    const { layerCount, kvHeadCount, headDim } = this.#parts.config;
    const batch = rows * kvHeadCount;
    const mask = new Float32Array(batch * slots).fill(MASKED);
    prefixes.forEach(({ tokens }, row) => {
      for (let line = row * kvHeadCount; line < (row + 1) * kvHeadCount; line += 1)
        mask.fill(0, (line + 1) * slots - tokens.length, (line + 1) * slots);
    });
    const feeds: Record<string, Tensor> = { mask: { values: mask, shape: [batch, 1, slots] } };
    const place = (name: string, of: (prefix: Prefix) => Float32Array): void => {
      const values = this.#room(name, slots * batch * headDim);
      prefixes.forEach((prefix, row) => scatterRow(values, of(prefix), { row, rows, length: prefix.tokens.length, slots }));
      feeds[name] = { values, shape: [slots, batch, headDim] };
    };
    for (let layer = 0; layer < layerCount; layer += 1) {
      place(cachedKeysOf(layer), ({ keys }) => at(keys, layer));
      place(cachedValuesOf(layer), ({ values }) => at(values, layer));
    }
    return feeds;
  }

  /** Of an input, the same memory for every batch: hundreds of megabytes would else be cleared and collected at each step. What is left in it from others is masked. */
  #room(name: string, length: number): Float32Array {
    let room = this.#rooms.get(name);
    if (room === undefined || room.length < length) this.#rooms.set(name, (room = new Float32Array(length)));
    return room.subarray(0, length);
  }

  #find(tokens: Int32Array): Prefix | undefined {
    for (const kept of this.#kept) {
      const prefix = shorten(kept, tokens);
      if (prefix === undefined) continue;
      this.#kept.delete(kept);
      this.#kept.add(kept);
      return prefix;
    }
    return undefined;
  }

  #keep(prefix: Prefix): void {
    this.#kept.add(prefix);
    this.#bytes += bytesOf(prefix);
    for (const oldest of this.#kept) {
      if (this.#bytes <= BUDGET_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
  }

  /** Reads what follows each head, rows padded on the right, where nothing looks. */
  async #compute(group: readonly Start[]): Promise<Prefix[]> {
    const { config, parameters, sessions } = this.#parts;
    const rows = 2 ** Math.ceil(Math.log2(group.length));
    const length = roundUp(Math.max(...group.map(restOf)), LENGTH_ROUND);
    const headTokens = group.map(({ head }) => head?.tokens.length ?? 0);
    const tokens = new Int32Array(length * rows);
    const times = new BigInt64Array(length * rows);
    group.forEach((start, row) => {
      start.tokens.subarray(at(headTokens, row)).forEach((token, time) => (tokens[time * rows + row] = token));
      for (let time = 0; time < length; time += 1)
        times[time * rows + row] = BigInt(Math.min(at(headTokens, row) + time, config.contextTokens - 1));
    });
    const feeds = {
      ...tensorFeeds(parameters),
      tokens: { values: tokens, shape: [tokens.length] },
      times: { values: times, shape: [times.length, 1] },
    };
    const outputs = await this.#run(group, {
      rows,
      length,
      slots: roundUp(Math.max(...headTokens), LENGTH_ROUND),
      feeds,
      sessions,
      config,
    });
    const layers = Array.from({ length: config.layerCount }, (_, layer) => layer);
    return group.map(({ tokens: whole, head }, row) => {
      const part = (name: string, before: readonly Float32Array[] | undefined, layer: number): Float32Array =>
        joinRows(before?.[layer], { headTokens: at(headTokens, row), rest: outputs[name], row, rows, length: whole.length, steps: length });
      return {
        tokens: whole,
        keys: layers.map((layer) => part(keysOf(layer), head?.keys, layer)),
        values: layers.map((layer) => part(valuesOf(layer), head?.values, layer)),
      };
    });
  }

  #run(
    group: readonly Start[],
    {
      rows,
      length,
      slots,
      feeds,
      sessions,
      config,
    }: { rows: number; length: number; slots: number; feeds: Feeds } & Pick<Parts, "sessions" | "config">,
  ): Promise<Record<string, Float32Array>> {
    if (slots === 0) {
      const batch = rows * config.kvHeadCount;
      const mask = { values: new Float32Array(batch * length), shape: [batch, 1, 1, length] };
      return sessions.run(`prefill ${rows} ${length} base`, () => buildPrefill(config, { rows, length }, {}), { ...feeds, mask });
    }
    const heads = group.map(({ head }) => head ?? EMPTY);
    const cached = this.feeds(heads, { rows, slots });
    return sessions.run(`decode ${rows} ${slots} ${length} base`, () => buildDecodeStep(config, { rows, slots, steps: length }, {}), {
      ...feeds,
      ...cached,
    });
  }
}

/** The head's rows [·, J·K] and one row of what followed, [S·B, J·K] → [n, J·K]. */
function joinRows(
  head: Float32Array | undefined,
  {
    headTokens,
    rest,
    row,
    rows,
    length,
    steps,
  }: { headTokens: number; rest: Float32Array | undefined; row: number; rows: number; length: number; steps: number },
): Float32Array {
  invariant(rest !== undefined, "keys and values expected");
  const width = rest.length / (steps * rows);
  const own = new Float32Array(length * width);
  if (head !== undefined) own.set(head.subarray(0, headTokens * width));
  for (let time = headTokens; time < length; time += 1) {
    const from = ((time - headTokens) * rows + row) * width;
    own.set(rest.subarray(from, from + width), time * width);
  }
  return own;
}

/** The first n rows of `own` [·, J·K] → row b of `all` [P, B·J, K], right-aligned. */
export function scatterRow(
  all: Float32Array,
  own: Float32Array,
  { row, rows, length, slots }: { row: number; rows: number; length: number; slots: number },
): void {
  const width = all.length / (slots * rows);
  for (let time = 0; time < length; time += 1)
    all.set(own.subarray(time * width, (time + 1) * width), ((slots - length + time) * rows + row) * width);
}

/** What is known of `tokens` where they begin those of `prefix`. */
function shorten(prefix: Prefix, tokens: Int32Array): Prefix | undefined {
  if (!begins(tokens, prefix.tokens)) return undefined;
  return tokens.length === prefix.tokens.length ? prefix : { ...prefix, tokens };
}

function begins(tokens: Int32Array, longer: Int32Array): boolean {
  return tokens.length <= longer.length && tokens.every((token, index) => token === longer[index]);
}

function bytesOf({ keys, values }: Prefix): number {
  return [...keys, ...values].reduce((sum, each) => sum + each.byteLength, 0);
}

/** Where two lists of tokens part. */
function partAt(tokens: Int32Array, other: Int32Array): number {
  const length = Math.min(tokens.length, other.length);
  for (let index = 0; index < length; index += 1) if (tokens[index] !== other[index]) return index;
  return length;
}

/** The longest beginning of `tokens` that is known, where it is worth going on from; one token is always left to read. */
function longestHead(tokens: Int32Array, known: readonly Prefix[]): Prefix | undefined {
  let best: Prefix | undefined;
  let longest = SHARED - 1;
  for (const prefix of known) {
    const shared = Math.min(partAt(tokens, prefix.tokens), tokens.length - 1);
    if (shared > longest) [best, longest] = [prefix, shared];
  }
  return best === undefined ? undefined : { ...best, tokens: tokens.subarray(0, longest) };
}

function restOf({ tokens, head }: Start): number {
  return tokens.length - (head?.tokens.length ?? 0);
}

/** Takes from the front of `sorted`, the most to read first, as many as one run holds; those with a head go with others that have one. */
function takeGroup(sorted: Start[]): Start[] {
  const [first] = sorted;
  if (first === undefined) return [];
  const most = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_TOKENS / roundUp(restOf(first), LENGTH_ROUND))));
  const group = sorted.filter(({ head }) => (head === undefined) === (first.head === undefined)).slice(0, most);
  for (const start of group) sorted.splice(sorted.indexOf(start), 1);
  return group;
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
