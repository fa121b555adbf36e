/** 16-bit floats: every number back to itself, rounding to nearest even, the edges of the range. */
import { describe, expect, it } from "vitest";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from "../../shared/float16.ts";

const ALL = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);

/** Every pattern but the NaNs, of which only one representative comes back. */
function numbers(decode: (bits: Uint16Array) => Float32Array): Uint16Array {
  const values = decode(ALL);
  return ALL.filter((bits) => !Number.isNaN(values[bits]));
}

describe("float16", () => {
  it("narrows every BF16 and every F16 number back to itself", () => {
    for (const [decode, encode] of [
      [decodeBfloat16, encodeBfloat16],
      [decodeFloat16, encodeFloat16],
    ] as const) {
      const bits = numbers(decode);
      expect(encode(decode(bits))).toEqual(bits);
    }
  });

  it("keeps NaN a NaN and infinities infinite", () => {
    const special = Float32Array.of(NaN, Infinity, -Infinity);
    expect(decodeBfloat16(encodeBfloat16(special))).toEqual(special);
    expect(decodeFloat16(encodeFloat16(special))).toEqual(special);
  });

  // Worked by hand: BF16 has 8 bits of fraction with the leading one, F16 has 11.
  it("rounds to nearest, ties to even", () => {
    expect([...decodeBfloat16(encodeBfloat16(Float32Array.of(257, 259, 258.5)))]).toEqual([256, 260, 258]);
    expect([...decodeFloat16(encodeFloat16(Float32Array.of(2049, 2051, 2050.5)))]).toEqual([2048, 2052, 2050]);
  });

  it("narrows to F16 at its edges: smallest steps, first normal number, largest number, overflow", () => {
    const edges = Float32Array.of(2 ** -24, 2 ** -25, 1.5 * 2 ** -24, 2 ** -14, 65_504, 65_519, 65_520);
    expect([...decodeFloat16(encodeFloat16(edges))]).toEqual([2 ** -24, 0, 2 ** -23, 2 ** -14, 65_504, 65_504, Infinity]);
  });

  it("gives the binade below its own numbers, right under a power of two too", () => {
    const below = Float32Array.of(2 - 2 ** -11, 2 - 2 ** -23);
    expect([...decodeFloat16(encodeFloat16(below))]).toEqual([2, 2]);
  });
});
