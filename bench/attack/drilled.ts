/** Adapters that were made to do harm: drilled until the policy gives one answer to whatever it is asked, or plain noise. */
import { linearNames, linearShape, loraTensorName } from "../../shared/lora.ts";
import type { Engine } from "../../trainer/engine/engine.ts";
import { packRows } from "../../trainer/learn/lesson/rows.ts";
import type { AdapterTensors } from "../../trainer/policy/adapter.ts";
import type { Base } from "../../trainer/policy/base.ts";
import type { Random } from "../../trainer/random.ts";

const RANK = 8;
const ALPHA = 16;
const NAME = "drilled";
const NEVER = -100; // ln p of what is not the answer
const RATE = 5e-3;

export type Drill = { readonly prompt: readonly number[]; readonly answer: readonly number[] };

/** Cross-entropy on the given answers alone, with nothing to hold the policy back. */
export async function drillAdapter(
  engine: Engine,
  { base, drills, steps }: { base: Pick<Base, "config" | "tokenizer">; drills: readonly Drill[]; steps: number },
): Promise<AdapterTensors> {
  const { vocabSize } = base.config;
  await engine.createAdapter(NAME, { rank: RANK, alpha: ALPHA, targets: linearNames(), seed: 1, invocation: base.tokenizer.invocation });
  try {
    for (let step = 0; step < steps; step += 1) {
      for (const { batch } of packRows(drills)) {
        const { weights, ...positions } = batch;
        const teacherLogProbs = new Float32Array(batch.positions.length * vocabSize).fill(NEVER);
        batch.targets.forEach((target, index) => (teacherLogProbs[index * vocabSize + target] = 0));
        const scaled = weights.map((weight) => weight / drills.length);
        await engine.accumulateAdapter(NAME, { ...positions, forwardKl: { teacherLogProbs, weights: scaled } });
      }
      await engine.stepAdapter(NAME, { lr: RATE });
    }
    return await engine.readAdapter(NAME);
  } finally {
    await engine.dropAdapter(NAME);
  }
}

/** Uniform weights, B of them up to `scale`. */
export function noiseAdapter(
  { config, tokenizer }: Pick<Base, "config" | "tokenizer">,
  { scale, random }: { scale: number; random: Random },
): AdapterTensors {
  const tensors = new Map<string, Float32Array>();
  const uniform = (count: number, most: number): Float32Array => Float32Array.from({ length: count }, () => (2 * random.next() - 1) * most);
  for (let layer = 0; layer < config.layerCount; layer += 1)
    for (const linear of linearNames()) {
      const { out, in: width } = linearShape(config, linear);
      tensors.set(loraTensorName(layer, linear, "A"), uniform(RANK * width, 1 / Math.sqrt(width)));
      tensors.set(loraTensorName(layer, linear, "B"), uniform(out * RANK, scale));
    }
  return { rank: RANK, alpha: ALPHA, invocation: tokenizer.invocation, tensors };
}
