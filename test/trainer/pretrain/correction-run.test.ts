/** The correction model: the same weights again from the same seed, and what the shipped one makes of words that it was not trained on, whatever the value. */
import { describe, expect, it } from "vitest";
import { FRAME } from "../../../trainer/judge/framed.ts";
import { ReactionModel } from "../../../trainer/judge/reaction-model.ts";
import { readReactionModel } from "../../../trainer/policy/reaction-file.ts";
import { trainCorrections } from "../../../trainer/pretrain/correction-run.ts";
import { readUnnamed } from "../../../trainer/pretrain/unnamed.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const sgd = { dialogues: [DIALOGUE, { ...DIALOGUE, id: "1_00043" }], schemas: SCHEMAS };
const chanceOf = (model: ReactionModel, frame: string): number => Math.exp(model.logProbs(frame)[0] ?? Number.NEGATIVE_INFINITY);

describe("trainCorrections", () => {
  it("learns, and draws the same again", () => {
    const losses: number[] = [];
    const train = () => trainCorrections(sgd, { examples: 1_500, seed: 1, onStep: (_, loss) => losses.push(loss) });
    const weights = train();
    const mean = (some: readonly number[]): number => some.reduce((sum, each) => sum + each, 0) / some.length;
    expect(mean(losses.slice(-300))).toBeLessThan(0.7 * mean(losses.slice(0, 300)));
    expect(train()).toEqual(weights);
  });
});

describe("readUnnamed", () => {
  it("has wordings of every kind, none twice, each with its place for a value or for the argument's name", () => {
    const wordings = readUnnamed();
    expect(new Set(wordings.map(({ about, said }) => `${about} ${said.toLowerCase()}`)).size).toBe(wordings.length);
    const placed = ({ about, said }: (typeof wordings)[number]): boolean =>
      said.includes(about === "yes" || about === "no" ? "{unit}" : "{value}");
    expect(wordings.filter((each) => !placed(each))).toEqual([]);
    for (const about of ["choice", "count", "name", "time", "yes", "no", "mention"])
      expect(wordings.filter((each) => each.about === about).length).toBeGreaterThanOrEqual(50);
  });

  it("shares no wording with what the evaluation of the shipped model says here", () => {
    const known = new Set(readUnnamed().map(({ said }) => said.toLowerCase()));
    expect([...CORRECTS, ...MENTIONS].filter((said) => known.has(said.toLowerCase()))).toEqual([]);
  });
});

const CORRECTS = [
  "Why on earth {old}? We came as {count}.",
  "oh, {value} would have been nicer than {old}",
  "my mum can only have {value}, change that please",
  "Isn't there {value}? {old} gives me a headache",
  "{old} was a mistake, {value} it must be",
  "you mixed that up, {count} not {old}",
  "for us it's {value} each and every time",
];
const MENTIONS = [
  "Lovely, and what would {value} have cost?",
  "My neighbour Tom has {value} and keeps complaining about it.",
  "good. next, call a plumber for {count} this afternoon",
  "haha {count}, as many as my cousin has cats",
  "is it {value} that most people take?",
  "thanks, {value} suits me well",
];

describe("the shipped model", () => {
  const model = readReactionModel({ folder: "base" }, "correction");
  const filled = (said: string): string =>
    said.replace("{value}", FRAME.choice).replace("{count}", FRAME.count).replace("{old}", FRAME.old);

  it.each(CORRECTS)("hears a correction: %s", (said) => expect(model && chanceOf(model, filled(said))).toBeGreaterThan(0.5));
  it.each(MENTIONS)("hears none: %s", (said) => expect(model && chanceOf(model, filled(said))).toBeLessThan(0.1));
});
