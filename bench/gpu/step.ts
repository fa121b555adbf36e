/** Steps of an adapter beside random weights of Qwen3-0.6B's sizes on a device: time, and what crosses. */
import { parseModelConfig } from "../../shared/model-config.ts";
import { EngineCore } from "../../trainer/engine/core.ts";
import { listParameters } from "../../trainer/model/parameters.ts";
import type { Device } from "../../trainer/onnx/device.ts";
import { Random } from "../../trainer/random.ts";
import { median, say } from "../bench.ts";
import { QWEN3_0_6B } from "../train-shapes.ts";

export type Step = {
  readonly secondsPerStep: number;
  readonly losses: readonly number[];
  /** Fed to graphs and given back by them. */
  readonly bytesPerStep: number;
  readonly weightBytes: number;
};

const [LENGTH, STEPS] = [256, 4];
const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

export async function measureStep(device: Device, layers: number): Promise<Step> {
  const config = parseModelConfig({ ...QWEN3_0_6B, num_hidden_layers: layers });
  const engine = new EngineCore({ config, threads: 2, device });
  try {
    await engine.initialise({ seed: 1 });
    await engine.createAdapter("a", { rank: 16, alpha: 32, targets: TARGETS, seed: 1 });
    const random = new Random(1);
    const draw = (): Int32Array => Int32Array.from({ length: LENGTH }, () => Math.floor(random.next() * config.vocabSize));
    const weights = new Float32Array(LENGTH).fill(1);
    const positions = Int32Array.from({ length: LENGTH }, (_, index) => index);
    const batch = { rows: 1, length: LENGTH, tokens: draw(), positions, targets: draw(), crossEntropy: { weights } };
    const [seconds, losses, bytes]: [number[], number[], number[]] = [[], [], []];
    // The first step compiles graphs and, on a device, uploads the weights.
    for (let step = 0; step <= STEPS; step += 1) {
      const [start, before] = [performance.now(), engine.bytesMoved];
      const loss = (await engine.accumulateAdapter("a", batch)).losses.crossEntropy ?? Number.NaN;
      await engine.stepAdapter("a", { lr: 1e-3, divisor: LENGTH });
      seconds.push((performance.now() - start) / 1000);
      losses.push(loss / LENGTH);
      bytes.push(engine.bytesMoved - before);
      say(`  step ${step}: ${(seconds.at(-1) ?? 0).toFixed(2)} s, loss ${(losses.at(-1) ?? 0).toFixed(3)}, ${bytes.at(-1)} bytes crossed`);
    }
    const weightBytes = 4 * listParameters(config).reduce((sum, { size }) => sum + size, 0);
    return { secondsPerStep: median(seconds.slice(1)), losses, bytesPerStep: median(bytes.slice(1)), weightBytes };
  } finally {
    await engine.close();
  }
}
