/** A small random base that is run a layer at a time: corrected, learned, taken back, with every graph that a large base's loop runs. */
import { parseModelConfig } from "../../shared/model-config.ts";
import type { FloatType } from "../../trainer/autodiff/shape.ts";
import { EngineCore } from "../../trainer/engine/core.ts";
import type { EngineOptions } from "../../trainer/engine/protocol.ts";
import type { Device } from "../../trainer/onnx/device.ts";
import { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import { randomWeights } from "../random-checkpoint.ts";
import { FORCED, TARGETS } from "./step.ts";

const CONFIG = parseModelConfig({
  model_type: "qwen3",
  vocab_size: 512,
  hidden_size: 128,
  intermediate_size: 256,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
});
const INVOCATION = [508, 509, 510];
const [PROMPT, ANSWER, STEPS] = [80, 6, 60];
const TOLERANCE = { float32: 1e-3, float16: 2e-2, bfloat16: 1e-1 } as const; // nats

type Round = { readonly before: number[]; readonly logProbs: Float32Array; readonly learned: number[]; readonly after: number[] };

/** Whether the device answers as one graph on the CPU does, learns another answer, activated and everywhere, and answers as before without it. */
export async function loopByLayer(device: Device, compute: FloatType): Promise<boolean> {
  let holds = true;
  for (const invocation of [undefined, INVOCATION]) {
    const whole = await goRound({ byLayer: false }, invocation);
    const layered = await goRound({ device, compute, placement: "device", byLayer: FORCED }, invocation);
    const apart = Math.max(...whole.logProbs.map((logProb, index) => Math.abs(logProb - (layered.logProbs[index] ?? Number.NaN))));
    const wanted = correction().join();
    const found = {
      alike: compute !== "float32" || layered.before.join() === whole.before.join(),
      near: apart <= TOLERANCE[compute],
      learned: layered.learned.join() === wanted && layered.before.join() !== wanted,
      takenBack: layered.after.join() === layered.before.join(),
    };
    say(`  ${compute}, ${invocation ? "activated" : "everywhere"}: ${JSON.stringify(found)}, log-probs ${apart.toExponential(1)} apart`);
    holds &&= Object.values(found).every(Boolean);
  }
  return holds;
}

const draw = (random: Random, length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 500));
const correction = (): number[] => draw(new Random(9), ANSWER);

async function goRound(options: Partial<EngineOptions>, invocation: readonly number[] | undefined): Promise<Round> {
  const engine = new EngineCore({ config: CONFIG, threads: 1, ...options });
  try {
    await engine.loadWeights(new Map([...randomWeights(CONFIG, 1)].map(([name, { values }]) => [name, values])));
    const prompt = [...draw(new Random(8), PROMPT), ...INVOCATION];
    const answer = async (adapter?: string): Promise<number[]> => {
      const asked = { prompts: [Int32Array.from(prompt)], maxTokens: ANSWER, stopTokens: [], temperature: 0, seed: 0 };
      const [given] = await engine.generate({ ...asked, ...(adapter !== undefined && { adapter }) });
      return [...(given?.tokens ?? [])];
    };
    const before = await answer();
    const targets = Int32Array.from(correction());
    const tokens = Int32Array.from([...prompt, ...targets]);
    const positions = targets.map((_, index) => prompt.length + index - 1);
    const batch = { rows: 1, length: tokens.length, tokens, positions, targets };
    await engine.createAdapter("a", { rank: 8, alpha: 16, targets: TARGETS, seed: 2, ...(invocation && { invocation: [...invocation] }) });
    const { logProbs } = await engine.score(batch, { adapter: "a" });
    const weights = new Float32Array(ANSWER).fill(1 / ANSWER);
    for (let step = 0; step < STEPS; step += 1) {
      await engine.accumulateAdapter("a", { ...batch, crossEntropy: { weights } });
      await engine.stepAdapter("a", { lr: 5e-3 });
    }
    const learned = await answer("a");
    await engine.dropAdapter("a");
    return { before, logProbs, learned, after: await answer() };
  } finally {
    await engine.close();
  }
}
