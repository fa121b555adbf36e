/** What an errand's calls hold was said before, and its schemas leave no two things under one name. */
import { describe, expect, it } from "vitest";
import { writtenForms } from "../../../shared/speech/spoken.ts";
import { drawErrand } from "../../../trainer/pretrain/errand.ts";
import { Vocabulary } from "../../../trainer/pretrain/errand-tools.ts";
import { bySpeech } from "../../../trainer/pretrain/guidance.ts";
import { spokenValue } from "../../../trainer/pretrain/values.ts";
import { Random } from "../../../trainer/random.ts";

const FORMS = new Map([
  ["2019-03-02", ["tomorrow", "this Saturday"]],
  ["2019-03-04", ["next Monday", "the 4th"]],
  ["18:00", ["6 pm", "6 in the evening"]],
]);
const VALUES = new Map([["city", ["Elm Bay", "Port Ash"]]]);
const vocabulary = new Vocabulary({ values: VALUES, forms: FORMS, asides: [] }, [["Compact", "Large"]]);
const errands = Array.from({ length: 150 }, (_, seed) => drawErrand(vocabulary, FORMS, new Random(seed)));

function formsOf(value: string): string[] {
  const drawnForms = Array.from({ length: 30 }, (_, seed) => spokenValue(value, new Random(seed)));
  return [...writtenForms(value), ...(FORMS.get(value) ?? []), ...drawnForms].map((form) => form.toLowerCase());
}

describe("drawErrand", () => {
  it("calls with nothing that nobody has said, in one of its forms", () => {
    let calls = 0;
    for (const { conversation } of errands)
      for (const [at, step] of conversation.steps.entries()) {
        if (step.kind !== "call") continue;
        calls++;
        const before = conversation.steps.slice(0, at).flatMap((each) => ("text" in each ? [each.text.toLowerCase()] : []));
        const { silent, stated } = bySpeech(conversation.steps, at, step);
        expect(silent.filter(({ slot }) => step.values[slot] !== undefined)).toEqual([]);
        for (const [slot, value] of Object.entries(step.values)) {
          expect(stated.map((parameter) => parameter.slot)).toContain(slot);
          if (value !== "True" && value !== "False")
            expect({ value, said: formsOf(value).some((form) => before.some((text) => text.includes(form))) }).toEqual({
              value,
              said: true,
            });
        }
      }
    expect(calls).toBeGreaterThan(errands.length);
  });

  it("fills every required parameter, and calls only tools that are shown, by parameters that they have", () => {
    for (const { conversation } of errands) {
      const shown = new Map(conversation.tools.map(({ function: tool }) => [tool.name, tool.parameters]));
      expect(shown.size).toBe(conversation.tools.length);
      for (const step of conversation.steps) {
        if (step.kind !== "call") continue;
        expect(Object.keys(shown.get(step.tool.name)?.properties ?? {})).toEqual(step.tool.parameters.map(({ name }) => name));
        expect(new Set(step.tool.parameters.map(({ slot }) => slot)).size).toBe(step.tool.parameters.length);
        for (const { slot, required } of step.tool.parameters) if (required) expect(Object.keys(step.values)).toContain(slot);
      }
    }
  });

  it("knows other values for what guidance might name", () => {
    for (const { conversation, values } of errands)
      for (const step of conversation.steps)
        if (step.kind === "call") for (const { slot } of step.tool.parameters) expect(values.get(slot)?.length).toBeGreaterThan(0);
  });

  it("tells the day wherever a call has a date", () => {
    const dated = errands.filter(({ conversation }) =>
      conversation.steps.some((step) => step.kind === "call" && Object.values(step.values).some((value) => value.startsWith("2019-"))),
    );
    expect(dated.length).toBeGreaterThan(20);
    for (const { conversation } of dated) expect(conversation.system).toContain("2019-03-01");
  });
});
