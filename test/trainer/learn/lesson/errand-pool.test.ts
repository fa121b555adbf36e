/** Errands by version: the same ones whoever asks, read ahead or as an update goes, and read once. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linearNames } from "../../../../shared/lora.ts";
import { Engine } from "../../../../trainer/engine/engine.ts";
import type { TrainingPort } from "../../../../trainer/engine/training-port.ts";
import { ErrandPools, Errands } from "../../../../trainer/learn/lesson/errand-pool.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";

const base = readCheckpoint("base");

describe("ErrandPools", () => {
  let engine: Engine;
  let asked: { scope: string | undefined; adapter: string | undefined }[];
  let forgotten: (string | undefined)[];

  beforeAll(async () => {
    engine = await Engine.start({ config: base.config, threads: 2 });
    await engine.loadCheckpoint("base");
    const { tokenizer } = base;
    await engine.createAdapter("candidate", { rank: 2, alpha: 4, targets: linearNames(), invocation: tokenizer.invocation, seed: 1 });
    const { tensors, ...rest } = await engine.readAdapter("candidate");
    const moved = [...tensors].map(([name, values]) => [name, values.map((value) => value + 0.05)] as const);
    await engine.loadAdapter("candidate", { ...rest, tensors: new Map(moved) });
  });
  afterAll(() => engine.close());

  /** The engine, with what is asked of it on record. */
  function listening(): TrainingPort {
    asked = [];
    forgotten = [];
    return {
      capabilities: engine.capabilities,
      createAdapter: (...args) => engine.createAdapter(...args),
      loadAdapter: (...args) => engine.loadAdapter(...args),
      readAdapter: (...args) => engine.readAdapter(...args),
      dropAdapter: (...args) => engine.dropAdapter(...args),
      stepAdapter: (...args) => engine.stepAdapter(...args),
      generate: (...args) => engine.generate(...args),
      accumulateAdapter: (...args) => engine.accumulateAdapter(...args),
      score: (batch, options = {}) => {
        asked.push({ scope: options.scope, adapter: options.adapter });
        return engine.score(batch, options);
      },
      forgetPrefixes: (options = {}) => {
        forgotten.push(options.scope);
        return engine.forgetPrefixes(options);
      },
    };
  }

  async function twoLosses(pools: ErrandPools, version: number): Promise<number[]> {
    const errands = new Errands(pools, { version, parent: undefined });
    return [await errands.accumulate("candidate", 1), await errands.accumulate("candidate", 1)];
  }

  it("gives a version's updates the same errands, to the bit, whether they were read ahead or not", async () => {
    const unprepared = await twoLosses(new ErrandPools(listening(), base), 3);
    expect(asked).toHaveLength(2);
    const pools = new ErrandPools(listening(), base);
    await pools.prepare(3);
    expect(asked).toHaveLength(10);
    expect(await twoLosses(pools, 3)).toEqual(unprepared);
    expect(asked).toHaveLength(10);
    expect(unprepared[0]).toBeGreaterThan(0);
    expect(unprepared[0]).not.toBe(unprepared[1]);
  });

  it("has ten batches for each version, which come in turn", async () => {
    const pool = await new ErrandPools(listening(), base).of(3);
    const steps = Array.from({ length: 60 }, (_, step) => pool.batch(step));
    expect(new Set(steps).size).toBe(10);
    expect(steps.map((batch) => steps.indexOf(batch))).toEqual(steps.map((_, step) => step % 10));
  });

  it("draws others for another version", async () => {
    const pools = new ErrandPools(listening(), base);
    expect(await twoLosses(pools, 4)).not.toEqual(await twoLosses(pools, 3));
  });

  it("keeps two versions' and gives up the one used longest ago, with what was read of it and nothing else", async () => {
    const pools = new ErrandPools(listening(), base);
    const first = await pools.of(0);
    const second = await pools.of(1);
    expect(await pools.of(0)).toBe(first);
    expect(forgotten).toEqual(["errands.0", "errands.1"]);
    await pools.of(2);
    expect(forgotten.slice(2)).toEqual(["errands.1"]);
    expect(await pools.of(0)).toBe(first);
    expect(await pools.of(1)).not.toBe(second);
  });

  it("keeps two apart that are asked for at once", async () => {
    const pools = new ErrandPools(listening(), base);
    await Promise.all([pools.of(0), pools.of(1)]);
    expect(forgotten).toEqual(["errands.0", "errands.1"]);
  });

  it("asks again what could not be answered", async () => {
    const port = listening();
    let fails = 1;
    const once: TrainingPort = {
      ...port,
      score: (...args) => (fails-- > 0 ? Promise.reject(new Error("no memory")) : port.score(...args)),
    };
    const pool = await new ErrandPools(once, base).of(0);
    await expect(pool.logProbs(0, undefined)).rejects.toThrow("no memory");
    expect((await pool.logProbs(0, undefined)).length).toBeGreaterThan(0);
    await pool.logProbs(0, undefined);
    expect(asked).toHaveLength(1);
  });

  it("asks a parent with an adapter anew for every update, the base once", async () => {
    const pool = await new ErrandPools(listening(), base).of(0);
    const [once, again] = [await pool.logProbs(0, undefined), await pool.logProbs(10, undefined)];
    expect(again).toBe(once);
    await pool.logProbs(0, "candidate");
    await pool.logProbs(0, "candidate");
    expect(asked.map(({ adapter }) => adapter)).toEqual([undefined, "candidate", "candidate"]);
  });
});
