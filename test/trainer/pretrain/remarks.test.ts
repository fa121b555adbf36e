/** What is said of a result that asks for nothing: where it stands, that it is filled, and that its answers are true. */
import { describe, expect, it } from "vitest";
import type { Conversation, Step, ToolView } from "../../../trainer/pretrain/conversation.ts";
import { withRemarks } from "../../../trainer/pretrain/remarks.ts";
import { Random } from "../../../trainer/random.ts";

const parameter = { type: "string" as const, description: "", options: [], required: true, fallback: undefined };
const tool: ToolView = {
  name: "book_cabin",
  description: "",
  parameters: [
    { ...parameter, slot: "valley", name: "valley_name" },
    { ...parameter, slot: "heated", name: "heated", type: "boolean" },
  ],
};
const opening = (text: string): Step => ({ kind: "user", text, acts: [["INFORM_INTENT", "intent", ["Book"]]] });
const call: Step = { kind: "call", service: "Cabins", tool, values: { valley: "Alder Valley", heated: "True" } };
const reply: Step = { kind: "reply", text: "Booked.", acts: [] };
const booked: Step[] = [call, { kind: "result", content: '{"results": [{"warden": "Ines Roth", "heated": true}]}' }, reply];
const lexicon = { values: new Map([["valley", ["Birch Hollow"]]]), asides: [], forms: new Map<string, string[]>() };

const talk = (steps: Step[]): Conversation => ({ system: "", tools: [], views: new Map(), steps });
const remarksOf = (steps: Step[], seed: number): Step[] => {
  const all = withRemarks(talk(steps), lexicon, new Random(seed)).steps;
  return all.filter((step) => !steps.includes(step));
};
const texts = (steps: readonly Step[]): string[] => steps.flatMap((step) => ("text" in step ? [step.text] : []));
const seeds = Array.from({ length: 1500 }, (_, seed) => seed);

describe("withRemarks", () => {
  it("speaks where a result has been told and something else comes, or nothing", () => {
    const steps = [opening("One."), ...booked, opening("Two."), ...booked];
    for (const seed of seeds.slice(0, 200)) {
      const all = withRemarks(talk(steps), lexicon, new Random(seed)).steps;
      expect(all.filter((step) => steps.includes(step))).toEqual(steps);
      const first = all.findIndex((step) => step.kind === "reply" && step.beside === true);
      expect(first < 0 || all[first - 2] === reply).toBe(true);
    }
    expect(seeds.some((seed) => remarksOf(steps, seed).length > 4)).toBe(true);
  });

  it("says nothing before a correction, and nothing of a mistake", () => {
    const corrected: Step[] = [
      opening("One."),
      ...booked,
      { kind: "user", text: "No, Birch Hollow.", acts: [["INFORM", "valley", ["Birch Hollow"]]] },
      call,
    ];
    const mistaken: Step[] = [opening("One."), ...booked.slice(0, 2), { ...reply, mistaken: true }];
    for (const seed of seeds.slice(0, 200)) expect([...remarksOf(corrected, seed), ...remarksOf(mistaken, seed)]).toEqual([]);
  });

  it("fills every place, and names no truth as a value", () => {
    const said = seeds.flatMap((seed) => texts(remarksOf([opening("One."), ...booked], seed)));
    expect(said.length).toBeGreaterThan(1000);
    expect(said.filter((text) => /[{}]|undefined|\bTrue\b/.test(text))).toEqual([]);
    for (const word of ["Alder Valley", "Birch Hollow", "valley name", "warden", "Ines Roth"])
      expect(
        said.some((text) => text.includes(word)),
        word,
      ).toBe(true);
  });

  it("answers what call or result know with what they hold", () => {
    const pairs = seeds.flatMap((seed) => {
      const said = texts(remarksOf([opening("One."), ...booked], seed));
      return said.flatMap((text, at) => (at % 2 === 0 ? [[text, said[at + 1] ?? ""] as const] : []));
    });
    const told = pairs.filter(([, answer]) => /Ines Roth|Alder Valley/.test(answer));
    expect(told.length).toBeGreaterThan(100);
    for (const [asked, answer] of told) {
      if (/warden/.test(asked)) expect(answer).toContain("Ines Roth");
      if (/valley name/.test(asked)) expect(answer).toContain("Alder Valley");
      if (answer.startsWith("Yes")) expect(asked).toMatch(/Ines Roth|Alder Valley/);
      if (answer.startsWith("No")) expect(asked).not.toMatch(/Ines Roth|Alder Valley/);
    }
    for (const word of ["Yes, ", "No, "])
      expect(
        told.some(([, answer]) => answer.startsWith(word)),
        word,
      ).toBe(true);
  });

  it("has nothing to ask about a line of text, and little to say of a call without arguments", () => {
    const bare: Step[] = [
      opening("One."),
      { kind: "call", service: "Cabins", tool: { ...tool, parameters: [] }, values: {} },
      { kind: "result", content: "done" },
      reply,
    ];
    const said = seeds.slice(0, 300).flatMap((seed) => texts(remarksOf(bare, seed)));
    expect(said.length).toBeGreaterThan(50);
    expect(said.filter((text) => /[{}]/.test(text))).toEqual([]);
  });
});
