/** What a tool gives back has the shapes that people's tools have, and the reply to it says nothing that is not in it. */
import { describe, expect, it } from "vitest";
import { Vocabulary } from "../../../trainer/pretrain/errand-tools.ts";
import { drawFindings, drawReceipt } from "../../../trainer/pretrain/findings.ts";
import { Random } from "../../../trainer/random.ts";

const vocabulary = new Vocabulary({ values: new Map([["city", ["Elm Bay", "Port Ash"]]]), forms: new Map(), asides: [] }, []);
const title = vocabulary.parameter("name", "ferry_name", "ferry", new Random(1));
const SEEDS = Array.from({ length: 600 }, (_, seed) => seed);
const findings = SEEDS.map((seed) => drawFindings({ title, asked: { harbor: "Elm Bay" }, noun: "ferry" }, vocabulary, new Random(seed)));

/** Numbers, and capitalised words that begin no sentence: what only a result can have told. */
function particulars(reply: string): string[] {
  return [...reply.matchAll(/\d+(?:[.:-]\d+)*|(?<=[a-z,:] )\p{Lu}\p{L}+/gu)].map(([word]) => word).filter((word) => word !== "I");
}

describe("drawFindings", () => {
  it("tells nothing that the result does not say", () => {
    let told = 0;
    for (const { content, reply } of findings)
      for (const each of particulars(reply)) {
        if (/^\d$/.test(each)) continue; // how many there are is counted
        told++;
        expect({ content, each, said: content.includes(each) }).toEqual({ content, each, said: true });
      }
    expect(told).toBeGreaterThan(SEEDS.length);
  });

  it("finds only what the result names", () => {
    const found = findings.flatMap(({ found: name, content }) => (name === undefined ? [] : [{ name, content }]));
    expect(found.length).toBeGreaterThan(SEEDS.length / 3);
    for (const { name, content } of found) expect(content).toContain(name);
  });

  it("comes as objects, lists and lines of text, and now and then as nothing or an error", () => {
    const counts = { object: 0, list: 0, text: 0, empty: 0, error: 0 };
    for (const { content } of findings) {
      if (/error|"success": false/i.test(content)) counts.error++;
      else if (/^(\[\]|\{\}|null|No )|\[\]/.test(content)) counts.empty++;
      else if (content.startsWith("{")) counts.object++;
      else if (content.startsWith("[")) counts.list++;
      else counts.text++;
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
  });
});

describe("drawReceipt", () => {
  it("tells nothing that the result does not say", () => {
    for (const seed of SEEDS) {
      const { content, reply } = drawReceipt("ferry", vocabulary, new Random(seed));
      for (const each of particulars(reply)) expect(content).toContain(each);
    }
  });
});
