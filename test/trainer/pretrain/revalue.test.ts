/** New values take the place of old ones everywhere at once, in every form in which people say them. */
import { describe, expect, it } from "vitest";
import { Revaluer, revalued } from "../../../trainer/pretrain/revalue.ts";
import type { Dialogue, SgdCall } from "../../../trainer/pretrain/sgd.ts";
import { Random } from "../../../trainer/random.ts";

const FORMS = new Map([
  ["2019-03-01", ["today", "the 1st", "1st of March"]],
  ["2019-03-04", ["next Monday", "the 4th", "4th of March"]],
  ["2019-03-09", ["March 9th"]],
  ["09:30", ["9:30 am"]],
  ["19:30", ["7:30 pm"]],
  ["New Haven", ["New Haven", "NH"]],
]);
const DAYS = [...FORMS.keys()].filter((value) => value.startsWith("2019"));
const CALL: SgdCall = {
  service: "Ferries_1",
  method: "FindFerry",
  parameters: { from: "New Haven", leaving: "2019-03-01", back: "2019-03-04", time: "09:30", bikes: "2" },
  results: [{ from: "New Haven", leaving: "2019-03-01", fare: "12" }],
  result_count: 1,
};
const DIALOGUE: Dialogue = {
  id: "1_00001",
  services: ["Ferries_1"],
  turns: [
    { role: "user", text: "A ferry from NH on the 1st of March at 9:30 am, back the 4th, with 2 bikes. New Haven, I mean.", acts: [] },
    { role: "assistant", text: "Leaving New Haven today at 9:30 am costs 12.", acts: [], calls: [CALL] },
  ],
};
const drawn = Array.from({ length: 200 }, (_, seed) => {
  const random = new Random(seed);
  return revalued(DIALOGUE, new Revaluer({ forms: FORMS }).drawSwap(DIALOGUE, random));
});
const argumentsOf = ({ turns }: Dialogue): Record<string, string> => turns[1]?.calls?.[0]?.parameters ?? {};

describe("Revaluer", () => {
  it("exchanges days among the known ones, in the call, its results and the words, and never one for two", () => {
    const moved = drawn.filter((dialogue) => argumentsOf(dialogue).leaving !== "2019-03-01");
    expect(moved.length).toBeGreaterThan(50);
    for (const dialogue of moved) {
      const { leaving = "", back = "" } = argumentsOf(dialogue);
      expect(DAYS).toContain(leaving);
      expect(DAYS).toContain(back);
      expect(leaving).not.toBe(back);
      expect(dialogue.turns[1]?.calls?.[0]?.results[0]?.leaving).toBe(leaving);
      const [asked] = dialogue.turns;
      expect(FORMS.get(leaving)?.some((form) => asked?.text.includes(`on ${form} at`))).toBe(true);
      expect(FORMS.get(back)?.some((form) => asked?.text.includes(`back ${form},`))).toBe(true);
    }
  });

  it("draws days in their old order and out of it", () => {
    const order = drawn.map((dialogue) => (argumentsOf(dialogue).leaving ?? "") < (argumentsOf(dialogue).back ?? ""));
    expect(new Set(order)).toEqual(new Set([true, false]));
  });

  it("gives a name's short forms its made-up name, too, and leaves numbers alone", () => {
    const renamed = drawn.filter((dialogue) => argumentsOf(dialogue).from !== "New Haven");
    expect(renamed.length).toBeGreaterThan(50);
    for (const dialogue of renamed) {
      const { from = "?", bikes } = argumentsOf(dialogue);
      expect(dialogue.turns[0]?.text).toContain(`from ${from} on`);
      expect(dialogue.turns[0]?.text).not.toMatch(/\bNH\b|New Haven/);
      expect(bikes).toBe("2");
    }
  });
});
