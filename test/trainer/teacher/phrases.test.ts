/** Generated words share no template with evaluation, and every value can be found in them. */
import { describe, expect, it } from "vitest";
import { EVAL_CORRECTIONS, EVAL_HINTS, EVAL_NOTES } from "../../../bench/phrases.ts";
import { Random } from "../../../trainer/random.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { escapeRegExp } from "../../../shared/regexp.ts";
import { mentions } from "../../../shared/speech/mention.ts";
import { isPlain, readParameters } from "../../../shared/speech/parameters.ts";
import { askFor, replyWith, sayFact, sayOpening } from "../../../trainer/teacher/phrases.ts";
import { makeValue } from "../../../trainer/teacher/values.ts";
import { SEARCH } from "../hotel.ts";

const VISIT: ToolDefinition = {
  type: "function",
  function: {
    name: "PlanVisit",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string" },
        arrival_date: { type: "string" },
        leaving_date: { type: "string" },
        arrival_time: { type: "string" },
        room_type: { type: "string", enum: ["Single", "Double"] },
        number_of_rooms: { type: "string" },
        has_wifi: { type: "boolean" },
      },
    },
  },
};

describe("generated phrases", () => {
  it("share no template with those of evaluation and benches", () => {
    const random = new Random(1);
    const said = new Set<string>();
    for (let draw = 0; draw < 500; draw += 1)
      for (const parameter of readParameters(SEARCH)) {
        const value = makeValue(parameter, random) ?? "";
        said
          .add(sayFact({ parameter, value }, random))
          .add(sayFact({ parameter, value }, random, { plain: true }))
          .add(replyWith({ parameter, value }, random))
          .add(askFor(parameter, random))
          .add(sayOpening("find a hotel", random));
      }
    const templates = [...EVAL_CORRECTIONS, ...EVAL_HINTS, ...EVAL_NOTES].map(
      (template) => new RegExp(`^${escapeRegExp(template).replaceAll("\\{slot\\}", ".+").replaceAll("\\{value\\}", ".+")}$`, "i"),
    );
    expect([...said].filter((sentence) => templates.some((template) => template.test(sentence)))).toEqual([]);
    expect(said.size).toBeGreaterThan(100);
  });

  it("find every value by the words that state it", () => {
    const random = new Random(2);
    for (const parameter of readParameters(VISIT))
      for (let draw = 0; draw < 50; draw += 1) {
        const value = makeValue(parameter, random) ?? "";
        const sentence = sayFact({ parameter, value }, random, { plain: draw % 2 === 0 });
        expect({ sentence, found: mentions(sentence, { parameter, value }) }).toEqual({ sentence, found: true });
      }
  });

  it("leave a parameter unnamed only where the value tells which one is meant", () => {
    expect(readParameters(VISIT).map((parameter) => [parameter.name, isPlain(VISIT, parameter)])).toEqual([
      ["city", true],
      ["arrival_date", false],
      ["leaving_date", false],
      ["arrival_time", true],
      ["room_type", true],
      ["number_of_rooms", true],
      ["has_wifi", true],
    ]);
  });
});
