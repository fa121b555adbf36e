/**
 * Keys and values of conversations, in pages of kernel memory, bounded in bytes. What different weights computed is kept
 * apart: what the base computed serves every version that goes on from there, keys and values of an adapter no other.
 * The longest prefix that a new prompt shares with what is kept need not be computed again; the rest is given up. An
 * answer is let in when all that it may come to need is sure to be there; pages are taken as it grows, and conversations
 * not in use go then, least recently used first.
 */
import { invariant } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import { PAGE } from "../kernel/assembly/layout.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type Clock, Lease } from "./lease.ts";

export type KvRequest = {
  /** Names the weights that compute what is kept. */
  readonly weights: string;
  readonly cacheKey: string;
  readonly promptTokens: readonly number[];
  /** How many of the sequence's first tokens are computed by those weights; the rest is neither found nor left behind. All where absent. */
  readonly keptTokens?: number | undefined;
  /** Most tokens that the sequence will hold. */
  readonly capacityTokens: number;
};

/** A leased conversation: tokens whose keys and values are valid, and where their pages are listed. */
export type KvSequence = {
  readonly table: number;
  readonly tokens: number[];
  readonly lease: Lease;
  readonly reusedTokens: number;
  /** Makes room for that many tokens in all, up to the capacity asked for. Views of the memory may be detached. */
  reserve(tokenCount: number): void;
  release(): void;
};

type Kept = {
  readonly id: string;
  /** Whether it stays after its lease for the conversation's next turn. */
  readonly stays: boolean;
  readonly table: number;
  readonly pages: number[];
  readonly tokens: number[];
  lease: Lease;
  /** Of the tokens, how many may stay when the lease ends. */
  keptTokens: number;
  /** Pages that the lease may come to fill. */
  promisedPages: number;
};

export class KvCache {
  readonly #kernel: Kernel;
  readonly #pageBytes: number;
  readonly #maxPages: number;
  readonly #tableBytes: number;
  readonly #now: Clock;
  readonly #freePages: number[] = [];
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #pageCount = 0;
  #strangers = 0;
  #evictions = 0;
  #reusedTokens = 0;
  #prefilledTokens = 0;

