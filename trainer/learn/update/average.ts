/**
 * The mean of an adapter over its last steps, exponentially weighted (Polyak & Juditsky 1992). At a
 * rate at which a default is learned within forty steps, single steps swing between too much and too little of it.
 */
import { at, invariant } from "../../../shared/assert.ts";
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
  const tensors = new Map(
    [...to.tensors].map(([name, values]) => {
      const origin = from.tensors.get(name);
      return [name, values.map((value, index) => at(origin ?? values, index) + part * (value - at(origin ?? values, index)))];
    }),
  );
  return { ...to, tensors };
}
