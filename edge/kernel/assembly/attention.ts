// Attention of one row over the KV pages of its sequence, and the writing of its own key and value.
import { PAGE } from "./layout";
import { exp4, sumLanes } from "./elementwise";

/** Stores one key head transposed ([headDim][PAGE]) and one value head ([PAGE][headDim]) at `slot` of a page. */
export function writeKeyValue(keys: usize, values: usize, slot: i32, k: usize, v: usize, headDim: i32): void {
  const column = keys + (<usize>slot << 2);
  for (let d = 0; d < headDim; d++) {
    store<f32>(column + (<usize>d * PAGE << 2), load<f32>(k + (<usize>d << 2)));
  }
  memory.copy(values + (<usize>slot * headDim << 2), v, <usize>headDim << 2);
}

/**
 * out = softmax(q K^T / sqrt(headDim)) V for one head over positions 0..position.
 * `keyOffset` and `valueOffset` locate the head's keys and values inside a page. `scores` holds the context
 * rounded up to PAGE.
 */
export function attend(
  out: usize, q: usize, pages: usize, keyOffset: usize, valueOffset: usize, position: i32, headDim: i32, scores: usize,
): void {
  const count = position + 1;
  const scale = f32x4.splat(<f32>1 / sqrt<f32>(<f32>headDim));
  for (let p = 0; p < count; p += PAGE / 2) {
    const page = <usize>load<u32>(pages + (<usize>(p / PAGE) << 2));
    const keys = page + keyOffset + (<usize>(p % PAGE) << 2);
    scoreHalfPage(scores + (<usize>p << 2), q, keys, headDim, scale);
  }
  const sum = softmaxNumerators(scores, count);
  let d = 0;
  for (; d + 32 <= headDim; d += 32) mixEight(out, pages, valueOffset, d, headDim, scores, count, sum);
  for (; d < headDim; d += 4) mixOne(out, pages, valueOffset, d, headDim, scores, count, sum);
}

/** 32 scores at once; positions past the row's own are computed too and never read. */
function scoreHalfPage(scores: usize, q: usize, keys: usize, headDim: i32, scale: v128): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (let d = 0; d < headDim; d++) {
    const s = v128.load32_splat(q);
    a0 = f32x4.add(a0, f32x4.mul(s, v128.load(keys, 0)));
    a1 = f32x4.add(a1, f32x4.mul(s, v128.load(keys, 16)));
    a2 = f32x4.add(a2, f32x4.mul(s, v128.load(keys, 32)));
    a3 = f32x4.add(a3, f32x4.mul(s, v128.load(keys, 48)));
    a4 = f32x4.add(a4, f32x4.mul(s, v128.load(keys, 64)));
    a5 = f32x4.add(a5, f32x4.mul(s, v128.load(keys, 80)));
    a6 = f32x4.add(a6, f32x4.mul(s, v128.load(keys, 96)));
    a7 = f32x4.add(a7, f32x4.mul(s, v128.load(keys, 112)));
    q += 4;
    keys += PAGE * 4;
  }
  v128.store(scores, f32x4.mul(a0, scale), 0);
  v128.store(scores, f32x4.mul(a1, scale), 16);
  v128.store(scores, f32x4.mul(a2, scale), 32);
  v128.store(scores, f32x4.mul(a3, scale), 48);
  v128.store(scores, f32x4.mul(a4, scale), 64);
  v128.store(scores, f32x4.mul(a5, scale), 80);
  v128.store(scores, f32x4.mul(a6, scale), 96);
  v128.store(scores, f32x4.mul(a7, scale), 112);
}

/** Replaces the first `count` scores by exp(score - max) and returns their sum. */
function softmaxNumerators(scores: usize, count: i32): f32 {
  const end = scores + (<usize>count << 2);
  const vectors = scores + ((<usize>(count + 3) & ~3) << 2);
  for (let p = end; p < vectors; p += 4) store<f32>(p, -Infinity);
  let top = v128.load(scores);
  for (let p = scores + 16; p < vectors; p += 16) top = f32x4.max(top, v128.load(p));
  const max = f32x4.splat(Mathf.max(
    Mathf.max(f32x4.extract_lane(top, 0), f32x4.extract_lane(top, 1)),
    Mathf.max(f32x4.extract_lane(top, 2), f32x4.extract_lane(top, 3)),
  ));
  let sum = f32x4.splat(0);
  for (let p = scores; p < vectors; p += 16) {
    const e = exp4(f32x4.sub(v128.load(p), max));
    v128.store(p, e);
    sum = f32x4.add(sum, e);
  }
  return sumLanes(sum);
}

/** 32 value dimensions from `d`, summed over positions in ascending order. */
function mixEight(
  out: usize, pages: usize, valueOffset: usize, d: i32, headDim: i32, scores: usize, count: i32, sum: f32,
): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  const stride = <usize>headDim << 2;
  for (let start = 0; start < count; start += PAGE) {
    let v = <usize>load<u32>(pages) + valueOffset + (<usize>d << 2);
    const end = scores + (<usize>min(PAGE, count - start) << 2);
    for (let p = scores; p < end; p += 4) {
      const s = v128.load32_splat(p);
      a0 = f32x4.add(a0, f32x4.mul(s, v128.load(v, 0)));
      a1 = f32x4.add(a1, f32x4.mul(s, v128.load(v, 16)));
      a2 = f32x4.add(a2, f32x4.mul(s, v128.load(v, 32)));
      a3 = f32x4.add(a3, f32x4.mul(s, v128.load(v, 48)));
      a4 = f32x4.add(a4, f32x4.mul(s, v128.load(v, 64)));
      a5 = f32x4.add(a5, f32x4.mul(s, v128.load(v, 80)));
      a6 = f32x4.add(a6, f32x4.mul(s, v128.load(v, 96)));
      a7 = f32x4.add(a7, f32x4.mul(s, v128.load(v, 112)));
      v += stride;
    }
    scores += PAGE * 4;
    pages += 4;
  }
  const inverse = f32x4.splat(<f32>1 / sum);
  out += <usize>d << 2;
  v128.store(out, f32x4.mul(a0, inverse), 0);
  v128.store(out, f32x4.mul(a1, inverse), 16);
  v128.store(out, f32x4.mul(a2, inverse), 32);
  v128.store(out, f32x4.mul(a3, inverse), 48);
  v128.store(out, f32x4.mul(a4, inverse), 64);
  v128.store(out, f32x4.mul(a5, inverse), 80);
  v128.store(out, f32x4.mul(a6, inverse), 96);
  v128.store(out, f32x4.mul(a7, inverse), 112);
}

/** Four value dimensions from `d`, for head widths that are no multiple of 32. */
function mixOne(
  out: usize, pages: usize, valueOffset: usize, d: i32, headDim: i32, scores: usize, count: i32, sum: f32,
): void {
  let a = f32x4.splat(0);
  const stride = <usize>headDim << 2;
  for (let start = 0; start < count; start += PAGE) {
    let v = <usize>load<u32>(pages) + valueOffset + (<usize>d << 2);
    const end = scores + (<usize>min(PAGE, count - start) << 2);
    for (let p = scores; p < end; p += 4) {
      a = f32x4.add(a, f32x4.mul(v128.load32_splat(p), v128.load(v)));
      v += stride;
    }
    scores += PAGE * 4;
    pages += 4;
  }
  v128.store(out + (<usize>d << 2), f32x4.mul(a, f32x4.splat(<f32>1 / sum)));
}
