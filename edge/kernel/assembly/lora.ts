// Low-rank update beside a linear map: y += scale * B (A x), never merged, skipped at the cost of one branch.
import { LORA_A, LORA_B, LORA_RANK, LORA_SCALE } from "./layout";
import { sumLanes } from "./elementwise";

/**
 * Adds one record's update to one row. A is [rank][inputs], B is transposed to [rank][out]; `down` has room for
 * `rank` floats. `out` is a multiple of four.
 */
export function addLora(y: usize, x: usize, record: usize, inputs: i32, out: i32, down: usize): void {
  const a = <usize>load<u32>(record + LORA_A * 4);
  if (a == 0) return;
  const rank = load<i32>(record + LORA_RANK * 4);
  project(down, x, a, rank, inputs, load<f32>(record + LORA_SCALE * 4));
  const b = <usize>load<u32>(record + LORA_B * 4);
  const rowBytes = <usize>out << 2;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    let sum = v128.load(y + o);
    let p = b + o;
    for (let r = 0; r < rank; r++) {
      sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(down + (<usize>r << 2)), v128.load(p)));
      p += rowBytes;
    }
    v128.store(y + o, sum);
  }
}

/** down = scale * A x. */
function project(down: usize, x: usize, a: usize, rank: i32, inputs: i32, scale: f32): void {
  const bytes = <usize>inputs << 2;
  for (let r = 0; r < rank; r++) {
    let even = f32x4.splat(0), odd = even;
    let i: usize = 0;
    for (; i + 32 <= bytes; i += 32) {
      even = f32x4.add(even, f32x4.mul(v128.load(x + i), v128.load(a + i)));
      odd = f32x4.add(odd, f32x4.mul(v128.load(x + i, 16), v128.load(a + i, 16)));
    }
    if (i < bytes) even = f32x4.add(even, f32x4.mul(v128.load(x + i), v128.load(a + i)));
    store<f32>(down + (<usize>r << 2), scale * sumLanes(f32x4.add(even, odd)));
    a += bytes;
  }
}
