/** Memory that graphs read and gave back. */
import { describe, expect, it } from "vitest";
import { discard, sharedFloats, shareFloats } from "../../../trainer/onnx/memory.ts";
import { SharedPool } from "../../../trainer/onnx/pool.ts";

describe("discard", () => {
  it("gives back what arrays of their own hold, and leaves shared memory as it is", () => {
    const [own, shared] = [new Float32Array(4), sharedFloats(4).fill(1)];
    discard({ own, shared });
    expect([own.length, [...shared]]).toEqual([0, [1, 1, 1, 1]]);
  });
});

it("shareFloats copies a part of an array into memory that threads share", () => {
  const shared = shareFloats(Float32Array.of(1, 2, 3, 4).subarray(1, 3));
  expect(shared.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect([...shared]).toEqual([2, 3]);
});

describe("SharedPool", () => {
  it("lends memory that nobody else has, and has it back whatever comes of its use", async () => {
    const pool = new SharedPool();
    const [first, second] = await pool.lend(async (take) => [take(4), take(2)]);
    expect([first?.length, second?.length]).toEqual([4, 2]);
    await expect(
      pool.lend(async (take) => {
        expect(take(3)).toBe(first);
        expect(pool.take(2)).toBe(second);
        throw new Error("of no use");
      }),
    ).rejects.toThrow("of no use");
    expect(pool.take(4)).toBe(first);
  });
});
