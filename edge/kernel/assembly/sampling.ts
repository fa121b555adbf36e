// The part of sampling that walks the vocabulary.
import { exp4, sumLanes } from "./elementwise";

/**
 * out[i] = exp((logits[i] - max) * inverseTemperature) for the first `count` logits; returns their sum.
 * `count` is a multiple of four; masked logits are -Infinity and give 0.
 */
export function exponentials(out: usize, logits: usize, count: i32, max: f32, inverseTemperature: f32): f32 {
  const bytes = <usize>count << 2;
  const top = f32x4.splat(max), factor = f32x4.splat(inverseTemperature);
  let sum = f32x4.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    const e = exp4(f32x4.mul(f32x4.sub(v128.load(logits + i), top), factor));
    v128.store(out + i, e);
    sum = f32x4.add(sum, e);
  }
  return sumLanes(sum);
}
