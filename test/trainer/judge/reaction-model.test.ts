/** What words by themselves say of an answer: the features, a model's evidence, its file; and the shipped one, of words that it was not trained on. */
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeSafetensors } from "../../../shared/safetensors.ts";
import { emptyWeights, featuresOf, logSoftmax, ReactionModel, scores } from "../../../trainer/judge/reaction-model.ts";
import { REWARDS } from "../../../trainer/judge/vote.ts";
import { readReactionModel } from "../../../trainer/policy/reaction-file.ts";

describe("featuresOf", () => {
  it("has each word, pair, end and piece once, whatever the case", () => {
    // w:no w:! b:no_! s:no e:! and of " no! " c: " no", "no!", "o! ", " no!", "no! ", " no! "
    expect(featuresOf("No!")).toHaveLength(11);
    expect(featuresOf("no! no!").length).toBeGreaterThan(11);
    expect(featuresOf("NO!")).toEqual(featuresOf("no!"));
    expect(featuresOf("isn’t it")).toEqual(featuresOf("isn't it"));
    expect(featuresOf("")).toHaveLength(2);
  });
});

describe("ReactionModel", () => {
  it("adds up the evidence by the square root of how much there is", () => {
    const weights = emptyWeights();
    const features = featuresOf("No!");
    for (const feature of features) weights[feature * REWARDS.length] = 2;
    const [rejected = 0, neutral, approved] = scores(weights, features);
    expect([rejected, neutral, approved]).toEqual([expect.closeTo((11 * 2) / Math.sqrt(11), 5), 0, 0]);
    expect(new ReactionModel(weights).logProbs("No!")).toEqual(logSoftmax([rejected, 0, 0]));
    expect(new ReactionModel(weights).logProbs("")[1]).toBeCloseTo(Math.log(1 / 3), 5);
  });

  it("comes back from its file, and refuses another", () => {
    const weights = emptyWeights().fill(0.5);
    const model = ReactionModel.read(ReactionModel.write(weights));
    expect(model.logProbs("fine")).toEqual(new ReactionModel(weights).logProbs("fine"));
    expect(() => new ReactionModel(new Float32Array(6))).toThrow("65536 × 3 weights expected, got 6");
    const file = (name: string, shape: number[]): Uint8Array =>
      writeSafetensors(new Map([[name, { shape, values: weights }]]), { type: "F16" });
    const refusal = (got: string): unknown => {
      const message = expect.stringContaining(`a tensor reaction.weight [65536, 3] expected, got ${got}`);
      return expect.objectContaining({ code: "policy/refused", message });
    };
    expect(() => ReactionModel.read(file("other.weight", [65_536, 3]))).toThrow(refusal("none"));
    expect(() => ReactionModel.read(file("reaction.weight", [3, 65_536]))).toThrow(refusal("[3, 65536]"));
  });
});

describe("the shipped reaction model", () => {
  const model = readReactionModel({ folder: "base" });
  const heard = (words: string): number | undefined => {
    const logProbs = model?.logProbs(words) ?? [];
    return REWARDS[logProbs.indexOf(Math.max(...logProbs))];
  };

  it("is of no checkpoint of another size, whose weights may be too many to read", () => {
    const folder = mkdtempSync(join(tmpdir(), "nextstate-large-"));
    const weights = openSync(join(folder, "model.safetensors"), "w");
    ftruncateSync(weights, 5 * 1024 ** 3); // no bytes on the disk
    closeSync(weights);
    expect(readReactionModel({ folder })).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it.each([
    { words: "you nailed it", reward: 1 },
    { words: "Brilliant, cheers!", reward: 1 },
    { words: "im pretty sure thats incorrect", reward: -1 },
    { words: "You completely missed the point.", reward: -1 },
    { words: "how far is that from the station?", reward: 0 },
    { words: "hang on a sec, someone's at the door", reward: 0 },
  ])("hears $words", ({ words, reward }) => {
    expect(heard(words)).toBe(reward);
  });
});
