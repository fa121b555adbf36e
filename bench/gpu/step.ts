/** Steps of an adapter, and answers under it, beside random weights of Qwen3-0.6B's sizes on a device: time, and what crosses. */
import { parseModelConfig } from "../../shared/model-config.ts";
import { EngineCore } from "../../trainer/engine/core.ts";
import type { LayerOptions } from "../../trainer/engine/feeds.ts";
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
  /** The same for each token of one answer. */
  readonly bytesPerToken: number;
  readonly weightBytes: number;
  /** Of frozen tensors, by all sessions together. */
  readonly bytesHeld: number;
};

const [LENGTH, STEPS, ANSWERED] = [256, 4, 16];
export const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
/** Of a base so small that it would be run as one graph. */
export const FORCED: LayerOptions = { keptBytes: 0, logitBytes: 80 * 2 ** 20 };
const REHEARSED = { vocab_size: 4096 };

/** Fewer layers than the model has are a rehearsal, with a small vocabulary. */
export async function measureStep(device: Device, layers: number): Promise<Step> {
  const full = layers >= QWEN3_0_6B.num_hidden_layers;
  const config = parseModelConfig({ ...QWEN3_0_6B, ...(full ? {} : REHEARSED), num_hidden_layers: layers });
  const engine = new EngineCore({ config, threads: 2, device, placement: "device", byLayer: FORCED });
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
    const bytesPerToken = await measureAnswer(engine, draw());
    const weightBytes = 4 * listParameters(config).reduce((sum, { size }) => sum + size, 0);
    const { bytesHeld } = engine;
    say(`  ${bytesPerToken} bytes crossed for each token of an answer, ${bytesHeld} bytes are held of weights of ${weightBytes}`);
    return {
      secondsPerStep: median(seconds.slice(1)),
      losses,
      bytesPerStep: median(bytes.slice(1)),
      bytesPerToken,
      weightBytes,
      bytesHeld,
    };
  } finally {
    await engine.close();
  }
}

/** Bytes that cross for each token after the first. */
async function measureAnswer(engine: EngineCore, prompt: Int32Array): Promise<number> {
  const bytesFor = async (maxTokens: number): Promise<number> => {
    const before = engine.bytesMoved;
    await engine.generate({ prompts: [prompt], maxTokens, stopTokens: [], temperature: 0, seed: 0, adapter: "a" });
    return engine.bytesMoved - before;
  };
  const first = await bytesFor(1);
  return ((await bytesFor(1 + ANSWERED)) - first) / ANSWERED;
}
