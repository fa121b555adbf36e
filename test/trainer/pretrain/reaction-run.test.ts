/** The reaction model's training: the same weights again from the same seed, better from example to example, of sayings that hold one reward each. */
import { describe, expect, it } from "vitest";
import { ReactionModel } from "../../../trainer/judge/reaction-model.ts";
import { trainReactions } from "../../../trainer/pretrain/reaction-run.ts";
import { readSayings } from "../../../trainer/pretrain/sayings.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const sgd = { dialogues: [DIALOGUE, { ...DIALOGUE, id: "1_00043" }], schemas: SCHEMAS };

describe("trainReactions", () => {
  it("learns, and draws the same again", () => {
    const losses: number[] = [];
    const train = (examples: number) => trainReactions(sgd, { examples, seed: 1, onStep: (_, loss) => losses.push(loss) });
    const weights = train(1_500);
    const mean = (some: readonly number[]): number => some.reduce((sum, each) => sum + each, 0) / some.length;
    expect(mean(losses.slice(-300))).toBeLessThan(0.7 * mean(losses.slice(0, 300)));
    expect(train(1_500)).toEqual(weights);
    const [rejected = 0, , approved = 0] = new ReactionModel(weights).logProbs("Thanks, that is perfect!");
    expect(approved).toBeGreaterThan(rejected);
  });
});

describe("readSayings", () => {
  it("has hundreds of each reward, none twice", () => {
    const sayings = readSayings();
    for (const reward of [-1, 0, 1]) expect(sayings.filter((each) => each.reward === reward).length).toBeGreaterThan(500);
    expect(new Set(sayings.map(({ text }) => text.toLowerCase())).size).toBe(sayings.length);
  });
});
