/** `npm run check:gpu` on a machine without a GPU: it measures nothing, says so, and fails nobody; a rehearsal goes through its code on the CPU. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { z } from "zod";
import { chooseDevice } from "../../trainer/onnx/device.ts";

const run = promisify(execFile);
const Unmeasured = z.array(z.object({ name: z.string(), value: z.null(), holds: z.null() }));
const Report = z.object({
  bench: z.literal("check:gpu"),
  conditions: z.looseObject({ device: z.null(), missing: z.string() }),
  bars: Unmeasured,
});
const Rehearsal = z.object({
  conditions: z.looseObject({ device: z.literal("cpu"), rehearsal: z.literal(true) }),
  figures: z.object({
    operators: z.object({ relativeError: z.number() }),
    layers: z.object({ float32: z.object({ relativeError: z.number() }) }),
    step: z.object({
      losses: z.array(z.number()),
      bytesPerStep: z.number(),
      bytesPerToken: z.number(),
      bytesHeld: z.number(),
      weightBytes: z.number(),
    }),
    layersLoop: z.boolean(),
    loop: z.null(),
  }),
  bars: Unmeasured,
});

const hasCuda = await chooseDevice("cuda").then(
  () => true,
  () => false,
);

it.skipIf(hasCuda)("ends well, with every bar unmeasured and the reason", async () => {
  // A code other than 0 rejects.
  const { stdout } = await run(process.execPath, ["bench/check-gpu.ts"]);
  const { bars, conditions } = Report.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  expect(bars).toHaveLength(9);
  expect(conditions.missing).toMatch(/^--device cuda: a machine that has it expected, got \S/);
});

it("rehearses every part but a started system: held tensors, in layers, against the CPU's own way", async () => {
  const { stdout } = await run(process.execPath, ["bench/check-gpu.ts", "--rehearse", "--layers", "1", "--without-system"]);
  const { figures, bars } = Rehearsal.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  expect(bars).toHaveLength(9);
  expect(figures.operators.relativeError).toBe(0);
  // The two ways differ in the order of their sums, and in nothing else.
  expect(figures.layers.float32.relativeError).toBeGreaterThan(0);
  expect(figures.layers.float32.relativeError).toBeLessThan(1e-4);
  expect(figures.layersLoop).toBe(true);
  const { losses, bytesPerStep, bytesPerToken, bytesHeld, weightBytes } = figures.step;
  expect(losses.at(-1)).toBeLessThan(losses.at(0) ?? 0);
  expect(bytesPerStep).toBeLessThan(0.25 * weightBytes);
  expect(bytesPerToken).toBeLessThan(0.1 * weightBytes);
  expect(bytesHeld).toBeLessThan(2 * weightBytes);
}, 300_000);
