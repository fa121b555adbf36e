/** An adapter's files hold exactly what was measured. */
import { describe, expect, it } from "vitest";
import { linearNames, linearShape, loraTensorName } from "../../../shared/lora.ts";
import { readAdapterFiles, roundAdapter, writeAdapterFiles, type AdapterTensors } from "../../../trainer/policy/adapter.ts";
import { tinyConfig } from "../tiny.ts";

const SHAPE = tinyConfig();

function thirds(): AdapterTensors {
  const tensors = new Map<string, Float32Array>();
  for (let layer = 0; layer < SHAPE.layerCount; layer += 1)
    for (const linear of linearNames()) {
      const { out, in: width } = linearShape(SHAPE, linear);
      tensors.set(
        loraTensorName(layer, linear, "A"),
        Float32Array.from({ length: 2 * width }, (_, index) => (index + 1) / 300),
      );
      tensors.set(
        loraTensorName(layer, linear, "B"),
        Float32Array.from({ length: out * 2 }, (_, index) => -(index + 1) / 300),
      );
    }
  return { rank: 2, alpha: 4, tensors };
}

describe("adapter files", () => {
  it("hold exactly the rounded adapter, so what was measured is what is published", () => {
    const rounded = roundAdapter(thirds());
    const read = readAdapterFiles(SHAPE, writeAdapterFiles(SHAPE, rounded, "base"));
    expect(read.rank).toBe(2);
    expect(read.alpha).toBe(4);
    expect(read.tensors).toEqual(rounded.tensors);
  });

  it("are the same bytes for the same adapter", () => {
    const [first, second] = [
      writeAdapterFiles(SHAPE, roundAdapter(thirds()), "base"),
      writeAdapterFiles(SHAPE, roundAdapter(thirds()), "base"),
    ];
    expect(second.weightBytes).toEqual(first.weightBytes);
    expect(second.configBytes).toEqual(first.configBytes);
  });

  it("are refused with weights so large that an answer would overflow", () => {
    const large = thirds();
    large.tensors.get(loraTensorName(0, "q_proj", "B"))?.fill(1e30);
    expect(() => readAdapterFiles(SHAPE, writeAdapterFiles(SHAPE, large, "base"))).toThrow(
      /^adapter: layer 0 q_proj: .* of at most 100000/,
    );
  });

  it("refuse half a pair", () => {
    const half = thirds();
    half.tensors.delete(loraTensorName(0, "q_proj", "A"));
    expect(() => writeAdapterFiles(SHAPE, half, "base")).toThrow("both halves of self_attn.q_proj in layer 0 expected, got one");
  });
});
