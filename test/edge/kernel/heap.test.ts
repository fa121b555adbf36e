/** The kernel's memory: blocks that never overlap, and are used again. */
import { describe, expect, it } from "vitest";
import { Heap } from "../../../edge/kernel/heap.ts";

const BASE = 1000;

function createHeap(): { heap: Heap; memory: WebAssembly.Memory } {
  const memory = new WebAssembly.Memory({ initial: 1 });
  return { heap: new Heap(memory, BASE), memory };
}

describe("Heap", () => {
  it("hands out aligned blocks above its base that do not overlap", () => {
    const { heap } = createHeap();
    const sizes = [1, 64, 65, 4096, 7];
    const blocks = sizes.map((bytes) => ({ at: heap.allocate(bytes), bytes }));
    for (const { at } of blocks) expect([at % 64, at >= BASE]).toEqual([0, true]);
    const sorted = blocks.toSorted((a, b) => a.at - b.at);
    sorted
      .slice(1)
      .forEach((block, index) => expect(block.at).toBeGreaterThanOrEqual((sorted[index]?.at ?? NaN) + (sorted[index]?.bytes ?? NaN)));
  });

  it("grows the memory when nothing fits, and keeps what is in it", () => {
    const { heap, memory } = createHeap();
    const first = heap.allocate(64);
    new Uint8Array(memory.buffer, first, 64).fill(7);
    const big = heap.allocate(1_000_000);
    expect(memory.buffer.byteLength).toBeGreaterThanOrEqual(big + 1_000_000);
    expect(new Uint8Array(memory.buffer, first, 64).every((byte) => byte === 7)).toBe(true);
  });

  it("uses released blocks again, merged with their neighbours, and so never grows for the same load", () => {
    const { heap, memory } = createHeap();
    const blocks = [heap.allocate(30_000), heap.allocate(30_000), heap.allocate(30_000)];
    const { byteLength } = memory.buffer;
    for (const at of [blocks[2], blocks[0], blocks[1]]) heap.release(at ?? NaN);
    expect(heap.usedBytes).toBe(0);
    expect(heap.allocate(90_000)).toBe(blocks[0]);
    expect(memory.buffer.byteLength).toBe(byteLength);
  });

  it("refuses to release what it did not hand out, or twice", () => {
    const { heap } = createHeap();
    const at = heap.allocate(64);
    expect(() => heap.release(at + 64)).toThrow("an allocated block expected");
    heap.release(at);
    expect(() => heap.release(at)).toThrow(`expected at ${at}`);
  });
});
