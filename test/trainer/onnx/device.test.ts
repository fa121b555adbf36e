/** Which device graphs run on, and why: found, asked for, or missing. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { type Chosen, chooseDevice } from "../../../trainer/onnx/device.ts";
import { tinyConfig } from "../tiny.ts";

/** What is chosen, or the error that says why it cannot be. */
const tryDevice = (device: "cuda" | "webgpu"): Promise<Chosen | AppError> =>
  chooseDevice(device).catch((error: unknown) => {
    if (error instanceof AppError) return error;
    throw error;
  });

describe("a device", () => {
  it("is the CPU where it is asked for", async () => {
    expect(await chooseDevice("cpu")).toEqual({ device: "cpu", reason: "asked for" });
  });

  it("that is asked for is taken, or refused with what is missing and what to do without it", async () => {
    for (const device of ["cuda", "webgpu"] as const) {
      const tried = await tryDevice(device);
      if (!(tried instanceof AppError)) expect(tried.device).toBe(device);
      else {
        expect(tried.code).toBe("input/invalid");
        expect(tried.message).toMatch(
          new RegExp(`^--device ${device}: a machine that has it expected, got \\S.*; --device auto goes on without$`),
        );
      }
    }
  });

  it("is by default CUDA, or the CPU with the reason why not", async () => {
    const [auto, cuda] = [await chooseDevice("auto"), await tryDevice("cuda")];
    if (cuda instanceof AppError) {
      expect(auto.device).toBe("cpu");
      expect(cuda.message).toContain(`got ${auto.reason};`);
    } else expect(auto).toEqual({ device: "cuda", reason: "found" });
  });

  it("multiplies only in types that it has kernels for", () => {
    const start = (): EngineCore => new EngineCore({ config: tinyConfig(), threads: 1, device: "cpu", compute: "float16" });
    expect(start).toThrow("--compute: float32 on cpu expected, got float16");
  });
});
