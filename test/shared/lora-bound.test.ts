/** Weights that overflow are told from what training makes, by names and numbers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { boundFault, MOST_UPDATE_NORM } from "../../shared/lora-bound.ts";
import { linearNames, loraTensorName, type LoraPair } from "../../shared/lora.ts";
import { parseSafetensors, toFloat32 } from "../../shared/safetensors.ts";

const pair = (a: number, b: number): LoraPair => ({
  ...{ layer: 3, linear: "up_proj" },
  a: new Float32Array(4).fill(a),
  b: new Float32Array(9).fill(b),
});

describe("an adapter's bound", () => {
  it("names layer, map and the three factors", () => {
    expect(boundFault({ rank: 1, alpha: 2, pairs: [pair(1, 1), pair(1e30, 1e30)] })).toBe(
      "adapter: layer 3 up_proj: alpha/rank · ‖lora_A‖ · ‖lora_B‖ of at most 100000 expected, got 2 · 2e+30 · 3e+30 = 1.2e+61",
    );
    expect(boundFault({ rank: 4, alpha: 2, pairs: [pair(1, 1)] })).toBeUndefined();
    expect(boundFault({ rank: 1, alpha: 1, pairs: [pair(1, MOST_UPDATE_NORM / 6)] })).toBeUndefined();
    expect(boundFault({ rank: 1, alpha: 1, pairs: [pair(1, MOST_UPDATE_NORM / 5.9)] })).toContain("layer 3 up_proj");
  });

  it.each(["judge", "wish"])("is a thousand times what the base's %s adapter needs", (name) => {
    const read = (file: string): Buffer => readFileSync(join("base", `${name}_adapter_${file}`));
    const { r: rank, lora_alpha: alpha } = JSON.parse(read("config.json").toString()) as { r: number; lora_alpha: number };
    const tensors = parseSafetensors(new Uint8Array(read("model.safetensors")));
    const pairs = Array.from({ length: 8 }, (_, layer) => layer).flatMap((layer) =>
      linearNames().flatMap((linear) => {
        const [a, b] = (["A", "B"] as const).map((matrix) => tensors.get(loraTensorName(layer, linear, matrix)));
        return a === undefined || b === undefined ? [] : [{ layer, linear, a: toFloat32(a), b: toFloat32(b) }];
      }),
    );
    expect(pairs).toHaveLength(56);
    expect(boundFault({ rank, alpha: 1_000 * alpha, pairs })).toBeUndefined();
  });
});
