/** `npm run check:gpu` on a machine without a GPU: it measures nothing, says so, and fails nobody. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { z } from "zod";
import { chooseDevice } from "../../trainer/onnx/device.ts";

const run = promisify(execFile);
const Report = z.object({
  bench: z.literal("check:gpu"),
  conditions: z.looseObject({ device: z.null(), missing: z.string() }),
  bars: z.array(z.object({ name: z.string(), value: z.null(), holds: z.null() })),
});

const hasCuda = await chooseDevice("cuda").then(
  () => true,
  () => false,
);

it.skipIf(hasCuda)("ends well, with every bar unmeasured and the reason", async () => {
  // A code other than 0 rejects.
  const { stdout } = await run(process.execPath, ["bench/check-gpu.ts"]);
  const { bars, conditions } = Report.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  expect(bars).toHaveLength(5);
  expect(conditions.missing).toMatch(/^--device cuda: a machine that has it expected, got \S/);
});
