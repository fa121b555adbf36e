/** The Worker's kernel takes what it computes right and can hold, and says where everything else is served. */
import { describe, expect, it } from "vitest";
import { SHIPPED_SIZES } from "../../bench/base-files.ts";
import { checkEmbeddedShape } from "../../shared/embedded-shape.ts";
import type { RopeScaling } from "../../shared/rope-scaling.ts";

const LLAMA3: RopeScaling = { kind: "llama3", factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalTokens: 8192 };

describe("checkEmbeddedShape", () => {
  it("takes the shipped base", () => {
    expect(() => checkEmbeddedShape(SHIPPED_SIZES)).not.toThrow();
  });

  for (const [what, change, message] of [
    ["a Llama", { qkNorm: false }, "expects model_type qwen3"],
    ["a Qwen2.5", { qkNorm: false, qkvBias: true }, "expects model_type qwen3"],
    ["stretched positions", { ropeScaling: LLAMA3 }, "no rope_scaling, got llama3"],
    ["more than an isolate holds", { vocabSize: 151_936, hiddenSize: 1_024 }, "at most 10,000,000 parameters, got 1"],
  ] as const) {
    it(`refuses ${what}, and says what serves it`, () => {
      const check = (): void => checkEmbeddedShape({ ...SHIPPED_SIZES, ...change });
      expect(check).toThrow(message);
      expect(check).toThrow("Serve this base with an engine (engine openai) instead");
    });
  }
});
