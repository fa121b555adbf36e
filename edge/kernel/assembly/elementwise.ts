// Vector functions on one row: exp, RMSNorm, rotary embedding, SwiGLU. Lengths are multiples of four.

const LOG2E: f32 = 1.4426950408889634;
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;
const EXP_MIN: f32 = -87.0; // below, the result is 0: it would leave the normal numbers
const EXP_MAX: f32 = 88.0;

/** e^x, relative error about 1e-7; the polynomial and the split of ln 2 are Cephes' expf. */
export function exp4(x: v128): v128 {
  const live = f32x4.ge(x, f32x4.splat(EXP_MIN));
  x = f32x4.max(f32x4.min(x, f32x4.splat(EXP_MAX)), f32x4.splat(EXP_MIN));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(LOG2E)));
  x = f32x4.sub(x, f32x4.mul(n, f32x4.splat(LN2_HIGH)));
  x = f32x4.sub(x, f32x4.mul(n, f32x4.splat(LN2_LOW)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, x), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, x), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, x), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, x), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, x), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.mul(f32x4.mul(p, x), x), f32x4.add(x, f32x4.splat(1)));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return v128.and(f32x4.mul(p, power), live);
}

/** Sum of the four lanes, always in the same order. */
// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  return (f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1))
    + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

/** y = x / sqrt(mean(x^2) + eps) * gain. `y` may be `x`. */
export function rmsNorm(y: usize, x: usize, gain: usize, length: i32, eps: f32): void {
  const bytes = <usize>length << 2;
  let squares = f32x4.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    const v = v128.load(x + i);
    squares = f32x4.add(squares, f32x4.mul(v, v));
  }
  const scale = f32x4.splat(<f32>1 / sqrt<f32>(sumLanes(squares) / <f32>length + eps));
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(y + i, f32x4.mul(f32x4.mul(v128.load(x + i), scale), v128.load(gain + i)));
  }
}

/** Rotary embedding of one head in place; halves paired as in Hugging Face's rotate_half. `half` = headDim / 2. */
export function rotate(x: usize, cos: usize, sin: usize, half: i32): void {
  const bytes = <usize>half << 2;
  for (let i: usize = 0; i < bytes; i += 4) {
    const c = load<f32>(cos + i), s = load<f32>(sin + i);
    const low = load<f32>(x + i), high = load<f32>(x + i + bytes);
    store<f32>(x + i, low * c - high * s);
    store<f32>(x + i + bytes, high * c + low * s);
  }
}

/** gate = silu(gate) * up. */
export function swiGlu(gate: usize, up: usize, length: i32): void {
  const bytes = <usize>length << 2;
  const one = f32x4.splat(1);
  for (let i: usize = 0; i < bytes; i += 16) {
    const g = v128.load(gate + i);
    const sigmoid = f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(g))));
    v128.store(gate + i, f32x4.mul(f32x4.mul(g, sigmoid), v128.load(up + i)));
  }
}

/** y += x. */
export function addInto(y: usize, x: usize, length: i32): void {
  const bytes = <usize>length << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(y + i, f32x4.add(v128.load(y + i), v128.load(x + i)));
  }
}
