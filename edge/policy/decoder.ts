/** Runs the loaded model on rows of tokens and shows their logits. */
import { invariant } from "../../shared/assert.ts";
import * as layout from "../kernel/assembly/layout.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { LoadedModel } from "./weights.ts";

/** A token at its place: `pages` is the address of its sequence's page pointers, `adapter` of an adapter table or 0. */
export type Row = { readonly token: number; readonly position: number; readonly pages: number; readonly adapter: number };

export const MAX_ROWS = layout.MAX_ROWS;

export class Decoder {
  readonly kernel: Kernel;
  readonly model: LoadedModel;
  readonly #rows: number;
  readonly #exponentials: number;

  constructor(kernel: Kernel, model: LoadedModel) {
    this.kernel = kernel;
    this.model = model;
    this.#rows = kernel.heap.allocate(layout.MAX_ROWS * layout.ROW_WORDS * 4);
    this.#exponentials = kernel.heap.allocate(model.logitsStride * 4);
  }

  /** Bytes of one KV page of PAGE positions, all layers. */
  get pageBytes(): number {
    const { layerCount, kvHeadCount, headDim } = this.model.config;
    return layerCount * 2 * kvHeadCount * headDim * layout.PAGE * 4;
  }

  /**
   * Runs 1..MAX_ROWS rows; rows of one sequence come in ascending position. Logits exist afterwards for rows
   * `logitsFrom`.. only, and until the next call.
   */
  forward(rows: readonly Row[], logitsFrom: number): void {
    invariant(rows.length > 0 && rows.length <= layout.MAX_ROWS, `1..${layout.MAX_ROWS} rows expected, got ${rows.length}`);
    const view = this.kernel.words(this.#rows, rows.length * layout.ROW_WORDS);
    rows.forEach((row, index) => {
      const at = index * layout.ROW_WORDS;
      view[at + layout.ROW_TOKEN] = row.token;
      view[at + layout.ROW_POSITION] = row.position;
      view[at + layout.ROW_PAGES] = row.pages;
      view[at + layout.ROW_ADAPTER] = row.adapter;
    });
    this.kernel.exports.forward(this.model.table, this.#rows, rows.length, logitsFrom);
  }

  /** Logits [V] of a row of the last call: a view to read, or to mask, before anything else runs. */
  logits(row: number): Float32Array {
    return this.kernel.floats(this.#logitsAt(row), this.model.config.vocabSize);
  }

  /** exp((logit − max) / temperature) of a row, [V]; a view that the next call overwrites. */
  exponentials(row: number, { max, temperature }: { max: number; temperature: number }): Float32Array {
    const { logitsStride } = this.model;
    const { vocabSize } = this.model.config;
    const logits = this.#logitsAt(row);
    this.kernel.floats(logits, logitsStride).fill(-Infinity, vocabSize); // padding takes no probability
    this.kernel.exports.exponentials(this.#exponentials, logits, logitsStride, max, 1 / temperature);
    return this.kernel.floats(this.#exponentials, vocabSize);
  }

  #logitsAt(row: number): number {
    return this.model.logits + row * this.model.logitsStride * 4;
  }
}
