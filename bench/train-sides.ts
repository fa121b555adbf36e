/** The two sides of bench:train, each a child process per run, so that neither's memory or threads touch the other's. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url).href);

/** One timed run: what is trained, its sizes, and how many steps. */
export const StepRun = z.object({
  kind: z.enum(["full", "adapter"]),
  config: z.looseObject({ vocab_size: z.int() }),
  rank: z.int(),
  rows: z.int(),
  length: z.int(),
  threads: z.int(),
  seed: z.int(),
  warmup: z.int(),
  steps: z.int(),
});
export type StepRun = z.infer<typeof StepRun>;

const StepTimes = z.object({ seconds: z.array(z.number()), peakRssBytes: z.number() });
export type StepTimes = z.infer<typeof StepTimes>;

/** Our engine, in a process of its own. */
export function runOurs(options: StepRun): Promise<StepTimes> {
  return runChild(process.execPath, [pathOf("./train-step.ts"), JSON.stringify(options)]);
}

/** PyTorch, in a process of its own. */
export function runTorch(python: string, options: StepRun): Promise<StepTimes> {
  return runChild(python, [pathOf("./peers/train_step.py"), JSON.stringify(options)]);
}

async function runChild(command: string, args: readonly string[]): Promise<StepTimes> {
  const { stdout } = await run(command, [...args]);
  return StepTimes.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
}

export type Torch = { readonly python: string; readonly version: string };

const PROBE = "import torch; print(torch.__version__, torch.backends.mkl.is_available())";
const OLDEST: readonly [number, number] = [2, 6]; // older CPU kernels are no fair peer

/** The first of `pythons` with a PyTorch that counts as a peer: 2.6 or later, with MKL. */
export async function findTorch(pythons: readonly string[]): Promise<Torch | undefined> {
  for (const python of pythons) {
    const version = await probeTorch(python);
    if (version !== undefined) return { python, version };
  }
  return undefined;
}

async function probeTorch(python: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(python, ["-c", PROBE]);
    const [version = "", mkl] = stdout.trim().split(" ");
    const [major = 0, minor = 0] = version.split(".").map(Number);
    const recent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
    return recent && mkl === "True" ? version : undefined;
  } catch {
    return undefined; // no such program, or no torch in it: not a peer
  }
}
