/**
 * Keys and values of what precedes an answer. They are the bare base's, whichever adapter the answer is given under
 * (activated LoRA, arXiv:2504.12397), so they are computed once and serve every step, score and answer that goes on from there.
 */
import { invariant } from "../../shared/assert.ts";
import { MASKED } from "../model/attention.ts";
import { cachedKeysOf, cachedValuesOf } from "../model/continued.ts";
import { buildDecodeStep, buildPrefill, keysOf, valuesOf } from "../model/decoding.ts";
import { sharedFloats } from "../onnx/memory.ts";
import type { Feeds, Tensor } from "../onnx/session.ts";
import { roundUp } from "./batch.ts";
import { type EngineContext, tensorFeeds } from "./feeds.ts";
import { forwardLayers } from "./layers.ts";
import { type Beginning, begins, bytesOf, gatherRow, partAt, placePrefix, type Prefix, shorten } from "./prefix.ts";
import { together } from "./shares.ts";

// What an update goes back to, its contexts and its errands, at 8 KB per token of the shipped base. They are asked for in turn: a budget a little
// too small for them all would keep none until its turn comes.
export const BUDGET_BYTES = 768 * 1024 * 1024;
// Each size is a compiled graph, but most of what goes on from a known beginning is a sentence.
const LENGTHS = [16, 32] as const;
const LENGTH_ROUND = 64; // beyond them
const SLOT_ROUND = 128;
const MAX_ROWS = 16;
const MAX_TOKENS = 2_048;
const SHARED = 128; // tokens; for fewer, going on from where two part saves little
const EMPTY: Prefix = { tokens: new Int32Array(0), head: undefined, shared: 0, keys: [], values: [] };

/** What is to be read. */
type Start = Beginning & { readonly tokens: Int32Array };

type Parts = Pick<EngineContext, "config" | "base" | "sessions" | "byLayer" | "compute">;

/**
 * By input, the same memory for every batch: hundreds of megabytes would else be cleared and collected at each step. What is left in it from
 * others is masked. One for all stores of an engine, which runs one call at a time: each of its own would hold as much again.
 */
export class PrefixRooms {
  readonly #rooms = new Map<string, Float32Array>();

  take(name: string, length: number): Float32Array {
    let room = this.#rooms.get(name);
    if (room === undefined || room.length < length) this.#rooms.set(name, (room = sharedFloats(length)));
    return room.subarray(0, length);
  }

  clear(): void {
    this.#rooms.clear();
  }
}

export class PrefixStore {
  readonly #parts: Parts;
  readonly #rooms: PrefixRooms;
  /** Least recently used first. */
  readonly #kept = new Set<Prefix>();
  #bytes = 0;

