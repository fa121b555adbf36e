/** The counter-based generator against its published words, and how seeds and indices spread. */
import { describe, expect, it } from "vitest";
import { philox, uniform } from "../../../edge/policy/philox.ts";

describe("philox", () => {
  // Known answers of the authors' own implementation: Random123, tests/kat_vectors, philox4x32-10.
  it("gives the published words", () => {
    expect(philox([0, 0, 0, 0], [0, 0])).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    const ones = 0xffffffff;
    expect(philox([ones, ones, ones, ones], [ones, ones])).toEqual([0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
    expect(philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0])).toEqual([
      0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1,
    ]);
  });

  it("draws evenly from [0, 1), another number for every seed and index", () => {
    const draws = Array.from({ length: 10_000 }, (_, index) => uniform(7, index));
    expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
    expect(new Set(draws).size).toBe(draws.length);
    const tenths = Array.from({ length: 10 }, (_, tenth) => draws.filter((draw) => Math.floor(draw * 10) === tenth).length);
    // 10,000 draws: a tenth holds 1,000, standard deviation 30.
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(120);
  });

  it("tells seeds apart that agree in their low 32 bits, and negative ones", () => {
    expect(new Set([1, 1 + 2 ** 32, 1 + 2 ** 40, -1, Number.MAX_SAFE_INTEGER].map((seed) => uniform(seed, 0))).size).toBe(5);
  });
});
