/** Services that training speaks to: what their lines promise each other, and what is drawn from them. */
import { describe, expect, it } from "vitest";
import { DECLINED } from "../../../trainer/pretrain/beside-words.ts";
import { isForNone, wordsOfTools } from "../../../trainer/pretrain/beside.ts";
import { Vocabulary } from "../../../trainer/pretrain/errand-tools.ts";
import { drawCommands } from "../../../trainer/pretrain/command.ts";
import { placesIn, readCommandServices } from "../../../trainer/pretrain/command-services.ts";
import { callArguments } from "../../../trainer/pretrain/conversation.ts";
import { recoded } from "../../../trainer/pretrain/values.ts";
import { Random } from "../../../trainer/random.ts";

const FORMS = new Map([
  ["2019-03-02", ["tomorrow", "this Saturday"]],
  ["18:00", ["6 pm", "6 in the evening"]],
]);
const vocabulary = new Vocabulary({ values: new Map([["city", ["Elm Bay"]]]), forms: FORMS, asides: [] }, [["Compact", "Large"]]);
const services = readCommandServices();
const drawn = Array.from({ length: 300 }, (_, seed) => drawCommands(vocabulary, FORMS, new Random(seed * 7919)));

describe("command-services.jsonl", () => {
  it("has values, questions and answers for all that its requests need", () => {
    const missing = services.flatMap(({ domain, tools, requests, values, asks, answers, done }) =>
      requests.flatMap(({ tool: name, said, set }) => {
        const tool = tools.find((each) => each.name === name);
        const places = placesIn(said);
        const left = (tool?.required ?? [said]).filter((slot) => !places.includes(slot) && !(slot in set));
        const unknown = [...places, ...Object.keys(set)].filter((slot) => tool?.parameters[slot] === undefined);
        const unvalued = [...places, ...left].filter((slot) => (values[slot]?.length ?? 0) === 0);
        const unasked = left.filter((slot) => asks[slot] === undefined || answers[slot] === undefined);
        const faults = { unknown, unvalued, unasked, done: done[name] === undefined ? [name] : [] };
        return Object.values(faults).some((each) => each.length > 0) ? [{ domain, said, ...faults }] : [];
      }),
    );
    expect(missing).toEqual([]);
  });

  it("says a parameter's own questions, answers and corrections of no other one", () => {
    const strange = services.flatMap(({ domain, answers, corrections }) =>
      [answers, corrections].flatMap((sayings) =>
        Object.entries(sayings).flatMap(([slot, texts]) =>
          texts.filter((text) => placesIn(text).some((place) => place !== slot)).map((text) => ({ domain, slot, text })),
        ),
      ),
    );
    expect(strange).toEqual([]);
  });
});

describe("drawCommands", () => {
  it("calls tools that are shown, with every argument that they need, of the type that they say", () => {
    const typesSeen = new Set<string>();
    for (const { conversation } of drawn) {
      const shown = new Map(conversation.tools.map(({ function: tool }) => [tool.name, tool.parameters]));
      expect(shown.size).toBe(conversation.tools.length);
      for (const step of conversation.steps) {
        if (step.kind !== "call") continue;
        expect([...shown.keys()]).toContain(step.tool.name);
        const given = callArguments(step.tool, step.values);
        for (const { slot, name, required, type, options } of step.tool.parameters) {
          if (required) expect(Object.keys(step.values)).toContain(slot);
          const value = given[name];
          if (value === undefined) continue;
          typesSeen.add(type);
          const isOption = type === "boolean" || options.length === 0 || options.includes(String(value));
          expect({ name, type, value, fits: fits(value, type) && isOption }).toEqual({ name, type, value, fits: true });
        }
      }
    }
    expect([...typesSeen].sort()).toEqual(["array", "boolean", "integer", "number", "string"]);
  });

  it("declines what only a service that is not there would do", () => {
    const declined = drawn.flatMap(({ conversation: { steps } }) =>
      steps.flatMap((step, at) => (step.kind === "reply" && (DECLINED as readonly string[]).includes(step.text) ? [steps[at - 1]] : [])),
    );
    expect(declined.length).toBeGreaterThan(40);
    expect(declined.length).toBeLessThan(200);
    expect(declined.every((step) => step?.kind === "user" && step.acts.length === 0 && !step.text.includes("{"))).toBe(true);
  });

  it("declines nothing whose words a tool of the conversation has", () => {
    const declined = drawn.flatMap(({ conversation: { tools, steps } }) =>
      steps.flatMap((step, at) => {
        const said = steps[at - 1];
        const declines = step.kind === "reply" && (DECLINED as readonly string[]).includes(step.text) && said?.kind === "user";
        return declines ? [{ text: said.text, words: wordsOfTools({ tools }) }] : [];
      }),
    );
    expect(declined.length).toBeGreaterThan(20);
    expect(declined.filter(({ text, words }) => !isForNone({ text, about: "" }, words))).toEqual([]);
  });

  it("speaks of every argument before the call, as passed or by an act", () => {
    for (const { conversation } of drawn)
      for (const [at, step] of conversation.steps.entries()) {
        if (step.kind !== "call") continue;
        const before = conversation.steps.slice(0, at);
        const told = before.flatMap((each) =>
          each.kind === "user" ? each.acts.flatMap(([, slot, values]) => [`${slot}=${values[0]}`]) : [],
        );
        for (const [slot, value] of Object.entries(step.values)) expect(told).toContain(`${slot}=${value}`);
      }
  });

  it("passes days as dates only where the day is known, or where they are said so", () => {
    for (const { conversation } of drawn)
      for (const [at, step] of conversation.steps.entries()) {
        if (step.kind !== "call") continue;
        const said = conversation.steps
          .slice(0, at)
          .flatMap((each) => ("text" in each ? [each.text] : each.kind === "result" ? [each.content] : []));
        for (const value of Object.values(step.values))
          if (/^\d{4}-\d\d-\d\d$/.test(value) && !said.some((text) => text.includes(value)))
            expect(conversation.system).toContain("2019-03-01");
      }
  });
});

function fits(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === "array" ? Array.isArray(value) : typeof value === type;
}

describe("recoded", () => {
  it("draws digits anew, and capitals that stand by themselves, each in its place", () => {
    const shaped = (text: string): string =>
      text.replace(/\d/g, "9").replace(/(?<![A-Za-z])[A-Z]+(?![A-Za-z])/g, (code) => "A".repeat(code.length));
    const texts = ["L-5512", "F-GH 55", "pump7.stl", "14 Rowan Street", "7700412", "B2"];
    for (const text of texts) {
      const made = Array.from({ length: 50 }, (_, seed) => recoded(text, new Random(seed)));
      for (const each of made) expect(shaped(each)).toBe(shaped(text));
      expect(new Set(made).size).toBeGreaterThan(5);
      expect(made.some((each) => /(?<!\d)0\d/.test(each) && !/(?<!\d)0\d/.test(text))).toBe(false);
    }
    for (const text of ["Rowan Street", "10:05", "2024-11-17", "West 5th"]) expect(recoded(text, new Random(1))).toBe(text);
  });
});
