/** Float32 ↔ the two 16-bit formats of checkpoints: BF16 (8 exponent bits) and F16 (IEEE half). */

/** Widens BF16 bit patterns; exact. Into `target` where one is given. */
export function decodeBfloat16(halves: Uint16Array, target: Float32Array = new Float32Array(halves.length)): Float32Array {
  const words = wordsOf(target);
  for (let i = 0; i < halves.length; i++) words[i] = (halves[i] ?? 0) << 16;
  return target;
}

/** Narrows to BF16, nearest even; a NaN stays a NaN. */
export function encodeBfloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.slice().buffer);
  return Uint16Array.from(bits, (word) => {
    if ((word & 0x7fffffff) > 0x7f800000) return (word >>> 16) | 0x40;
    return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  });
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
  return Uint16Array.from(values, (value) => {
    const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0;
    const magnitude = Math.abs(value);
    if (Number.isNaN(value)) return 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    if (magnitude < 2 ** -14) return sign | roundEven(magnitude * 2 ** 24); // 1024 carries into the exponent as it should
    const exponent = Math.min(15, exponentOf(magnitude));
    return sign | (((exponent + 14) << 10) + roundEven(magnitude * 2 ** (10 - exponent)));
  });
}

function wordsOf({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
}

/** floor(log2(x)) of a normal float32, from its bits: Math.log2 may round across a power of two. */
function exponentOf(magnitude: number): number {
  const [word = 0] = new Uint32Array(Float32Array.of(magnitude).buffer);
  return (word >>> 23) - 127;
}

function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
