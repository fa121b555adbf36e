/**
 * The mean of an adapter over its last steps, exponentially weighted (Polyak & Juditsky 1992; as in arXiv:2003.02389). At a
 * rate at which a default is learnt within forty steps, single steps swing between too much and too little of it.
 */
import { at, invariant } from "../../shared/assert.ts";
import type { AdapterTensors } from "../policy/adapter.ts";

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
    const weight = 1 / Math.min(this.#count, this.#reach);
    const before = this.#mean?.tensors;
    const tensors = new Map(
      [...adapter.tensors].map(([name, values]) => {
        const mean = before?.get(name) ?? values;
        return [name, values.map((value, index) => at(mean, index) + weight * (value - at(mean, index)))];
      }),
    );
    this.#mean = { ...adapter, tensors };
  }

  /** @throws {internal} before the first step */
  get adapter(): AdapterTensors {
    invariant(this.#mean !== undefined, "an adapter to average expected");
    return this.#mean;
  }
}
