/**
 * `npm run bench:train [-- --shape base|qwen3-0.6b --seed N --rounds N --python <path>]`: training speed and peak memory
 * against PyTorch: of the shipped base, 8 × 256 tokens, whole model and adapter; or of an adapter beside random weights of
 * Qwen3-0.6B's sizes, 1 × 256 tokens. Sides take turns, each run in a process of its own; medians.
 * Without PyTorch: the share of the step that matrix products at the peak measured in the same run account for.
 */
import { availableParallelism, loadavg } from "node:os";
import { readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { type ModelConfig, parseModelConfig } from "../shared/model-config.ts";
import { listParameters } from "../trainer/model/parameters.ts";
import { atLeast, atMost, type Bar, median, report, say } from "./bench.ts";
import { measureGemmPeak } from "./gemm-peak.ts";
import { StepRun, type StepTimes, findTorch, runOurs, runTorch } from "./train-sides.ts";
import { SHAPES, type TrainShape } from "./train-shapes.ts";

type Kind = TrainShape["kinds"][number];
type Side = "ours" | "torch";

const { values: options } = readCommandLine({
  options: {
    shape: { type: "string", default: "base" },
    seed: { type: "string", default: "1" },
    rounds: { type: "string" },
    steps: { type: "string" },
    python: { type: "string" },
  },
});
const shape = shapeOf(options.shape);
const { rows, length, rank, warmup, config, kinds } = shape;
const [rounds, steps] = [Number(options.rounds ?? shape.rounds), Number(options.steps ?? shape.steps)];

function shapeOf(name: string): TrainShape {
  const found = SHAPES[name];
  if (found !== undefined) return found;
  throw new AppError("input/invalid", `--shape: ${Object.keys(SHAPES).join(" or ")} expected, got ${name}`);
}

async function main(): Promise<void> {
  const threads = availableParallelism();
  const pythons = [options.python, process.env["NEXTSTATE_PYTHON"], "python3"].flatMap((python) => (python === undefined ? [] : [python]));
  const torch = await findTorch(pythons);
  say(torch === undefined ? `no PyTorch 2.6 or later with MKL in ${pythons.join(", ")}` : `peer: PyTorch ${torch.version}`);
  const runs = new Map<string, StepTimes[]>();
  const peaks: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round}`);
    peaks.push(await measureGemmPeak(threads));
    for (const kind of kinds) {
      const run = StepRun.parse({
        kind,
        config,
        rank,
        rows,
        length,
        threads,
        seed: Number(options.seed),
        warmup,
        steps,
      });
      record(runs, `${kind} ours`, await runOurs(run));
      if (torch !== undefined) record(runs, `${kind} torch`, await runTorch(torch.python, run));
    }
  }
  summarise(runs, { peak: median(peaks), torch: torch?.version ?? null, threads, sizes: parseModelConfig(config) });
}

function record(runs: Map<string, StepTimes[]>, name: string, times: StepTimes): void {
  runs.set(name, [...(runs.get(name) ?? []), times]);
  say(`${name}: ${tokensPerSecond(times).toFixed(1)} tokens/s, ${(times.peakRssBytes / 2 ** 20).toFixed(0)} MiB`);
}

const tokensPerSecond = ({ seconds }: StepTimes): number => (rows * length) / median(seconds);

type Summary = { tokensPerSecond: number; peakRssBytes: number };
type Conditions = { peak: number; torch: string | null; threads: number; sizes: ModelConfig };

function summarise(runs: ReadonlyMap<string, StepTimes[]>, { peak, torch, threads, sizes }: Conditions): void {
  const summaryOf = (kind: Kind, side: Side): Summary | null => {
    const found = runs.get(`${kind} ${side}`);
    return found === undefined
      ? null
      : { tokensPerSecond: median(found.map(tokensPerSecond)), peakRssBytes: median(found.map(({ peakRssBytes }) => peakRssBytes)) };
  };
  const figures: Record<string, unknown> = { gemmPeakGflops: peak / 1e9 };
  const bars: Bar[] = [];
  for (const kind of kinds) {
    const [ours, theirs] = [summaryOf(kind, "ours"), summaryOf(kind, "torch")];
    const share = ours === null ? null : (productFlops(sizes, kind) * ours.tokensPerSecond) / (rows * length) / peak;
    figures[kind] = { ours, torch: theirs, gemmShare: share };
    bars.push(
      atLeast(
        `${kind}: speed against PyTorch`,
        ours && theirs && ours.tokensPerSecond / theirs.tokensPerSecond,
        shape.bars.speed[kind],
        "ratio",
      ),
    );
    const memory = ours && theirs && ours.peakRssBytes / theirs.peakRssBytes;
    bars.push(atMost(`${kind}: peak memory against PyTorch`, memory, shape.bars.memory, "ratio"));
    if (torch === null) bars.push(atLeast(`${kind}: share of the step at the Gemm peak`, share, 0.7, "share"));
  }
  report({
    bench: "train",
    conditions: {
      shape: options.shape,
      torch,
      threads,
      rows,
      length,
      rank,
      seed: Number(options.seed),
      rounds,
      steps,
      load: loadavg()[0] ?? null,
    },
    figures,
    bars,
  });
}

/**
 * Floating-point operations of a step's matrix products. A product forward costs 2·M·P; the gradient of its input as much again,
 * the gradient of its weight too where it is trained. Attention counts the causal half. Adapters' own products are left out.
 */
function productFlops(sizes: ModelConfig, kind: Kind): number {
  const tokens = rows * length;
  const blocks = listParameters(sizes).reduce(
    (sum, { kind: part, size }) => (part === "linear" || part === "residual" ? sum + size : sum),
    0,
  );
  const matrices = blocks + sizes.vocabSize * sizes.hiddenSize;
  const attention = (2 * sizes.layerCount * sizes.headCount * sizes.headDim * length) / 2;
  return 2 * tokens * (matrices * (kind === "full" ? 3 : 2) + attention * 3);
}

await main();
