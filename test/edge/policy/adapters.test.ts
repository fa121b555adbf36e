/** Adapters held in the kernel: which one goes when room is needed, and that none in use ever does. */
import { describe, expect, it } from "vitest";
import { randomAdapter } from "../../../bench/random-checkpoint.ts";
import { createKernel } from "../../../edge/kernel/kernel.ts";
import { adapterTableBytes } from "../../../edge/policy/adapter-table.ts";
import { AdapterCache } from "../../../edge/policy/adapters.ts";
import { LEASE_IDLE_MS } from "../../../edge/policy/lease.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { kernelModule } from "../kernel/decode.ts";

const CONFIG: ModelConfig = {
  vocabSize: 32,
  hiddenSize: 32,
  layerCount: 1,
  headCount: 1,
  kvHeadCount: 1,
  headDim: 32,
  intermediateSize: 32,
  contextTokens: 64,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};
const ADAPTER = randomAdapter(CONFIG, { seed: 1 });
const BYTES = Math.ceil(adapterTableBytes(CONFIG, ADAPTER) / 64) * 64;

function createCache(adapters = 2): { cache: AdapterCache; clock: { now: number } } {
  const clock = { now: 0 };
  const cache = new AdapterCache({
    kernel: createKernel(kernelModule),
    config: CONFIG,
    budgetBytes: adapters * BYTES,
    now: () => clock.now,
  });
  return { cache, clock };
}

describe("AdapterCache", () => {
  it("finds what was inserted and nothing else", () => {
    const { cache } = createCache();
    const inserted = cache.insert("a", ADAPTER);
    expect(cache.acquire("a")?.table).toBe(inserted?.table);
    expect(cache.acquire("b")).toBeUndefined();
    expect(cache.insert("a", ADAPTER)?.table).toBe(inserted?.table);
    expect(cache.stats.adapterCount).toBe(1);
  });

  it("evicts the least recently used and stays within its bound", () => {
    const { cache } = createCache();
    for (const digest of ["a", "b"]) cache.insert(digest, ADAPTER)?.lease.close();
    cache.acquire("a")?.lease.close();
    cache.insert("c", ADAPTER)?.lease.close();
    expect(cache.acquire("b")).toBeUndefined();
    expect(cache.acquire("a")).toBeDefined();
    expect(cache.stats).toEqual({ adapterBytes: 2 * BYTES, adapterCount: 2, adapterEvictions: 1 });
  });

  it("never evicts one in use, by however many", () => {
    const { cache } = createCache(1);
    const first = cache.insert("a", ADAPTER);
    const second = cache.acquire("a");
    first?.lease.close();
    expect(cache.insert("b", ADAPTER)).toBeUndefined();
    second?.lease.close();
    expect(cache.insert("b", ADAPTER)).toBeDefined();
  });

  it("takes from a holder that was silent too long, who then finds out", () => {
    const { cache, clock } = createCache(1);
    const dead = cache.insert("a", ADAPTER);
    clock.now += LEASE_IDLE_MS;
    expect(cache.insert("b", ADAPTER)).toBeDefined();
    expect(() => dead?.lease.touch()).toThrow("answer read within");
  });

  it("refuses an adapter that never fits, and one with a rank above the kernel's room, and keeps its memory", () => {
    const { cache } = createCache(1);
    expect(() => cache.insert("big", randomAdapter(CONFIG, { seed: 1, rank: 64 }))).toThrow("bytes expected");
    const roomy = createCache(100).cache;
    expect(() => roomy.insert("deep", randomAdapter(CONFIG, { seed: 1, rank: 257 }))).toThrow("rank of at most 256 expected, got 257");
    expect(roomy.stats.adapterBytes).toBe(0);
  });
});
