/** Under which names training shows a service. */
import { describe, expect, it } from "vitest";
import { drawNaming, drawShown, type Naming } from "../../../trainer/pretrain/naming.ts";
import type { Service } from "../../../trainer/pretrain/sgd.ts";
import { Random } from "../../../trainer/random.ts";
import { SCHEMAS } from "./dialogue.ts";

const cabins = SCHEMAS.original.get("Cabins_1") as Service;
const paraphrase = SCHEMAS.v1.get("Cabins_1") as Service;

function shown(naming: Naming): Service[] {
  return Array.from({ length: 40 }, (_, seed) => drawShown(cabins, SCHEMAS, naming, new Random(seed)));
}

function namesOf({ slots }: Service): string[] {
  return slots.map(({ name }) => name);
}

describe("drawShown", () => {
  it("shows the data's own names, or those of one paraphrase", () => {
    expect(new Set(shown("original"))).toEqual(new Set([cabins]));
    expect(new Set(shown("paraphrased"))).toEqual(new Set([paraphrase]));
  });

  it("takes the names of one service from several readings, each from the slot's own", () => {
    const drawn = shown("mixed").map(namesOf);
    expect(drawn).toContainEqual(["where", "number_of_beds", "stove"]);
    for (const names of drawn) names.forEach((name, index) => expect([namesOf(cabins)[index], namesOf(paraphrase)[index]]).toContain(name));
  });

  it("makes names up that the data does not have for the slot, and never two of one name", () => {
    const drawn = shown("madeUp").map(namesOf);
    const known = new Set([...namesOf(cabins), ...namesOf(paraphrase)]);
    expect(drawn.flat().filter((name) => !known.has(name)).length).toBeGreaterThan(drawn.flat().length / 2);
    for (const names of drawn) expect(new Set(names).size).toBe(names.length);
  });

  it("keeps slots and intents in order, with their values and what they need", () => {
    for (const naming of ["mixed", "madeUp"] as const)
      for (const { slots, intents } of shown(naming)) {
        expect(slots.map(({ possible_values }) => possible_values)).toEqual(cabins.slots.map(({ possible_values }) => possible_values));
        expect(intents.map(({ required_slots }) => required_slots)).toEqual(cabins.intents.map(({ required_slots }) => required_slots));
      }
  });
});

describe("drawNaming", () => {
  it("draws all four", () => {
    expect(new Set(Array.from({ length: 60 }, (_, seed) => drawNaming(new Random(seed))))).toEqual(
      new Set(["original", "paraphrased", "mixed", "madeUp"]),
    );
  });
});
