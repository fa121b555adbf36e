/** Keys and values of a batch while its answers are written: by layer [B·J, P, K], so that each head's lie in one piece. */
import { invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { cachedKeysOf, cachedValuesOf } from "../model/continued.ts";
import { keysOf, valuesOf } from "../model/decoding.ts";
import type { SharedPool } from "../onnx/pool.ts";
import type { Tensor } from "../onnx/session.ts";
import { roundUp } from "./batch.ts";
import { placePrefix, type Prefix } from "./prefix.ts";

type Sizes = Pick<ModelConfig, "layerCount" | "kvHeadCount" | "headDim">;
/** What one layer has. */
type Layer = { readonly keys: Float32Array; readonly values: Float32Array };

const SLOT_ROUND = 128; // few compiled graphs

export class KeyValueCache {
  readonly #sizes: Sizes;
  readonly #pool: SharedPool;
  #taken: Float32Array[] = [];
  #layers: Layer[] = [];
  #rows: number;
  #slots = 0;
  #filled = 0;

  constructor(sizes: Sizes, { rows, pool }: { rows: number; pool: SharedPool }) {
    this.#sizes = sizes;
    this.#rows = rows;
    this.#pool = pool;
  }

  /** P */
  get slots(): number {
    return this.#slots;
  }

  /** Slots that hold something, the same of every row. */
  get filled(): number {
    return this.#filled;
  }

  /** Gives its memory back. */
  close(): void {
    this.#pool.give(this.#taken.splice(0));
    this.#layers = [];
  }

  /** Row b goes on after prefixes[b], right-aligned in so many slots; what is left of it is for a mask to hide. */
  begin(prefixes: readonly Prefix[], slots: number): void {
    this.#reserve(slots);
    const { kvHeadCount, headDim } = this.#sizes;
    for (const [layer, { keys, values }] of this.#layers.entries())
      prefixes.forEach((prefix, row) => {
        const place = { layer, row, slots: this.#slots, end: slots, kvHeadCount, headDim };
        placePrefix(keys, prefix, { ...place, part: "keys" });
        placePrefix(values, prefix, { ...place, part: "values" });
      });
    this.#filled = slots;
  }

  /** Takes the new keys and values [S·B, J·K] of a graph's outputs. */
  append(outputs: Readonly<Record<string, Float32Array>>, steps: number): void {
    this.#reserve(this.#filled + steps);
    for (const [layer, { keys, values }] of this.#layers.entries()) {
      this.#place(keys, outputs[keysOf(layer)], steps);
      this.#place(values, outputs[valuesOf(layer)], steps);
    }
    this.#filled += steps;
  }

  /** What `attendAfter` reads, but for the mask. */
  feeds(): Record<string, Tensor> {
    const { kvHeadCount, headDim } = this.#sizes;
    const shape = [this.#rows * kvHeadCount, this.#slots, headDim];
    return Object.fromEntries(
      this.#layers.flatMap(({ keys, values }, layer) => [
        [cachedKeysOf(layer), { values: keys, shape }],
        [cachedValuesOf(layer), { values, shape }],
      ]),
    );
  }

  /** Keeps these rows alone, in a batch of so many. */
  narrow(kept: readonly number[], rows: number): void {
    this.#move(kept, { rows, slots: this.#slots });
  }

  #reserve(slots: number): void {
    if (slots > this.#slots) this.#move([...Array(this.#rows).keys()], { rows: this.#rows, slots: roundUp(slots, SLOT_ROUND) });
  }

  #move(kept: readonly number[], { rows, slots }: { rows: number; slots: number }): void {
    const { layerCount, kvHeadCount, headDim } = this.#sizes;
    const old = { layers: this.#layers, taken: this.#taken, slots: this.#slots };
    this.#taken = [];
    this.#layers = Array.from({ length: layerCount }, () => ({
      keys: this.#take(rows * kvHeadCount * slots * headDim),
      values: this.#take(rows * kvHeadCount * slots * headDim),
    }));
    [this.#rows, this.#slots] = [rows, slots];
    const lines = kept.flatMap((row) => Array.from({ length: kvHeadCount }, (_, head) => row * kvHeadCount + head));
    const sizes = { from: old.slots * headDim, to: slots * headDim, filled: this.#filled * headDim };
    for (const [index, { keys, values }] of this.#layers.entries()) {
      const from = old.layers[index];
      moveLines(from?.keys, keys, { lines, sizes });
      moveLines(from?.values, values, { lines, sizes });
    }
    this.#pool.give(old.taken);
  }

  #take(length: number): Float32Array {
    const values = this.#pool.take(length);
    this.#taken.push(values);
    return values.subarray(0, length);
  }

  #place(all: Float32Array, added: Float32Array | undefined, steps: number): void {
    invariant(added !== undefined, "keys and values of every layer expected");
    const { kvHeadCount, headDim } = this.#sizes;
    const lines = this.#rows * kvHeadCount;
    for (let step = 0; step < steps; step += 1)
      for (let line = 0; line < lines; line += 1) {
        const from = (step * lines + line) * headDim;
        all.set(added.subarray(from, from + headDim), (line * this.#slots + this.#filled + step) * headDim);
      }
  }
}

/** What is filled of the `lines` of `from`, one after another in `to`; the rest of that is zero: what an adapter gone astray has left there may be no number, and a mask hides numbers alone. */
function moveLines(
  from: Float32Array | undefined,
  to: Float32Array,
  { lines, sizes }: { lines: readonly number[]; sizes: { readonly from: number; readonly to: number; readonly filled: number } },
): void {
  let written = 0;
  if (from !== undefined)
    for (const line of lines) {
      to.set(from.subarray(line * sizes.from, line * sizes.from + sizes.filled), written);
      to.fill(0, written + sizes.filled, written + sizes.to);
      written += sizes.to;
    }
  to.fill(0, written);
}
