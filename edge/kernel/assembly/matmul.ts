// Matrix times one to eight rows. Every output is one chain of f32 adds over ascending k, whatever the number
// of rows, so a token's result does not depend on which other rows share the call.
import { PANEL } from "./layout";

/** y[r][0..out) = W x[r] for `rows` rows. W is in panels; `out` is a multiple of PANEL; strides are in bytes. */
export function matmul(
  y: usize, yStride: usize, x: usize, xStride: usize, w: usize, inputs: i32, out: i32, rows: i32,
): void {
  const panelBytes = <usize>inputs * PANEL * 4;
  for (let o = 0; o < out; o += PANEL) {
    let r = 0;
    for (; r + 4 <= rows; r += 4) {
      panelByFour(y + <usize>r * yStride, yStride, x + <usize>r * xStride, xStride, w, inputs);
    }
    for (; r < rows; r++) {
      panelByOne(y + <usize>r * yStride, x + <usize>r * xStride, w, inputs);
    }
    w += panelBytes;
    y += PANEL * 4;
  }
}

/** 32 outputs of one row: eight accumulators, enough to hide the latency of an add. */
function panelByOne(y: usize, x: usize, w: usize, inputs: i32): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  const end = x + (<usize>inputs << 2);
  for (; x < end; x += 4) {
    const s = v128.load32_splat(x);
    a0 = f32x4.add(a0, f32x4.mul(s, v128.load(w, 0)));
    a1 = f32x4.add(a1, f32x4.mul(s, v128.load(w, 16)));
    a2 = f32x4.add(a2, f32x4.mul(s, v128.load(w, 32)));
    a3 = f32x4.add(a3, f32x4.mul(s, v128.load(w, 48)));
    a4 = f32x4.add(a4, f32x4.mul(s, v128.load(w, 64)));
    a5 = f32x4.add(a5, f32x4.mul(s, v128.load(w, 80)));
    a6 = f32x4.add(a6, f32x4.mul(s, v128.load(w, 96)));
    a7 = f32x4.add(a7, f32x4.mul(s, v128.load(w, 112)));
    w += PANEL * 4;
  }
  v128.store(y, a0, 0);
  v128.store(y, a1, 16);
  v128.store(y, a2, 32);
  v128.store(y, a3, 48);
  v128.store(y, a4, 64);
  v128.store(y, a5, 80);
  v128.store(y, a6, 96);
  v128.store(y, a7, 112);
}

/** 32 outputs of four rows, eight outputs at a time: 2 x 4 accumulators; the panel stays in the first-level cache. */
function panelByFour(y: usize, yStride: usize, x: usize, xStride: usize, w: usize, inputs: i32): void {
  const x1 = xStride, x2 = xStride * 2, x3 = xStride * 3;
  for (let o: usize = 0; o < <usize>PANEL * 4; o += 32) {
    let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    let p = x, q = w + o;
    const end = x + (<usize>inputs << 2);
    for (; p < end; p += 4) {
      const wa = v128.load(q, 0), wb = v128.load(q, 16);
      let s = v128.load32_splat(p);
      a0 = f32x4.add(a0, f32x4.mul(s, wa));
      b0 = f32x4.add(b0, f32x4.mul(s, wb));
      s = v128.load32_splat(p + x1);
      a1 = f32x4.add(a1, f32x4.mul(s, wa));
      b1 = f32x4.add(b1, f32x4.mul(s, wb));
      s = v128.load32_splat(p + x2);
      a2 = f32x4.add(a2, f32x4.mul(s, wa));
      b2 = f32x4.add(b2, f32x4.mul(s, wb));
      s = v128.load32_splat(p + x3);
      a3 = f32x4.add(a3, f32x4.mul(s, wa));
      b3 = f32x4.add(b3, f32x4.mul(s, wb));
      q += PANEL * 4;
    }
    storePair(y + o, a0, b0);
    storePair(y + o + yStride, a1, b1);
    storePair(y + o + yStride * 2, a2, b2);
    storePair(y + o + yStride * 3, a3, b3);
  }
}

// @ts-ignore: decorator
@inline
function storePair(y: usize, a: v128, b: v128): void {
  v128.store(y, a, 0);
  v128.store(y, b, 16);
}
