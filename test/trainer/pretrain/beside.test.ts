/** What no tool is for, between the requests of a conversation: where it stands, what answers it, and what a row teaches of it. */
import { describe, expect, it } from "vitest";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { plainConversation } from "../../../trainer/pretrain/augment.ts";
import { withBeside } from "../../../trainer/pretrain/beside.ts";
import type { Step } from "../../../trainer/pretrain/conversation.ts";
import { actExample } from "../../../trainer/pretrain/examples.ts";
import { trainTokenizer } from "../../../trainer/pretrain/tokenizer.ts";
import { Random } from "../../../trainer/random.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const tokenizer = new Tokenizer(trainTokenizer({ dialogues: [DIALOGUE], schemas: SCHEMAS }, { size: 400, seed: 1, context: 4096 }));
const plain = plainConversation(DIALOGUE, SCHEMAS);
const all = Array.from({ length: 300 }, (_, seed) => withBeside(plain, new Random(seed)));
const drawn = all.filter(({ tools }) => tools.length > 0);
const isBeside = (step: Step | undefined): boolean => step?.kind === "reply" && step.beside === true;
const saidIn = ({ steps }: { steps: readonly Step[] }): string[] =>
  steps.flatMap((step, at) => (step.kind === "user" && isBeside(steps[at + 1]) ? [step.text] : []));

describe("withBeside", () => {
  it("puts what is answered in words before messages of the user, and leaves the rest as it was", () => {
    for (const { steps } of drawn) {
      const others = steps.filter((step, at) => !isBeside(step) && !(step.kind === "user" && isBeside(steps[at + 1])));
      expect(others).toEqual(plain.steps);
      expect(steps.every((step, at) => !isBeside(step) || steps[at + 1]?.kind === "user")).toBe(true);
    }
    expect(Math.max(...drawn.map((each) => saidIn(each).length))).toBeGreaterThan(1);
  });

  it("says nothing that a tool's name might be about", () => {
    const said = drawn.flatMap(saidIn);
    expect(said.length).toBeGreaterThan(300);
    expect(said.filter((text) => /\{|\bcabin\b|\bbook\b|\bfind\b/i.test(text))).toEqual([]);
  });

  it("refuses nothing that a tool of another number might be for", () => {
    const poems = { type: "function" as const, function: { name: "ReadPoems", description: "Reads", parameters: { type: "object" } } };
    const said = Array.from({ length: 500 }, (_, seed) => withBeside({ ...plain, tools: [poems] }, new Random(seed)))
      .filter(({ tools }) => tools.length > 0)
      .flatMap(saidIn);
    expect(said.length).toBeGreaterThan(500);
    expect(said.filter((text) => /poem/i.test(text))).toEqual([]);
  });

  it("takes requests of other services, too, but for those that are about what a tool is for", () => {
    const others = [
      { text: "water the ferns at noon", about: "greenhouse water_plants" },
      { text: "a hut for two", about: "mountain cabin" },
    ];
    const talks = Array.from({ length: 300 }, (_, seed) => withBeside(plain, new Random(seed), (random) => random.pick(others))).filter(
      ({ tools }) => tools.length > 0,
    );
    const said = talks.flatMap(saidIn);
    const times = (text: string): number => said.filter((each) => each === text).length;
    expect(times("water the ferns at noon")).toBeGreaterThan(said.length / 20);
    expect(times("a hut for two")).toBe(0); // the conversation's tools find cabins
    // Nothing but talk is turned away where a dialogue begins.
    expect(talks.filter(({ steps: [first] }) => first?.kind === "user" && first.text === "water the ferns at noon")).toEqual([]);
    expect(said.some((text) => !others.some((each) => each.text === text))).toBe(true);
  });

  it("is nothing else where there is no tool", () => {
    const bare = all.filter(({ tools }) => tools.length === 0);
    expect(bare.length).toBeGreaterThan(10);
    expect(new Set(bare.map(({ system }) => system === "")).size).toBe(2);
    for (const { steps } of bare) expect(steps.length).toBe(2 * saidIn({ steps }).length);
  });
});

describe("a row of it", () => {
  it("teaches the answer whole, its first token, too, beside the calls", () => {
    for (const conversation of all.slice(0, 20)) {
      const { tokens, weights } = actExample(tokenizer, conversation, 4096);
      const taught = tokenizer.decode(tokens.filter((_, at) => weights[at] === 1)).replace(/<tool_call>.*?<\/tool_call><\|im_end\|>/g, "");
      const replies = conversation.steps.flatMap((step) => (step.kind === "reply" && isBeside(step) ? [step.text] : []));
      expect(taught).toBe(replies.map((text) => `${text}<|im_end|>`).join(""));
    }
  });
});
