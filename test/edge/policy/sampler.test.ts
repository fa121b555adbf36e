/** Choices and log-probs against plain arithmetic on known logits, set directly into the kernel's buffer. */
import { describe, expect, it } from "vitest";
import { randomCheckpoint } from "../../../bench/random-checkpoint.ts";
import type { Decoder } from "../../../edge/policy/decoder.ts";
import { uniform } from "../../../edge/policy/philox.ts";
import { chooseToken, type SamplerSettings } from "../../../edge/policy/sampler.ts";
import { MIN_TEMPERATURE } from "../../../shared/sampling.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { createDecoder } from "../kernel/decode.ts";
import { logSoftmax } from "../kernel/reference-decoder.ts";

const CONFIG: ModelConfig = {
  vocabSize: 6,
  hiddenSize: 32,
  layerCount: 1,
  headCount: 1,
  kvHeadCount: 1,
  headDim: 32,
  intermediateSize: 32,
  contextTokens: 8,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};
const LOGITS = [0.5, 2, -1, 2, 1.25, -3];
const decoder = createDecoder(CONFIG, randomCheckpoint(CONFIG, 1));

function choose(settings: Partial<SamplerSettings>, logits: readonly number[] = LOGITS): ReturnType<typeof chooseToken> {
  setLogits(decoder, logits);
  return chooseToken(decoder, 0, { temperature: 1, topP: 1, topLogProbs: 0, mask: undefined, random: () => 0.5, ...settings });
}

function setLogits(target: Decoder, logits: readonly number[]): void {
  target.logits(0).set(logits);
}

function share(settings: Partial<SamplerSettings>): number[] {
  const draws = 20_000;
  const counts = LOGITS.map(() => 0);
  for (let index = 0; index < draws; index++) {
    const { tokenId } = choose({ ...settings, random: () => uniform(11, index) });
    counts[tokenId] = (counts[tokenId] ?? 0) + 1;
  }
  return counts.map((count) => count / draws);
}

describe("chooseToken", () => {
  it("takes the lowest id among equal largest logits at temperature 0 and reports its log-prob at temperature 1", () => {
    const { tokenId, logProb } = choose({ temperature: 0 });
    expect(tokenId).toBe(1);
    expect(logProb).toBeCloseTo(logSoftmax(LOGITS)[1] ?? NaN, 6);
  });

  it("has finite log-probs down to the lowest temperature, and fails below rather than report others", () => {
    const { tokenId, logProb } = choose({ temperature: MIN_TEMPERATURE }, [0.5, 2, -1, 1, 1.25, -3]);
    expect([tokenId, logProb]).toEqual([1, 0]);
    expect(() => choose({ temperature: 1e-40 })).toThrow(/finite/);
  });

  for (const temperature of [0.3, 1, 1.7]) {
    it(`draws each token as often as its reported log-prob says at temperature ${temperature}`, () => {
      const expected = logSoftmax(LOGITS.map((logit) => logit / temperature));
      // Six standard deviations of a share of 20,000 draws are at most 0.021.
      share({ temperature }).forEach((frequency, id) => expect(Math.abs(frequency - Math.exp(expected[id] ?? NaN))).toBeLessThan(0.021));
      const { tokenId, logProb } = choose({ temperature });
      expect(logProb).toBeCloseTo(expected[tokenId] ?? NaN, 5);
    });
  }

  it("draws under top_p only from the fewest tokens that reach it, and reports the log-prob before truncation", () => {
    // p = 0.373 for ids 1 and 3, 0.176 for id 4: 0.8 needs all three.
    const frequencies = share({ topP: 0.8 });
    expect(frequencies.map((frequency) => frequency > 0)).toEqual([false, true, false, true, true, false]);
    expect(Math.abs((frequencies[4] ?? NaN) - 0.191)).toBeLessThan(0.02);
    const { tokenId, logProb } = choose({ topP: 0.8 });
    expect(logProb).toBeCloseTo(logSoftmax(LOGITS)[tokenId] ?? NaN, 6);
  });

  it("keeps the likeliest token under the smallest top_p", () => {
    expect(share({ topP: 1e-9 })).toEqual([0, 1, 0, 0, 0, 0]);
  });

  it("never draws a masked token and normalises over the others", () => {
    const mask = { kind: "ban", ids: [1, 3] } as const;
    expect(share({ mask }).map((frequency) => frequency > 0)).toEqual([true, false, true, false, true, true]);
    const { tokenId, logProb } = choose({ mask, temperature: 0 });
    expect(tokenId).toBe(4);
    const rest = [0.5, -1, 1.25, -3];
    expect(logProb).toBeCloseTo(logSoftmax(rest)[2] ?? NaN, 6);
  });

  it("gives log-prob 0 to the only allowed token", () => {
    expect(choose({ mask: { kind: "allow", ids: [5] }, topLogProbs: 3 })).toEqual({
      tokenId: 5,
      logProb: 0,
      top: [{ tokenId: 5, logProb: 0 }],
    });
  });

  it("lists alternatives from likely to unlikely, lower ids first among equals", () => {
    const { top } = choose({ topLogProbs: 4 });
    expect(top.map(({ tokenId }) => tokenId)).toEqual([1, 3, 4, 0]);
    top.forEach(({ tokenId, logProb }) => expect(logProb).toBeCloseTo(logSoftmax(LOGITS)[tokenId] ?? NaN, 6));
  });

  it("draws the last possible token when the draw is as close to 1 as it gets", () => {
    expect(choose({ random: () => 1 - 2 ** -53, mask: { kind: "ban", ids: [5] } }).tokenId).toBe(4);
  });

  it("refuses logits that are not numbers", () => {
    expect(() => choose({}, [NaN, NaN, NaN, NaN, NaN, NaN])).toThrow("finite largest logit");
  });
});
