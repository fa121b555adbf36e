/** The prefix cache's bookkeeping: what is kept, what goes, and that a dead holder does not hold for ever. */
import { describe, expect, it } from "vitest";
import { createKernel } from "../../../edge/kernel/kernel.ts";
import { KvCache, type KvSequence } from "../../../edge/policy/kv-cache.ts";
import { LEASE_IDLE_MS } from "../../../edge/policy/lease.ts";
import { kernelModule } from "../kernel/decode.ts";

const PAGE_BYTES = 4096;
const PAGES = 6;

function createCache(): {
  cache: KvCache;
  clock: { now: number };
  hold: (key: string, tokens: number, weights?: string) => KvSequence | undefined;
} {
  const clock = { now: 0 };
  const cache = new KvCache({
    kernel: createKernel(kernelModule),
    pageBytes: PAGE_BYTES,
    budgetBytes: PAGES * PAGE_BYTES,
    contextTokens: 256,
    now: () => clock.now,
  });
  const hold = (cacheKey: string, tokens: number, weights = "base"): KvSequence | undefined =>
    cache.acquire({ weights, cacheKey, promptTokens: prompt(tokens), capacityTokens: tokens });
  return { cache, clock, hold };
}

function prompt(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

/** What a generation does to a sequence: runs the rest of the prompt, then lets go. */
function run(sequence: KvSequence | undefined, tokens: number): void {
  sequence?.reserve(tokens);
  sequence?.tokens.push(...prompt(tokens).slice(sequence.tokens.length));
  sequence?.release();
}

describe("KvCache", () => {
  it("keeps the longest shared prefix and gives up the rest", () => {
    const { cache, hold } = createCache();
    run(hold("a", 100), 100);
    const promptTokens = [...prompt(70), 999, 998];
    const sequence = cache.acquire({ weights: "base", cacheKey: "a", promptTokens, capacityTokens: 80 });
    expect(sequence).toMatchObject({ reusedTokens: 70, tokens: prompt(70) });
    expect(cache.stats).toMatchObject({ reusedTokens: 70, prefilledTokens: 102 });
  });

  it("always leaves the last prompt token to be run", () => {
    const { hold } = createCache();
    run(hold("a", 100), 100);
    expect(hold("a", 100)?.reusedTokens).toBe(99);
  });

  it("keeps conversations apart, and policies of one conversation", () => {
    const { hold } = createCache();
    run(hold("a", 64), 64);
    expect(hold("b", 64)?.reusedTokens).toBe(0);
    expect(hold("a", 64, "version 1")?.reusedTokens).toBe(0);
  });

  it("keeps of a sequence only what its weights computed, and finds no more than that", () => {
    const { cache, hold } = createCache();
    const hybrid = (keptTokens: number): KvSequence | undefined =>
      cache.acquire({ weights: "base", cacheKey: "a", promptTokens: prompt(100), capacityTokens: 128, keptTokens });
    run(hybrid(90), 120); // an adapter took over at token 90
    const plain = hold("a", 100);
    expect(plain?.reusedTokens).toBe(90);
    run(plain, 100);
    expect(hybrid(70)?.reusedTokens).toBe(70);
  });

  it("finds nothing of an adapter where its holder died instead of letting go", () => {
    const { cache, clock, hold } = createCache();
    const dead = cache.acquire({ weights: "base", cacheKey: "a", promptTokens: prompt(100), capacityTokens: 128, keptTokens: 90 });
    dead?.reserve(120);
    dead?.tokens.push(...prompt(120));
    clock.now += LEASE_IDLE_MS;
    expect(hold("a", 120)?.reusedTokens).toBe(90);
  });

  it("keeps nothing of an answer that was given up before its prefill", () => {
    const { cache, hold } = createCache();
    hold("a", 100)?.release();
    expect(cache.stats.kvSequences).toBe(0);
  });

  it("takes pages as an answer grows, not ahead of it", () => {
    const { cache, hold } = createCache();
    const sequence = hold("a", 256);
    expect(cache.stats.kvBytes).toBe(0);
    sequence?.reserve(65);
    expect(cache.stats.kvBytes).toBe(2 * PAGE_BYTES);
  });

  it("evicts the least recently used conversation when pages run out, and stays within its bound", () => {
    const { cache, hold } = createCache();
    run(hold("old", 128), 128);
    run(hold("new", 128), 128);
    run(hold("old", 128), 128);
    const third = hold("third", 256); // 2 + 2 + 4 pages in a room of 6
    third?.reserve(128);
    expect(cache.stats).toMatchObject({ kvEvictions: 0, kvBytes: PAGES * PAGE_BYTES });
    third?.reserve(256);
    expect(cache.stats).toMatchObject({ kvEvictions: 1, kvBytes: PAGES * PAGE_BYTES });
    expect(hold("old", 128)?.reusedTokens).toBe(127);
  });

  it("promises no page twice: it gives nothing instead, and costs nobody anything", () => {
    const { cache, hold } = createCache();
    const used = hold("used", 256);
    run(hold("idle", 128), 128);
    expect(hold("big", 256)).toBeUndefined();
    expect(cache.stats).toMatchObject({ kvEvictions: 0, kvSequences: 2 });
    expect(hold("idle", 128)?.reusedTokens).toBe(127);
    used?.reserve(256);
    expect(cache.stats.kvBytes).toBe(6 * PAGE_BYTES);
  });

  it("refuses to grow a sequence beyond what was promised", () => {
    const { hold } = createCache();
    expect(() => hold("a", 64)?.reserve(65)).toThrow("at most 1 KV pages expected");
  });

  it("serves a second answer of a conversation in use cold, and forgets it afterwards", () => {
    const { cache, hold } = createCache();
    const first = hold("a", 64);
    const second = hold("a", 64);
    expect(second?.table).not.toBe(first?.table);
    first?.reserve(64);
    run(second, 64);
    expect(cache.stats).toMatchObject({ kvSequences: 1, kvBytes: PAGE_BYTES });
    run(first, 64);
    expect(hold("a", 64)?.reusedTokens).toBe(63);
  });

  it("takes from a holder that was silent too long, who then finds out", () => {
    const { clock, hold } = createCache();
    const dead = hold("dead", 256);
    clock.now += LEASE_IDLE_MS;
    expect(hold("other", 256)).toBeDefined();
    expect(() => dead?.lease.touch()).toThrow("answer read within");
    dead?.release();
    expect(hold("third", 128)).toBeDefined();
  });

  it("hands a silent holder's conversation to the next request without letting the old one release it", () => {
    const { cache, clock, hold } = createCache();
    const dead = hold("a", 64);
    clock.now += LEASE_IDLE_MS;
    const next = hold("a", 128);
    next?.reserve(128);
    dead?.release();
    expect(cache.stats.kvBytes).toBe(2 * PAGE_BYTES);
    expect(() => next?.lease.touch()).not.toThrow();
  });

  it("refuses a budget that cannot hold one context", () => {
    const kernel = createKernel(kernelModule);
    const small = { kernel, pageBytes: PAGE_BYTES, budgetBytes: PAGE_BYTES, contextTokens: 256, now: () => 0 };
    expect(() => new KvCache(small)).toThrow(`at least ${4 * PAGE_BYTES} bytes expected, got ${PAGE_BYTES}`);
  });
});