  /** @throws {policy/refused} for a budget that holds less than one whole context */
  constructor(options: { kernel: Kernel; pageBytes: number; budgetBytes: number; contextTokens: number; now: Clock }) {
    const contextPages = toPages(options.contextTokens);
    this.#kernel = options.kernel;
    this.#pageBytes = options.pageBytes;
    this.#maxPages = Math.floor(options.budgetBytes / options.pageBytes);
    this.#tableBytes = contextPages * 4;
    this.#now = options.now;
    if (this.#maxPages < contextPages)
      throw new AppError(
        "policy/refused",
        `KV budget of at least ${contextPages * options.pageBytes} bytes expected, got ${options.budgetBytes}`,
      );
  }

  get stats(): { reusedTokens: number; prefilledTokens: number; kvEvictions: number; kvBytes: number; kvSequences: number } {
    return {
      reusedTokens: this.#reusedTokens,
      prefilledTokens: this.#prefilledTokens,
      kvEvictions: this.#evictions,
      kvBytes: (this.#pageCount - this.#freePages.length) * this.#pageBytes,
      kvSequences: this.#kept.size,
    };
  }

  /** Leases a conversation; undefined while those in use may come to need the room that its answer may need. */
  acquire(request: KvRequest): KvSequence | undefined {
    const promisedPages = toPages(request.capacityTokens);
    if (!this.#canPromise(promisedPages)) return undefined;
    const kept = this.#open(request);
    const { lease, tokens, table } = kept;
    // The last prompt token is always computed: its logits choose the first token of the answer.
    const { keptTokens = Number.POSITIVE_INFINITY } = request;
    const reusedTokens = Math.min(sharedPrefix(tokens, request.promptTokens), request.promptTokens.length - 1, keptTokens);
    kept.promisedPages = promisedPages;
    kept.keptTokens = keptTokens;
    tokens.length = reusedTokens;
    this.#trim(kept);
    this.#reusedTokens += reusedTokens;
    this.#prefilledTokens += request.promptTokens.length - reusedTokens;
    return {
      table,
      tokens,
      lease,
      reusedTokens,
      reserve: (tokenCount) => this.#grow(kept, toPages(tokenCount)),
      release: () => this.#release(kept, lease),
    };
  }

  /** Whether this many pages are sure to be there; holders that were silent too long lose theirs if that helps. */
  #canPromise(pages: number): boolean {
    const room = (): number => this.#maxPages - Array.from(this.#kept.values()).reduce((sum, kept) => sum + kept.promisedPages, 0);
    if (room() >= pages) return true;
    for (const kept of this.#kept.values()) if (kept.promisedPages > 0 && !kept.lease.live) this.#drop(kept);
    return room() >= pages;
  }

  /** The kept conversation, or an empty one; beside a conversation in use, one of its own that ends with its lease. */
  #open({ weights, cacheKey }: KvRequest): Kept {
    const id = `${weights} ${cacheKey}`;
    const kept = this.#kept.get(id);
    const lease = new Lease(this.#now);
    if (kept !== undefined && !kept.lease.live) {
      kept.lease.revoke();
      kept.lease = lease;
      forgetRest(kept); // a holder that died has not
      this.#kept.delete(id);
      this.#kept.set(id, kept);
      return kept;
    }
    const ownId = kept === undefined ? id : `${id} beside ${this.#strangers++}`;
    const table = this.#kernel.heap.allocate(this.#tableBytes);
    const keptTokens = Number.POSITIVE_INFINITY;
    const fresh: Kept = { id: ownId, stays: kept === undefined, table, pages: [], tokens: [], lease, keptTokens, promisedPages: 0 };
    this.#kept.set(ownId, fresh);
    return fresh;
  }

  #release(kept: Kept, lease: Lease): void {
    if (lease.revoked || kept.lease !== lease) return; // someone else has its pages by now
    lease.close();
    kept.promisedPages = 0;
    forgetRest(kept);
    // An answer that was given up before its prefill leaves nothing worth keeping.
    if (kept.stays && kept.tokens.length > 0) this.#trim(kept);
    else this.#drop(kept);
  }

  #drop(kept: Kept): void {
    kept.lease.revoke();
    this.#freePages.push(...kept.pages.splice(0));
    this.#kernel.heap.release(kept.table);
    this.#kept.delete(kept.id);
  }

  /** Gives up the pages behind the last valid token. */
  #trim(kept: Kept): void {
    this.#freePages.push(...kept.pages.splice(toPages(kept.tokens.length)));
  }

  #grow(kept: Kept, count: number): void {
    invariant(count <= kept.promisedPages, `at most ${kept.promisedPages} KV pages expected for ${kept.id}, got ${count}`);
    if (kept.pages.length >= count) return;
    while (kept.pages.length < count) kept.pages.push(this.#takePage());
    this.#kernel.words(kept.table, kept.pages.length).set(kept.pages);
  }

  #takePage(): number {
    if (this.#freePages.length === 0 && this.#pageCount === this.#maxPages) this.#evict();
    const page = this.#freePages.pop();
    if (page !== undefined) return page;
    this.#pageCount += 1;
    return this.#kernel.heap.allocate(this.#pageBytes);
  }

  #evict(): void {
    // Promises add up to no more than all pages, so where none is free an idle conversation has some.
    const idle = Array.from(this.#kept.values()).find((kept) => kept.promisedPages === 0 && kept.pages.length > 0);
    invariant(idle !== undefined, "an idle conversation with KV pages expected, got none");
    this.#drop(idle);
    this.#evictions += 1;
  }
}

/** Forgets what other weights than those it is kept under have computed. */
function forgetRest({ tokens, keptTokens }: Kept): void {
  tokens.length = Math.min(tokens.length, keptTokens);
}

function toPages(tokenCount: number): number {
  return Math.ceil(tokenCount / PAGE);
}

function sharedPrefix(kept: readonly number[], prompt: readonly number[]): number {
  const length = Math.min(kept.length, prompt.length);
  for (let i = 0; i < length; i++) if (kept[i] !== prompt[i]) return i;
  return length;
}
