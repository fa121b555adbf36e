/** Float32 ↔ the two 16-bit formats of checkpoints: BF16 (8 exponent bits) and F16 (IEEE half). */

/** Widens BF16 bit patterns; exact. */
export function decodeBfloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) bits[i] = (halves[i] ?? 0) << 16;
  return new Float32Array(bits.buffer);
}

/** Narrows to BF16, nearest even; a NaN stays a NaN. */
export function encodeBfloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.slice().buffer);
  return Uint16Array.from(bits, (word) => {
    if ((word & 0x7fffffff) > 0x7f800000) return (word >>> 16) | 0x40;
    return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  });
}

/** Widens IEEE half patterns; exact. */
export function decodeFloat16(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, (half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >>> 10) & 31;
    const fraction = half & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
  });
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
