/** Where graphs run: which providers of ONNX Runtime this machine has, and which of them is taken. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { gemm } from "../autodiff/build.ts";
import { Graph } from "../autodiff/graph.ts";
import type { FloatType } from "../autodiff/shape.ts";
import { encodeModel } from "./encode.ts";
import { GraphSession } from "./session.ts";

export const Device = z.enum(["cpu", "cuda", "webgpu"]);
export type Device = z.infer<typeof Device>;

/** `auto` takes CUDA where there is one, else the CPU. */
export const DeviceChoice = z.enum(["auto", ...Device.options]);
export type DeviceChoice = z.infer<typeof DeviceChoice>;

export const Compute = z.enum(["float32", "float16", "bfloat16"]) satisfies z.ZodType<FloatType>;

/**
 * What each provider multiplies matrices in, by its kernels for Gemm:
 * https://github.com/microsoft/onnxruntime/blob/main/docs/OperatorKernels.md
 */
export const COMPUTES: { readonly [D in Device]: readonly FloatType[] } = {
  cpu: ["float32"],
  cuda: ["float32", "float16", "bfloat16"],
  webgpu: ["float32", "float16"],
};

export type Chosen = { readonly device: Device; /** For people. */ readonly reason: string };

/** @throws {input/invalid} where the device asked for is not there, saying why and what to change. */
export async function chooseDevice(choice: DeviceChoice): Promise<Chosen> {
  if (choice === "cpu") return { device: "cpu", reason: "asked for" };
  const wanted = choice === "auto" ? "cuda" : choice;
  const missing = await whatIsMissing(wanted);
  if (missing === undefined) return { device: wanted, reason: choice === "auto" ? "found" : "asked for" };
  if (choice === "auto") return { device: "cpu", reason: missing };
  throw new AppError("input/invalid", `--device ${choice}: a machine that has it expected, got ${missing}; --device auto goes on without`);
}

/** @throws {input/invalid} where a device's provider has no kernels for a type. */
export function checkCompute(compute: FloatType, device: Device): void {
  if (!COMPUTES[device].includes(compute))
    throw new AppError("input/invalid", `--compute: ${COMPUTES[device].join(" or ")} on ${device} expected, got ${compute}`);
}

/** Why a small product does not come out right on a device; undefined where it does. */
async function whatIsMissing(device: Device): Promise<string | undefined> {
  if (device === "cuda" && !existsSync(cudaProvider()))
    return "no CUDA provider in onnxruntime-node (npm run setup:cuda fetches it, for Linux on x64)";
  const graph = new Graph();
  const x = graph.input("x", [2, 2]);
  try {
    const session = await GraphSession.open(encodeModel({ product: gemm(x, x) }), { threads: 1, device });
    const { product } = await session.run({ x: { values: Float32Array.of(1, 2, 3, 4), shape: [2, 2] } });
    await session.close();
    return product?.join() === "7,10,15,22" ? undefined : `${product?.join()} for a product that is 7,10,15,22`;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return said.trim().split("\n")[0]?.slice(-300) ?? "an error without a message";
  }
}

function cudaProvider(): string {
  const home = dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json"));
  return join(home, "bin/napi-v6", process.platform, process.arch, "libonnxruntime_providers_cuda.so");
}
