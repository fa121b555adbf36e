/** Memory that graphs read and gave back. */
import { describe, expect, it } from "vitest";
import { discard, sharedFloats } from "../../../trainer/onnx/memory.ts";

describe("discard", () => {
  it("gives back what arrays of their own hold, and leaves shared memory as it is", () => {
    const [own, shared] = [new Float32Array(4), sharedFloats(4).fill(1)];
    discard({ own, shared });
    expect([own.length, [...shared]]).toEqual([0, [1, 1, 1, 1]]);
  });
});
