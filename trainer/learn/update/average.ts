/**
 * The mean of an adapter over its last steps, exponentially weighted (Polyak & Juditsky 1992). At a
 * rate at which a default is learned within forty steps, single steps swing between too much and too little of it.
 */
import { invariant } from "../../../shared/assert.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";

export class AdapterAverage {
  readonly #reach: number;
  #count = 0;
  #mean: AdapterTensors | undefined;

  /** `reach`: steps; the newest one weighs 1 / reach, while there are fewer than that all weigh the same. */
  constructor(reach: number) {
    this.#reach = reach;
  }

  add(adapter: AdapterTensors): void {
    this.#count += 1;
    this.#mean = between(this.#mean ?? adapter, adapter, 1 / Math.min(this.#count, this.#reach));
  }

  /** @throws {internal} before the first step */
  get adapter(): AdapterTensors {
    invariant(this.#mean !== undefined, "an adapter to average expected");
    return this.#mean;
  }
}

/** The point at `part` of the way from one adapter to another of its shape. */
export function between(from: AdapterTensors, to: AdapterTensors, part: number): AdapterTensors {
  const tensors = new Map([...to.tensors].map(([name, values]) => [name, towards(from.tensors.get(name) ?? values, values, part)]));
  return { ...to, tensors };
}

/** A plain loop: there are hundreds of thousands of values after every step, and a call for each takes longer than the step's own AdamW. */
function towards(from: Float32Array, to: Float32Array, part: number): Float32Array {
  invariant(from.length === to.length, `adapters of one shape expected, got tensors of ${from.length} and ${to.length} values`);
  const values = new Float32Array(to.length);
  for (let index = 0; index < values.length; index += 1) {
    const origin = from[index] ?? Number.NaN;
    values[index] = origin + part * ((to[index] ?? Number.NaN) - origin);
  }
  return values;
}
