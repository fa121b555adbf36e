/** How far an adapter may move a linear map. Finite weights can still be so large that what they make of a prompt is not finite. */
import type { Adapter } from "./lora.ts";

/**
 * The most that alpha/rank · ‖A‖ · ‖B‖ may be (Frobenius norms). The spectral norm of the update is at most that: no input is made longer by more.
 *
 * Adapters that training makes stay far below: of the two that ship with the base the largest pair has 18.9, and one of rank 256 at ‖A‖ 9, as
 * PEFT begins it, and alpha/rank 32 would need a ‖B‖ of 350. And it is low enough for float32: behind a norm, which leaves vectors of a length
 * below 100, gate and up come to 1e7 each, down to 1e19 of their product, and the square of that, which the next norm takes, to 1e38.
 */
export const MOST_UPDATE_NORM = 1e5;

/** Why an adapter would overflow, naming the first of its pairs that is too large; undefined where none is. */
export function boundFault({ rank, alpha, pairs }: Pick<Adapter, "rank" | "alpha" | "pairs">): string | undefined {
  for (const { layer, linear, a, b } of pairs) {
    const factors = [alpha / rank, frobenius(a), frobenius(b)];
    const bound = factors.reduce((product, factor) => product * factor, 1);
    if (bound <= MOST_UPDATE_NORM) continue;
    const given = `${factors.map(short).join(" · ")} = ${short(bound)}`;
    return `adapter: layer ${layer} ${linear}: alpha/rank · ‖lora_A‖ · ‖lora_B‖ of at most ${MOST_UPDATE_NORM} expected, got ${given}`;
  }
  return undefined;
}

function frobenius(values: Float32Array): number {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
