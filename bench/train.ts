/**
 * `npm run bench:train [-- --seed N --rounds N --python <path>]`: training speed and peak memory against PyTorch for the
 * shipped size, 8 × 256 tokens, whole model and adapter. Sides take turns, each run in a process of its own; medians.
 * Without PyTorch: the share of the step that matrix products at the peak measured in the same run account for.
 */
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type ModelConfig, parseModelConfig } from "../shared/model-config.ts";
import { listParameters } from "../trainer/model/parameters.ts";
import { SHIPPED_SIZES } from "./base-files.ts";
import { atLeast, atMost, type Bar, median, report, say } from "./bench.ts";
import { measureGemmPeak } from "./gemm-peak.ts";
import { toHuggingFaceConfig } from "./random-checkpoint.ts";
import { StepRun, type StepTimes, findTorch, runOurs, runTorch } from "./train-sides.ts";

const KINDS = ["full", "adapter"] as const;
type Kind = (typeof KINDS)[number];
type Side = "ours" | "torch";

const [ROWS, LENGTH, RANK] = [8, 256, 16];
const BASE_CONFIG = new URL("../base/config.json", import.meta.url);

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "8" },
    python: { type: "string" },
  },
});

async function main(): Promise<void> {
  const threads = availableParallelism();
  const config: unknown = existsSync(BASE_CONFIG) ? JSON.parse(readFileSync(BASE_CONFIG, "utf8")) : toHuggingFaceConfig(SHIPPED_SIZES);
  const pythons = [options.python, process.env["NEXTSTATE_PYTHON"], "python3"].flatMap((python) => (python === undefined ? [] : [python]));
  const torch = await findTorch(pythons);
  say(torch === undefined ? `no PyTorch 2.6 or later with MKL in ${pythons.join(", ")}` : `peer: PyTorch ${torch.version}`);
  const runs = new Map<string, StepTimes[]>();
  const peaks: number[] = [];
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    say(`round ${round}`);
    peaks.push(await measureGemmPeak(threads));
    for (const kind of KINDS) {
      const run = StepRun.parse({
        kind,
        config,
        rank: RANK,
        rows: ROWS,
        length: LENGTH,
        threads,
        seed: Number(options.seed),
        warmup: 2,
        steps: Number(options.steps),
      });
      record(runs, `${kind} ours`, await runOurs(run));
      if (torch !== undefined) record(runs, `${kind} torch`, await runTorch(torch.python, run));
    }
  }
  summarise(runs, { peak: median(peaks), torch: torch?.version ?? null, threads, config: parseModelConfig(config) });
}

function record(runs: Map<string, StepTimes[]>, name: string, times: StepTimes): void {
  runs.set(name, [...(runs.get(name) ?? []), times]);
  say(`${name}: ${tokensPerSecond(times).toFixed(0)} tokens/s, ${(times.peakRssBytes / 2 ** 20).toFixed(0)} MiB`);
}

const tokensPerSecond = ({ seconds }: StepTimes): number => (ROWS * LENGTH) / median(seconds);

type Summary = { tokensPerSecond: number; peakRssBytes: number };
type Conditions = { peak: number; torch: string | null; threads: number; config: ModelConfig };

function summarise(runs: ReadonlyMap<string, StepTimes[]>, { peak, torch, threads, config }: Conditions): void {
  const summaryOf = (kind: Kind, side: Side): Summary | null => {
    const found = runs.get(`${kind} ${side}`);
    return found === undefined
      ? null
      : { tokensPerSecond: median(found.map(tokensPerSecond)), peakRssBytes: median(found.map(({ peakRssBytes }) => peakRssBytes)) };
  };
  const figures: Record<string, unknown> = { gemmPeakGflops: peak / 1e9 };
  const bars: Bar[] = [];
  for (const kind of KINDS) {
    const [ours, theirs] = [summaryOf(kind, "ours"), summaryOf(kind, "torch")];
    const share = ours === null ? null : (productFlops(config, kind) * ours.tokensPerSecond) / (ROWS * LENGTH) / peak;
    figures[kind] = { ours, torch: theirs, gemmShare: share };
    bars.push(atLeast(`${kind}: speed against PyTorch`, ours && theirs && ours.tokensPerSecond / theirs.tokensPerSecond, 1, "ratio"));
    bars.push(atMost(`${kind}: peak memory against PyTorch`, ours && theirs && ours.peakRssBytes / theirs.peakRssBytes, 1, "ratio"));
    if (torch === null) bars.push(atLeast(`${kind}: share of the step at the Gemm peak`, share, 0.7, "share"));
  }
  report({
    bench: "train",
    conditions: { torch, threads, rows: ROWS, length: LENGTH, rank: RANK, seed: Number(options.seed), rounds: Number(options.rounds) },
    figures,
    bars,
  });
}

/**
 * Floating-point operations of a step's matrix products. A product forward costs 2·M·P; the gradient of its input as much again,
 * the gradient of its weight too where it is trained. Attention counts the causal half. Adapters' own products are left out.
 */
function productFlops(config: ModelConfig, kind: Kind): number {
  const tokens = ROWS * LENGTH;
  const blocks = listParameters(config).reduce(
    (sum, { kind: part, size }) => (part === "linear" || part === "residual" ? sum + size : sum),
    0,
  );
  const matrices = blocks + config.vocabSize * config.hiddenSize;
  const attention = (2 * config.layerCount * config.headCount * config.headDim * LENGTH) / 2;
  return 2 * tokens * (matrices * (kind === "full" ? 3 : 2) + attention * 3);
}

await main();
