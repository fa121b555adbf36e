/** How far votes can be relied on, counted by hand */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Heard, reliabilityOf, reliabilityText } from "../../bench/eval/reliability.ts";

// Chances of −1, 0 and +1.
const heard: Heard[] = [
  { chances: [0.95, 0.03, 0.02], votes: [-1, -1, -1], meant: -1 },
  { chances: [0.91, 0.05, 0.04], votes: [-1, -1, 0], meant: 0 },
  { chances: [0.2, 0.6, 0.2], votes: [0, 0, 1], meant: 0 },
  { chances: [0.3, 0.3, 0.4], votes: [-1, 0, 1], meant: 1 },
];

describe("verdicts by certainty", () => {
  it("hold the likeliest verdicts of each bin, and how many of them are right", () => {
    const { bins } = reliabilityOf(heard);
    expect(bins.map(({ from, to, right }) => [from, to, right.share, right.count])).toEqual([
      [0, 0.5, 1, 1],
      [0.5, 0.7, 1, 1],
      [0.9, 0.97, 0.5, 2],
    ]);
    expect(bins.map(({ certainty }) => certainty.toFixed(2))).toEqual(["0.40", "0.60", "0.93"]);
  });

  it("are as far from what is right as certainty and share differ, weighed by verdicts", () => {
    // (0.6 · 1 + 0.4 · 1 + 0.43 · 2) / 4
    expect(reliabilityOf(heard).calibrationError).toBeCloseTo(0.465, 10);
  });
});

describe("votes that agree", () => {
  it("count as right where what they come to is: the most frequent one, and 0 where each is another", () => {
    expect(reliabilityOf(heard).agreement.map(({ agree, votes, right }) => [agree, votes, right.share, right.count])).toEqual([
      [3, 3, 1, 1],
      [2, 3, 0.5, 2],
      [1, 3, 0, 1],
    ]);
  });
});

describe("reactions", () => {
  it("that leave the judge no room are counted, and are in no bin", () => {
    const { reactions, bins, calibrationError } = reliabilityOf([...heard, { meant: 0 }]);
    expect(reactions).toEqual([
      { meant: -1, count: 1, unheard: 0 },
      { meant: 0, count: 3, unheard: 1 },
      { meant: 1, count: 1, unheard: 0 },
    ]);
    expect([bins, calibrationError]).toEqual([reliabilityOf(heard).bins, reliabilityOf(heard).calibrationError]);
    const text = reliabilityText(reliabilityOf([...heard, { meant: 0 }]), { split: "dev", command: "c", judge: undefined });
    expect(text).toContain("1 that mean -1, 3 that mean 0 (1 of them too long to be heard), 1 that mean 1.");
    expect(text).toContain("the base by itself");
  });
});

describe("the model card", () => {
  it("tells of the judge that ships", () => {
    const base = join(import.meta.dirname, "../../base");
    const digest = createHash("sha256")
      .update(readFileSync(join(base, "judge_adapter_model.safetensors")))
      .digest("hex");
    expect(readFileSync(join(base, "README.md"), "utf8")).toContain(`adapter of SHA-256 ${digest}`);
  });
});

describe("the tables", () => {
  it("tell every bin and every agreement with their intervals", () => {
    const text = reliabilityText(reliabilityOf(heard), { split: "dev", command: "npm run eval:base", judge: "a1b2" });
    expect(text).toContain("| 0.9 to 0.97 | 0.930 | 0.500 | 2 | 0.09–0.91 |");
    expect(text).toContain("| 2 of 3 | 0.500 | 2 | 0.09–0.91 |");
  });
});
