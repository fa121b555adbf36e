/** Generated words share no template with evaluation, and every value can be found in them. */
import { describe, expect, it } from "vitest";
import { EVAL_CORRECTIONS, EVAL_HINTS, EVAL_NOTES } from "../../../bench/phrases.ts";
import { Random } from "../../../trainer/random.ts";
import { readParameters } from "../../../trainer/data/parameters.ts";
import { askFor, replyWith, sayFact, sayOpening } from "../../../trainer/teacher/phrases.ts";
import { makeValue } from "../../../trainer/teacher/values.ts";
import { SEARCH } from "../hotel.ts";

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

describe("generated phrases", () => {
  it("share no template with those of evaluation and benches", () => {
    const random = new Random(1);
    const said = new Set<string>();
    for (let draw = 0; draw < 500; draw += 1)
      for (const parameter of readParameters(SEARCH)) {
        const value = makeValue(parameter, random) ?? "";
        said
          .add(sayFact({ parameter, value }, random))
          .add(replyWith({ parameter, value }, random))
          .add(askFor(parameter, random))
          .add(sayOpening("find a hotel", random));
      }
    const templates = [...EVAL_CORRECTIONS, ...EVAL_HINTS, ...EVAL_NOTES].map(
      (template) => new RegExp(`^${escaped(template).replaceAll("\\{slot\\}", ".+").replaceAll("\\{value\\}", ".+")}$`, "i"),
    );
    expect([...said].filter((sentence) => templates.some((template) => template.test(sentence)))).toEqual([]);
    expect(said.size).toBeGreaterThan(100);
  });

  it("find every value by the words that state it", () => {
    const random = new Random(2);
    for (const parameter of readParameters(SEARCH).filter(({ kind }) => kind !== "boolean"))
      for (let draw = 0; draw < 50; draw += 1) {
        const value = makeValue(parameter, random) ?? "";
        expect(sayFact({ parameter, value }, random).toLowerCase()).toMatch(new RegExp(`${value}|one|two|three`, "i"));
      }
  });
});