  constructor(parts: Parts, rooms = new PrefixRooms()) {
    this.#parts = parts;
    this.#rooms = rooms;
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
      const starts = open.map((tokens): Start => ({ tokens, ...longestHead(tokens, known) }));
      const byRest = starts.toSorted((a, b) => restOf(b) - restOf(a));
      const { lanes } = this.#parts.sessions;
      while (byRest.length > 0) {
        const groups = takeGroups(byRest, lanes);
        computed.push(...(await together(groups.map((group, lane) => this.#compute(group, lane)))).flat());
      }
    }
    const result = wanted.map((tokens, index) => {
      const prefix = found[index] ?? computed.map((each) => shorten(each, tokens)).find((each) => each !== undefined);
      invariant(prefix !== undefined, `keys and values of ${tokens.length} tokens expected`);
      return prefix;
    });
    computed.forEach((prefix) => this.#keep(prefix));
    return result;
  }

  /**
   * What `attendAfter` reads: row b goes on after prefixes[b], right-aligned in P slots; rows beyond them after nothing. Good until
   * the next call with the same `lane`, of those that are run at once.
   */
  feeds(prefixes: readonly Prefix[], { rows, slots, lane = 0 }: { rows: number; slots: number; lane?: number }): Feeds {
    const { layerCount, kvHeadCount, headDim } = this.#parts.config;
    const batch = rows * kvHeadCount;
    const mask = new Float32Array(batch * slots).fill(MASKED);
    prefixes.forEach(({ tokens }, row) => {
      for (let line = row * kvHeadCount; line < (row + 1) * kvHeadCount; line += 1)
        mask.fill(0, (line + 1) * slots - tokens.length, (line + 1) * slots);
    });
    const feeds: Record<string, Tensor> = { mask: { values: mask, shape: [batch, 1, slots] } };
    const place = (name: string, part: "keys" | "values", layer: number): void => {
      const values = this.#rooms.take(`${lane} ${name}`, slots * batch * headDim);
      prefixes.forEach((prefix, row) => placePrefix(values, prefix, { part, layer, row, slots, end: slots, kvHeadCount, headDim }));
      feeds[name] = { values, shape: [batch, slots, headDim] };
    };
    for (let layer = 0; layer < layerCount; layer += 1) {
      place(cachedKeysOf(layer), "keys", layer);
      place(cachedValuesOf(layer), "values", layer);
    }
    return feeds;
  }

  #find(tokens: Int32Array): Prefix | undefined {
    for (const kept of this.#kept) {
      const prefix = shorten(kept, tokens);
      if (prefix === undefined) continue;
      this.#touch(kept);
      return prefix;
    }
    return undefined;
  }

  /** A head is always younger than what goes on from it, so that it is given up last. */
  #touch(prefix: Prefix): void {
    if (!this.#kept.delete(prefix)) this.#bytes += bytesOf(prefix);
    this.#kept.add(prefix);
    if (prefix.head !== undefined) this.#touch(prefix.head);
  }

  #keep(prefix: Prefix): void {
    this.#touch(prefix);
    for (const oldest of this.#kept) {
      if (this.#bytes <= BUDGET_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
  }

  /** Reads what follows each head, rows padded on the right, where nothing looks. */
  async #compute(group: readonly Start[], lane: number): Promise<Prefix[]> {
    const { config } = this.#parts;
    const length = lengthFor(Math.max(...group.map(restOf)));
    const rows = group.length;
    const tokens = new Int32Array(length * rows);
    const times = new BigInt64Array(length * rows);
    group.forEach((start, row) => {
      start.tokens.subarray(start.shared).forEach((token, time) => (tokens[time * rows + row] = token));
      for (let time = 0; time < length; time += 1)
        times[time * rows + row] = BigInt(Math.min(start.shared + time, config.contextTokens - 1));
    });
    const feeds = { tokens: { values: tokens, shape: [tokens.length] }, times: { values: times, shape: [times.length, 1] } };
    const slots = roundUp(Math.max(...group.map(({ shared }) => shared)), SLOT_ROUND);
    const outputs = await this.#read(group, { rows, length, slots, lane, feeds });
    const layers = Array.from({ length: config.layerCount }, (_, layer) => layer);
    return group.map((start, row) => {
      const part = (name: string): Float32Array => gatherRow(outputs[name], { ...config, row, rows, length: restOf(start) });
      return {
        ...start,
        keys: layers.map((layer) => part(keysOf(layer))),
        values: layers.map((layer) => part(valuesOf(layer))),
      };
    });
  }

  /** Every layer's keys and values [T·B, J·K]. */
  async #read(
    group: readonly Start[],
    { rows, length, slots, lane, feeds }: { rows: number; length: number; slots: number; lane: number; feeds: Feeds },
  ): Promise<Record<string, Float32Array>> {
    const { config, base, sessions, byLayer } = this.#parts;
    const heads = group.map(({ tokens, head, shared }) => ({ ...(head ?? EMPTY), tokens: tokens.subarray(0, shared) }));
    const cached = slots === 0 ? {} : this.feeds(heads, { rows, slots, lane });
    if (byLayer) {
      const bucket = { rows, length, positions: 0, ...(slots > 0 && { slots }) };
      const pass = { context: this.#parts, bucket, feeds: { ...feeds, ...cached }, adapter: undefined };
      return (await forwardLayers(pass, { caches: true })).cache;
    }
    const all = { ...tensorFeeds(base.buffer), ...feeds };
    if (slots > 0)
      return sessions.run(`decode ${rows} ${slots} ${length} base`, () => buildDecodeStep(config, { rows, slots, steps: length }, {}), {
        ...all,
        ...cached,
      });
    const batch = rows * config.kvHeadCount;
    const mask = { values: new Float32Array(batch * length), shape: [batch, 1, 1, length] };
    return sessions.run(`prefill ${rows} ${length} base`, () => buildPrefill(config, { rows, length }, {}), { ...all, mask });
  }
}

/** The longest beginning of `tokens` that is known, where it is worth going on from; one token is always left to read. */
function longestHead(tokens: Int32Array, known: readonly Prefix[]): Beginning {
  let best: Beginning = { head: undefined, shared: 0 };
  for (const head of known) {
    const shared = Math.min(partAt(tokens, head.tokens), tokens.length - 1);
    if (shared >= SHARED && shared > best.shared) best = { head, shared };
  }
  return best;
}

function restOf({ tokens, shared }: Start): number {
  return tokens.length - shared;
}

/** Takes from the front of `sorted`, the most to read first, what is run at once: for each lane as many as one run holds, or its share of what is left. */
function takeGroups(sorted: Start[], lanes: number): Start[][] {
  const share = Math.ceil(sorted.length / lanes);
  return Array.from({ length: lanes }, () => takeGroup(sorted, share)).filter((group) => group.length > 0);
}

/** Those with a head go with others that have one. */
function takeGroup(sorted: Start[], most: number): Start[] {
  const [first] = sorted;
  if (first === undefined) return [];
  const count = Math.min(most, mostRows(restOf(first)));
  const group = sorted.filter(({ head }) => (head === undefined) === (first.head === undefined)).slice(0, count);
  for (const start of group) sorted.splice(sorted.indexOf(start), 1);
  return group;
}

/** Rows of one run that reads `tokens` of each. */
function mostRows(tokens: number): number {
  return Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_TOKENS / lengthFor(tokens))));
}

function lengthFor(tokens: number): number {
  return LENGTHS.find((length) => length >= tokens) ?? roundUp(tokens, LENGTH_ROUND);
}
