/** One instance of the WASM kernel with its linear memory. The compiled module is passed in: workerd compiles none. */
import { Heap } from "./heap.ts";

type KernelExports = {
  readonly memory: WebAssembly.Memory;
  heapBase(): number;
  scratchBytes(model: number, contextTokens: number): number;
  maxRank(): number;
  forward(model: number, rows: number, count: number, logitsFrom: number): void;
  exponentials(out: number, logits: number, count: number, max: number, inverseTemperature: number): number;
};

export type Kernel = {
  readonly exports: KernelExports;
  readonly heap: Heap;
  /** Views are valid until the next allocation, which may move the memory. */
  floats(at: number, length: number): Float32Array;
  words(at: number, length: number): Uint32Array;
};

export function createKernel(module: WebAssembly.Module): Kernel {
  // The module is built from edge/kernel/assembly, whose exports these are.
  const exports = new WebAssembly.Instance(module, {}).exports as unknown as KernelExports;
  const { memory } = exports;
  return {
    exports,
    heap: new Heap(memory, exports.heapBase()),
    floats: (at, length) => new Float32Array(memory.buffer, at, length),
    words: (at, length) => new Uint32Array(memory.buffer, at, length),
  };
}
