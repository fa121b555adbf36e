/** Trains what says a reward by words: logistic regression by AdaGrad (Duchi et al., JMLR 2011), an example a step. */
import { emptyWeights, featuresOf, logSoftmax, type ReactionWeights, scaleOf, scores } from "../judge/reaction-model.ts";
import { REWARDS } from "../judge/vote.ts";
import { Random } from "../random.ts";
import type { Reaction } from "./reactions.ts";

const LEARNING_RATE = 0.3;
const EPSILON = 1e-8;

export type LinearRun = {
  readonly examples: number;
  readonly seed: number;
  /** Called after every example. */
  readonly onStep?: ((done: number, loss: number) => void) | undefined;
};

/** From the same examples and seed the same weights. @param draw undefined where what was drawn has none */
export function trainLinear(draw: (random: Random) => Reaction | undefined, { examples, seed, onStep }: LinearRun): ReactionWeights {
  const random = new Random(seed);
  const weights = emptyWeights();
  const squares = new Float32Array(weights.length).fill(EPSILON);
  for (let done = 0; done < examples;) {
    const reaction = draw(random);
    if (reaction === undefined) continue;
    const loss = step(weights, squares, reaction);
    done += 1;
    onStep?.(done, loss);
  }
  return weights;
}

/** @returns ln p of the reaction's reward before the step, with its sign turned */
function step(weights: ReactionWeights, squares: Float32Array, { text, reward }: Reaction): number {
  const features = featuresOf(text);
  const logProbs = logSoftmax(scores(weights, features));
  const scale = scaleOf(features);
  REWARDS.forEach((each, index) => {
    const gradient = (Math.exp(logProbs[index] ?? 0) - Number(each === reward)) * scale;
    for (const feature of features) {
      const at = feature * REWARDS.length + index;
      squares[at] = (squares[at] ?? 0) + gradient * gradient;
      weights[at] = (weights[at] ?? 0) - (LEARNING_RATE * gradient) / Math.sqrt(squares[at] ?? 1);
    }
  });
  return -(logProbs[REWARDS.indexOf(reward)] ?? 0);
}
