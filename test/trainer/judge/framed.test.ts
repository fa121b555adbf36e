/** Words with the value taken out: the same frame whatever the value is, and in whatever form it is said. */
import { describe, expect, it } from "vitest";
import { parameterOf } from "../../../shared/speech/parameters.ts";
import { framed } from "../../../trainer/judge/framed.ts";

const frame = (said: string, name: string, value: string, held?: string): string =>
  framed(said, { parameter: parameterOf(name), value, held });

describe("framed", () => {
  it.each([
    ["Not the small one, Large!", "size", "large", "small", "Not the xoldx one, xvaluex!"],
    ["why only 2? there's six of us", "party_size", "6", "2", "why only xoldx? there's xvaluecountx of us"],
    ["Make that size medium; I wear 38 anyway.", "size", "medium", undefined, "Make that xunitx xvaluex; I wear xnumberx anyway."],
    ["blue/green, not 5 pm", "mode", "blue_green", undefined, "blue/green, not xnumberx pm"],
    ["In blue green please", "mode", "blue_green", undefined, "In xvaluex please"],
    ["Can we do 5 pm?", "start_time", "17:00", "09:00", "Can we do xvaluetimex?"],
    ["Euros! She lives in Graz.", "currency", "EUR", "USD", "xvaluex! She lives in Graz."],
    ["(a+b)* is what I meant", "pattern", "(a+b)*", undefined, "xvaluex is what I meant"],
  ])("%j of %s = %s, was %s", (said, name, value, held, expected) => expect(frame(said, name, value, held)).toBe(expected));

  it("leaves a truth to the words for its argument", () => {
    const parameter = { ...parameterOf("breakfast_included"), kind: "boolean" as const };
    expect(framed("No breakfast for me.", { parameter, value: "False", held: "True" })).toBe("No xunitx for me.");
  });
});
