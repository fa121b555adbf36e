/**
 * `npm run check:gpu [-- --device cuda|webgpu --base <folder> --rehearse]`: a device against the CPU. Gradients of every operator
 * and of one layer, a step of an adapter at Qwen3-0.6B's sizes with the bytes that cross for it, and one whole loop: a started
 * system is corrected, learns and takes it back. Without the device nothing is measured. `--rehearse` runs all of it on the CPU,
 * which shows that the check itself works, and of a device nothing.
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { chooseDevice, Device } from "../trainer/onnx/device.ts";
import { atLeast, atMost, type Bar, report, say } from "./bench.ts";
import { compareLayer, compareOperators, type Worst } from "./gpu/compare.ts";
import { runLoop } from "./gpu/loop.ts";
import { measureStep, type Step } from "./gpu/step.ts";

const { values: options } = readCommandLine({
  options: {
    device: { type: "string", default: "cuda" },
    base: { type: "string", default: "base" },
    /** A smaller model in place of Qwen3-0.6B's sizes, for a rehearsal: layers. */
    layers: { type: "string", default: "28" },
    rehearse: { type: "boolean", default: false },
  },
});

type Figures = {
  readonly operators: Worst;
  readonly layer: Worst;
  readonly halfLayer: Worst | null;
  readonly step: Step;
  readonly loop: boolean;
};

async function main(): Promise<void> {
  const asked = Device.exclude(["cpu"]).parse(options.device);
  const missing = options.rehearse ? undefined : await whatIsMissing(asked);
  if (missing !== undefined) say(missing);
  const device = options.rehearse ? "cpu" : asked;
  const figures = missing === undefined ? await measure(device) : null;
  const conditions = { device: figures === null ? null : device, asked, rehearsal: options.rehearse, missing: missing ?? null };
  report({ bench: "check:gpu", conditions, figures: figures ?? {}, bars: barsOf(figures) });
}

/** cuBLAS rounds float32 operands to 10 bits unless it is told not to, which no comparison would get past. */
function forbidRounding(): void {
  process.env["NVIDIA_TF32_OVERRIDE"] = "0";
}

async function whatIsMissing(device: Device): Promise<string | undefined> {
  forbidRounding();
  try {
    await chooseDevice(device);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

async function measure(device: Device): Promise<Figures> {
  say("gradients of every operator");
  const operators = await compareOperators(device);
  say("gradients of one layer");
  const layer = await compareLayer(device, "float32");
  const halfLayer = device === "cpu" ? null : await compareLayer(device, "float16");
  say("steps of an adapter");
  const step = await measureStep(device, Number(options.layers));
  say("a whole loop");
  return { operators, layer, halfLayer, step, loop: await runLoop(options.base, device) };
}

/** A rehearsal meets no bar: what ran was the CPU. */
function barsOf(figures: Figures | null): Bar[] {
  const measured = options.rehearse ? null : figures;
  const step = measured?.step ?? null;
  return [
    atMost("gradients of every operator, device against CPU", measured?.operators.relativeError ?? null, 1e-4, "relative error"),
    atMost("gradients of one layer, device against CPU", measured?.layer.relativeError ?? null, 1e-3, "relative error"),
    atMost("gradients of one layer with matrices of 16 bits", measured?.halfLayer?.relativeError ?? null, 2e-2, "relative error"),
    atMost("bytes that cross per step, of the frozen weights' bytes", step && step.bytesPerStep / step.weightBytes, 0.25, "ratio"),
    atLeast("whole loops: corrected, learned, taken back", measured && Number(measured.loop), 1, "loops"),
  ];
}

await main();
