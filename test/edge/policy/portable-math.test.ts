/** Against the engine's own functions, which are right to the last bit or two. */
import { describe, expect, it } from "vitest";
import { cosSin, exp, ln } from "../../../edge/policy/portable-math.ts";

describe("portable functions", () => {
  it("agree with Math.log over the range of a softmax's sum", () => {
    for (let x = 1e-30; x < 1e30; x *= 1.37)
      expect(Math.abs(ln(x) - Math.log(x))).toBeLessThanOrEqual(1e-15 * Math.max(1, Math.abs(Math.log(x))));
    expect(ln(1)).toBe(0);
  });

  it("agree with Math.exp", () => {
    for (let x = -60; x < 60; x += 0.173) expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-14);
  });

  it("agree with Math.cos and Math.sin over the angles of a long context", () => {
    for (let angle = 0; angle < 40_000; angle += 1.713) {
      const { cos, sin } = cosSin(angle);
      expect(Math.max(Math.abs(cos - Math.cos(angle)), Math.abs(sin - Math.sin(angle)))).toBeLessThan(1e-11);
    }
  });
});
