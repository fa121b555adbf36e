/** The safetensors format against a file written by hand. */
import { describe, expect, it } from "vitest";
import { parseSafetensors, toFloat32, writeSafetensors } from "../../shared/safetensors.ts";

const TENSORS = new Map([
  ["b", { shape: [2, 2], values: Float32Array.of(1, -2.5, 0, 65504) }],
  ["a", { shape: [3], values: Float32Array.of(0.5, 2 ** -14, -0.25) }],
]);

/** A file from a header and a body written by hand. */
function file(header: unknown, body: readonly number[]): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + body.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(body, 8 + json.length);
  return bytes;
}

describe("safetensors", () => {
  for (const type of ["F32", "F16", "BF16"] as const) {
    it(`reads back what it wrote as ${type}`, () => {
      const read = parseSafetensors(writeSafetensors(TENSORS, { type }));
      expect([...read.keys()]).toEqual(["a", "b"]);
      const { values } = TENSORS.get("b") ?? { values: [] };
      const b = read.get("b");
      expect(b).toMatchObject({ type, shape: [2, 2] });
      expect(b && [...toFloat32(b)]).toEqual(type === "BF16" ? [1, -2.5, 0, 65536] : [...values]);
    });
  }

  it("reads a file written by hand, elements little-endian and unaligned", () => {
    const header = { __metadata__: { format: "pt" }, w: { dtype: "BF16", shape: [2], data_offsets: [0, 4] } };
    const w = parseSafetensors(file(header, [0x80, 0x3f, 0x20, 0xc0])).get("w");
    expect(w && [...toFloat32(w)]).toEqual([1, -2.5]);
  });

  it("reads what Node read of a file, which is a part of more bytes", () => {
    const read = parseSafetensors(Buffer.from(writeSafetensors(TENSORS)));
    expect([...read].map(([name, tensor]) => [name, [...toFloat32(tensor)]])).toEqual(
      ["a", "b"].map((name) => [name, [...(TENSORS.get(name)?.values ?? [])]]),
    );
  });

  it("writes the same bytes whatever the order of the tensors", () => {
    const reversed = new Map([...TENSORS].reverse());
    expect(writeSafetensors(reversed)).toEqual(writeSafetensors(TENSORS));
  });

  it("starts tensors at a multiple of eight bytes", () => {
    for (const name of ["x", "xx", "xxx"]) {
      const bytes = writeSafetensors(new Map([[name, { shape: [1], values: Float32Array.of(1) }]]));
      expect((bytes.length - 4) % 8).toBe(0);
    }
  });

  for (const [what, bytes, message] of [
    ["a file too short for its length", new Uint8Array(4), "8 bytes expected"],
    ["a header longer than the file", new Uint8Array(8).fill(9), "header of at most 0 bytes expected"],
    ["a header that is no JSON", Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0x7b), "JSON header expected"],
    ["an unknown element type", file({ w: { dtype: "I64", shape: [1], data_offsets: [0, 8] } }, [0, 0, 0, 0, 0, 0, 0, 0]), "tensor w"],
    [
      "a size that does not match the shape",
      file({ w: { dtype: "F32", shape: [2], data_offsets: [0, 4] } }, [0, 0, 0, 0]),
      "bytes 0..8 expected",
    ],
    ["a hole", file({ w: { dtype: "F32", shape: [1], data_offsets: [4, 8] } }, [0, 0, 0, 0, 0, 0, 0, 0]), "bytes 0..4 expected"],
    ["bytes left over", file({}, [1]), "expected, got"],
  ] as const) {
    it(`refuses ${what}`, () => expect(() => parseSafetensors(bytes)).toThrow(message));
  }

  it("refuses to write a tensor whose values do not fill its shape", () => {
    expect(() => writeSafetensors(new Map([["w", { shape: [3], values: Float32Array.of(1) }]]))).toThrow(
      "tensor w: 3 values expected for [3], got 1",
    );
  });
});
