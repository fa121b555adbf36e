/**
 * `npm run check:gpu [-- --device cuda|webgpu --base <folder> --rehearse]`: a device against the CPU. Every operator, layers in each
 * type that the device multiplies in, steps of an adapter and an answer at Qwen3-0.6B's sizes with the bytes that cross for them, a
 * loop of a small base that is run by layer, and one whole loop: a started system is corrected, learns and takes it back. Without
 * the device nothing is measured. `--rehearse` runs all of it on the CPU, frozen tensors held as on a device, which shows that the
 * check itself works, and of a device nothing; `--without-system` leaves out what starts one.
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import type { FloatType } from "../trainer/autodiff/shape.ts";
import { chooseDevice, COMPUTES, Device } from "../trainer/onnx/device.ts";
import { atLeast, atMost, type Bar, report, say } from "./bench.ts";
import { compareLayers, compareOperators, type Worst } from "./gpu/compare.ts";
import { loopByLayer } from "./gpu/layers-loop.ts";
import { runLoop } from "./gpu/loop.ts";
import { measureStep, type Step } from "./gpu/step.ts";

const { values: options } = readCommandLine({
  options: {
    device: { type: "string", default: "cuda" },
    base: { type: "string", default: "base" },
    /** A smaller model in place of Qwen3-0.6B's sizes, for a rehearsal: layers. */
    layers: { type: "string", default: "28" },
    rehearse: { type: "boolean", default: false },
    "without-system": { type: "boolean", default: false },
  },
});

type Figures = {
  readonly operators: Worst;
  /** By the type of the matrices, of those that the device has. */
  readonly layers: Partial<Record<FloatType, Worst>>;
  readonly step: Step;
  readonly layersLoop: boolean;
  /** null where it was left out. */
  readonly loop: boolean | null;
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
  const operators = await timed("every operator", () => compareOperators(device));
  const layers: Partial<Record<FloatType, Worst>> = {};
  let layersLoop = true;
  for (const compute of COMPUTES[device]) {
    layers[compute] = await timed(`layers in ${compute}`, () => compareLayers(device, compute));
    if (!(await timed(`a loop by layer in ${compute}`, () => loopByLayer(device, compute)))) layersLoop = false;
  }
  const step = await timed("steps of an adapter, and an answer under it", () => measureStep(device, Number(options.layers)));
  if (options["without-system"]) return { operators, layers, step, layersLoop, loop: null };
  return { operators, layers, step, layersLoop, loop: await timed("a whole loop", () => runLoop(options.base, device)) };
}

/** Says what begins, and how long it took: graphs that a device compiles first take minutes on one and seconds on another. */
async function timed<Value>(part: string, run: () => Promise<Value>): Promise<Value> {
  say(part);
  const start = performance.now();
  const value = await run();
  say(`${part}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return value;
}

/** A rehearsal meets no bar: what ran was the CPU. */
function barsOf(figures: Figures | null): Bar[] {
  const measured = options.rehearse ? null : figures;
  const step = measured?.step ?? null;
  const ofWeights = (bytes: number | null): number | null => (step && bytes !== null ? bytes / step.weightBytes : null);
  const layers = (compute: FloatType): number | null => measured?.layers[compute]?.relativeError ?? null;
  return [
    atMost("every operator, device against CPU", measured?.operators.relativeError ?? null, 1e-4, "relative error"),
    atMost("gradients of layers, device against CPU", layers("float32"), 1e-3, "relative error"),
    atMost("gradients of layers with matrices of float16", layers("float16"), 2e-2, "relative error"),
    atMost("gradients of layers with matrices of bfloat16", layers("bfloat16"), 5e-2, "relative error"),
    atMost("bytes that cross per step, of the frozen weights' bytes", ofWeights(step?.bytesPerStep ?? null), 0.25, "ratio"),
    atMost("bytes that cross per token of an answer, of the frozen weights' bytes", ofWeights(step?.bytesPerToken ?? null), 0.1, "ratio"),
    atMost("bytes of frozen tensors that are held, of the frozen weights' bytes", ofWeights(step?.bytesHeld ?? null), 2, "ratio"),
    atLeast("loops by layer, in every type: corrected, learned, taken back", measured && Number(measured.layersLoop), 1, "loops"),
    atLeast("whole loops: corrected, learned, taken back", measured?.loop == null ? null : Number(measured.loop), 1, "loops"),
  ];
}

await main();
