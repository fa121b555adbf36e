/**
 * Keys and values of conversations, in pages of kernel memory, bounded in bytes. A conversation is kept per policy:
 * keys and values of one version are never read under another. The longest prefix that a new prompt shares with what
 * is kept need not be computed again; the rest is given up. Conversations not in use go least recently used first.
 */
import { AppError } from "../../shared/errors.ts";
import { PAGE } from "../kernel/assembly/layout.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type Clock, Lease } from "./lease.ts";

export type KvRequest = {
  readonly policyDigest: string;
  readonly cacheKey: string;
  readonly promptTokens: readonly number[];
  /** Most tokens that the sequence will hold; pages for all of them are set aside. */
  readonly capacityTokens: number;
};

/** A leased conversation: tokens whose keys and values are valid, and where their pages are listed. */
export type KvSequence = {
  readonly table: number;
  readonly tokens: number[];
  readonly lease: Lease;
  readonly reusedTokens: number;
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
    const contextPages = Math.ceil(options.contextTokens / PAGE);
    this.#kernel = options.kernel;
    this.#pageBytes = options.pageBytes;
    this.#maxPages = Math.floor(options.budgetBytes / options.pageBytes);
    this.#tableBytes = contextPages * 4;
    this.#now = options.now;
    if (this.#maxPages < contextPages)
      throw new AppError("policy/refused", `KV budget of at least ${contextPages * options.pageBytes} bytes expected, got ${options.budgetBytes}`);
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

  /** Leases a conversation with room for its answer; undefined while those in use leave too little. */
  acquire(request: KvRequest): KvSequence | undefined {
    const kept = this.#open(request);
    const { lease } = kept;
    // The last prompt token is always computed: its logits choose the first token of the answer.
    const reusedTokens = Math.min(sharedPrefix(kept.tokens, request.promptTokens), request.promptTokens.length - 1);
    if (!this.#resize(kept, Math.ceil(request.capacityTokens / PAGE))) {
      lease.close();
      if (kept.tokens.length === 0) this.#drop(kept);
      return undefined;
    }
    kept.tokens.length = reusedTokens;
    this.#reusedTokens += reusedTokens;
    this.#prefilledTokens += request.promptTokens.length - reusedTokens;
    return { table: kept.table, tokens: kept.tokens, lease, reusedTokens, release: () => this.#release(kept, lease) };
  }

  /** The kept conversation, or an empty one; beside a conversation in use, one of its own that ends with its lease. */
  #open({ policyDigest, cacheKey }: KvRequest): Kept {
    const id = `${policyDigest} ${cacheKey}`;
    const kept = this.#kept.get(id);
    const lease = new Lease(this.#now);
    if (kept !== undefined && !kept.lease.live) {
      kept.lease.revoke();
      kept.lease = lease;
      this.#kept.delete(id);
      this.#kept.set(id, kept);
      return kept;
    }
    const ownId = kept === undefined ? id : `${id} beside ${this.#strangers++}`;
    const table = this.#kernel.heap.allocate(this.#tableBytes);
    const fresh: Kept = { id: ownId, stays: kept === undefined, table, pages: [], tokens: [], lease };
    this.#kept.set(ownId, fresh);
    return fresh;
  }

  #release(kept: Kept, lease: Lease): void {
    if (lease.revoked || kept.lease !== lease) return; // someone else has its pages by now
    lease.close();
    if (kept.stays) this.#resize(kept, Math.ceil(kept.tokens.length / PAGE));
    else this.#drop(kept);
  }

  #drop(kept: Kept): void {
    kept.lease.revoke();
    this.#freePages.push(...kept.pages.splice(0));
    this.#kernel.heap.release(kept.table);
    this.#kept.delete(kept.id);
  }

  /** Gives a conversation exactly `count` pages. @returns whether there were enough */
  #resize(kept: Kept, count: number): boolean {
    this.#freePages.push(...kept.pages.splice(count));
    const missing = count - kept.pages.length;
    if (!this.#makeRoom(missing, kept)) return false;
    while (kept.pages.length < count) kept.pages.push(this.#takePage());
    this.#kernel.words(kept.table, kept.pages.length).set(kept.pages);
    return true;
  }

  #makeRoom(pages: number, asking: Kept): boolean {
    const idle = Array.from(this.#kept.values()).filter((kept) => kept !== asking && !kept.lease.live);
    const reclaimable = idle.reduce((sum, kept) => sum + kept.pages.length, 0);
    if (this.#available() + reclaimable < pages) return false;
    for (const kept of idle) {
      if (this.#available() >= pages) break;
      this.#drop(kept);
      this.#evictions += 1;
    }
    return true;
  }

  #available(): number {
    return this.#freePages.length + this.#maxPages - this.#pageCount;
  }

  #takePage(): number {
    const page = this.#freePages.pop();
    if (page !== undefined) return page;
    this.#pageCount += 1;
    return this.#kernel.heap.allocate(this.#pageBytes);
  }
}

function sharedPrefix(kept: readonly number[], prompt: readonly number[]): number {
  const length = Math.min(kept.length, prompt.length);
  for (let i = 0; i < length; i++) if (kept[i] !== prompt[i]) return i;
  return length;
}
