/** What is known of policies' answers to the probes: how far a candidate has come is the same, whether the base's distributions are kept or come in shares. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noiseAdapter } from "../../../bench/attack/drilled.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { ProbedPolicies } from "../../../trainer/gate/probed.ts";
import { drawProbes } from "../../../trainer/gate/probes.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { Random } from "../../../trainer/random.ts";

const PATIENCE_MS = 300_000;
const base = loadBase("base");
let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ config: base.config, threads: 2, tokenizer: base.tokenizerFiles });
  await engine.loadCheckpoint(base.folder);
}, PATIENCE_MS);
afterAll(() => engine.close());

describe("ProbedPolicies", { timeout: PATIENCE_MS }, () => {
  it("tells the same departures whether the base's distributions are kept or come in shares", async () => {
    await engine.loadAdapter("candidate", noiseAdapter(base, { scale: 0.02, random: new Random(1) }));
    let most = 0;
    const counted: Pick<Engine, "generate" | "score"> = {
      generate: (options) => engine.generate(options),
      score: async (batch, options) => {
        const scores = await engine.score(batch, options);
        most = Math.max(most, scores.full?.byteLength ?? 0);
        return scores;
      },
    };
    const probes = drawProbes().filter((_, index) => index % 4 === 0); // some of each kind
    const whole = await new ProbedPolicies({ engine, base, probes }).departures("candidate");
    const keptBytes = 2 ** 19;
    const shares = await new ProbedPolicies({ engine: counted, base, probes }, keptBytes).departures("candidate");
    expect(most).toBeLessThan(4 * keptBytes); // shares are equal in answers, not in tokens, and batches are padded
    expect(shares.map(({ tokens, isSame }) => [tokens, isSame])).toEqual(whole.map(({ tokens, isSame }) => [tokens, isSame]));
    shares.forEach(({ klNats, lostNats }, index) => {
      expect(klNats).toBeCloseTo(whole[index]?.klNats ?? Number.NaN, 3);
      expect(lostNats).toBeCloseTo(whole[index]?.lostNats ?? Number.NaN, 3);
    });
    expect(whole.some(({ isSame }) => !isSame)).toBe(true);
  });
});
