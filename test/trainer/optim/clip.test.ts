/** The norm of a gradient, and how one that is too long is shortened. */
import { describe, expect, it } from "vitest";
import { clipFactor, gradientNorm } from "../../../trainer/optim/clip.ts";

describe("gradientNorm", () => {
  it("is Euclidean", () => expect(gradientNorm(Float32Array.of(3, -4))).toBe(5));

  it.each([Number.NaN, Infinity])("refuses a gradient with %s in it", (value) => {
    expect(() => gradientNorm(Float32Array.of(1, value))).toThrow(/finite/);
  });
});

describe("clipFactor", () => {
  it("shrinks only what is longer than the bound", () => {
    expect(clipFactor(4, 1)).toBe(0.25);
    expect(clipFactor(0.5, 1)).toBe(1);
  });
});
