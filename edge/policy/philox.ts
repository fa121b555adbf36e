/**
 * Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 * Integers only, so a seed gives the same numbers on every host, and any draw can be made without those before it.
 */
const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const;
const WEYL = [0x9e3779b9, 0xbb67ae85] as const;
const ROUNDS = 10;

type Block = readonly [number, number, number, number];

/** The four 32-bit words of a counter under a key. */
export function philox([c0, c1, c2, c3]: Block, [k0, k1]: readonly [number, number]): Block {
  for (let round = 0; round < ROUNDS; round++) {
    const [high0, high1] = [multiplyHigh(MULTIPLIERS[0], c0), multiplyHigh(MULTIPLIERS[1], c2)];
    const [low0, low1] = [Math.imul(MULTIPLIERS[0], c0) >>> 0, Math.imul(MULTIPLIERS[1], c2) >>> 0];
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    [k0, k1] = [(k0 + WEYL[0]) >>> 0, (k1 + WEYL[1]) >>> 0];
  }
  return [c0, c1, c2, c3];
}

/** A number in [0, 1) with 53 random bits, draw `index` of a seed. Both are safe integers. */
export function uniform(seed: number, index: number): number {
  const [a, b] = philox([...halves(index), 0, 0], halves(seed));
  return ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
}

/** Low and high 32 bits, two's complement for negative numbers. */
function halves(value: number): [number, number] {
  return [value >>> 0, Math.floor(value / 2 ** 32) >>> 0];
}

/** Upper 32 bits of the 64-bit product. */
function multiplyHigh(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle % 0x10000);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) >>> 0;
}
