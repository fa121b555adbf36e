/**
 * Hands out blocks of the kernel's linear memory: first fit, neighbours merged on release. Linear memory grows when
 * nothing fits and never shrinks, so what matters is who may allocate how much; the caches above keep those budgets.
 */
import { invariant } from "../../shared/assert.ts";

const ALIGNMENT = 64; // a cache line, and wide enough for any vector load
const WASM_PAGE = 65_536;

type Block = { at: number; bytes: number };

export class Heap {
  readonly #memory: WebAssembly.Memory;
  /** Free blocks below `#top`, by address. */
  readonly #free: Block[] = [];
  readonly #used = new Map<number, number>();
  #top: number;
  #usedBytes = 0;

  constructor(memory: WebAssembly.Memory, base: number) {
    this.#memory = memory;
    this.#top = Math.ceil(base / ALIGNMENT) * ALIGNMENT;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** The address of a block, aligned to 64 bytes, content undefined. Views of the memory may be detached by it. */
  allocate(size: number): number {
    const bytes = roundUp(size);
    const index = this.#free.findIndex((block) => block.bytes >= bytes);
    const block = this.#free[index];
    const at = block === undefined ? this.#extend(bytes) : block.at;
    if (block !== undefined) {
      block.at += bytes;
      block.bytes -= bytes;
      if (block.bytes === 0) this.#free.splice(index, 1);
    }
    this.#used.set(at, bytes);
    this.#usedBytes += bytes;
    return at;
  }

  release(at: number): void {
    const bytes = this.#used.get(at);
    invariant(bytes !== undefined, `an allocated block expected at ${at}`);
    this.#used.delete(at);
    this.#usedBytes -= bytes;
    const next = this.#free.findIndex((block) => block.at > at);
    this.#free.splice(next < 0 ? this.#free.length : next, 0, { at, bytes });
    this.#merge();
  }

  #extend(bytes: number): number {
    const at = this.#top;
    this.#top += bytes;
    const missing = this.#top - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / WASM_PAGE));
    return at;
  }

  #merge(): void {
    for (let i = this.#free.length - 1; i > 0; i--) {
      const [left, right] = [this.#free[i - 1], this.#free[i]];
      if (left === undefined || right === undefined || left.at + left.bytes !== right.at) continue;
      left.bytes += right.bytes;
      this.#free.splice(i, 1);
    }
  }
}

/** What a block of this size takes from a budget. */
export function roundUp(size: number): number {
  return Math.ceil(Math.max(size, 1) / ALIGNMENT) * ALIGNMENT;
}
