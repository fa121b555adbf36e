/** Values and asides come from the data, and no aside could be taken for a slot or a value. */
import { describe, expect, it } from "vitest";
import { readLexicon } from "../../../trainer/pretrain/lexicon.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const { values, asides, forms } = readLexicon({ dialogues: [DIALOGUE, DIALOGUE, DIALOGUE], schemas: SCHEMAS });

describe("readLexicon", () => {
  it("knows the values of a slot over all calls, once each", () => {
    expect(values.get("valley")).toEqual(["Alder Valley"]);
    expect(values.get("number_of_beds")).toEqual(["1", "2"]);
  });

  it("takes asides of at most three words from what was said, without words of slots and values", () => {
    const said = DIALOGUE.turns.map(({ text }) => text).join("\n");
    expect(asides.length).toBeGreaterThan(3);
    for (const aside of asides) {
      expect(said).toContain(aside);
      expect(aside.split(" ").length).toBeLessThanOrEqual(3);
      expect(aside).not.toMatch(/valley|beds|stove|alder|\b(one|two|no|yes)\b/i);
    }
  });

  it("knows how people say a value that a call has, leaving out what was said only once or twice", () => {
    expect(forms.get("2")).toEqual(["2"]);
    expect(forms.get("Alder Valley")).toEqual(["Alder Valley"]);
    expect(readLexicon({ dialogues: [DIALOGUE], schemas: SCHEMAS }).forms.size).toBe(0);
    // The call is made in the turn that first offers one bed.
    expect(forms.get("1")).toBeUndefined();
  });
});
