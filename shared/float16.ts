/** Float32 ↔ the two 16-bit formats of checkpoints: BF16 (8 exponent bits) and F16 (IEEE half). */

/** Widens BF16 bit patterns; exact. Into `target` where one is given. */
export function decodeBfloat16(halves: Uint16Array, target: Float32Array = new Float32Array(halves.length)): Float32Array {
  const words = wordsOf(target);
  for (let i = 0; i < halves.length; i++) words[i] = (halves[i] ?? 0) << 16;
  return target;
}

/** Narrows to BF16, nearest even; a NaN stays a NaN. */
export function encodeBfloat16(values: Float32Array): Uint16Array {
  const words = wordsOf(values);
  const halves = new Uint16Array(words.length);
  // Not Uint16Array.from with a function: models have hundreds of millions of values, and that takes thirty times as long.
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    halves[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

/** Widens IEEE half patterns; exact. Into `target` where one is given. */
export function decodeFloat16(halves: Uint16Array, target: Float32Array = new Float32Array(halves.length)): Float32Array {
  const words = wordsOf(target);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] ?? 0;
    const sign = (half & 0x8000) << 16;
    const magnitude = (half & 0x7fff) << 13;
    if ((half & 0x7c00) === 0x7c00) words[i] = sign | 0x7f800000 | magnitude;
    else {
      // The exponent is that of a half, 112 too small; a product corrects it, and makes subnormal halves normal.
      words[i] = sign | magnitude;
      target[i] = (target[i] ?? 0) * 2 ** 112;
    }
  }
  return target;
}

/** Narrows to IEEE half, nearest even; magnitudes from 65520 become infinite. */
export function encodeFloat16(values: Float32Array): Uint16Array {
  return new Uint16Array(new Float16Array(values).buffer);
}

function wordsOf({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
}
