/** Times our training steps: one JSON object on stdout. Options come as one JSON argument, the same as bench/peers/train_step.py. */
import { z } from "zod";
import { Engine } from "../trainer/engine/engine.ts";
import { parseModelConfig } from "../shared/model-config.ts";
import { Random } from "../trainer/random.ts";
import { StepRun, type StepTimes } from "./train-sides.ts";

const run = StepRun.parse(JSON.parse(z.string().parse(process.argv[2])));
const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

async function main(): Promise<void> {
  const { seed, threads, warmup, steps } = run;
  const engine = await Engine.start({ config: parseModelConfig(run.config), threads });
  await engine.initialise({ seed });
  const step = await createStep(engine);
  for (let index = 0; index < warmup; index += 1) await step();
  const seconds: number[] = [];
  for (let index = 0; index < steps; index += 1) {
    const start = performance.now();
    await step();
    seconds.push((performance.now() - start) / 1000);
  }
  await engine.close();
  const times: StepTimes = { seconds, peakRssBytes: process.resourceUsage().maxRSS * 1024 };
  process.stdout.write(`${JSON.stringify(times)}\n`);
}

async function createStep(engine: Engine): Promise<() => Promise<unknown>> {
  const { kind, rank, rows, length, seed } = run;
  const random = new Random(seed);
  const count = rows * length;
  const draw = (): Int32Array => Int32Array.from({ length: count }, () => Math.floor(random.next() * run.config.vocab_size));
  const batch = { rows, length, tokens: draw(), positions: Int32Array.from({ length: count }, (_, index) => index), targets: draw() };
  const weights = new Float32Array(count).fill(1);
  if (kind === "full") {
    return async () => {
      await engine.accumulate({ ...batch, weights });
      return engine.step({ lr: 1e-3 });
    };
  }
  await engine.createAdapter("a", { rank, alpha: 2 * rank, targets: TARGETS, seed });
  return async () => {
    await engine.accumulateAdapter("a", { ...batch, crossEntropy: { weights } });
    return engine.stepAdapter("a", { lr: 1e-3, divisor: count });
  };
}

await main();
