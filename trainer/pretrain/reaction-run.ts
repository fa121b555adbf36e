/**
 * Trains the reaction model: logistic regression by AdaGrad (Duchi et al., JMLR 2011) on what users say after an answer, in the data and in sayings,
 * a few corrections and objections among it: whether somebody rejects an answer by saying the request again is for the base to hear.
 */
import { REWARDS, type Reward } from "../judge/vote.ts";
import { emptyWeights, featuresOf, logSoftmax, type ReactionWeights, scaleOf, scores } from "../judge/reaction-model.ts";
import { Random } from "../random.ts";
import { correctedExchange, drawNatural, objectedExchange } from "./exchanges.ts";
import { drawSaying } from "./reactions.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";
import type { Exchange } from "../../shared/jobs.ts";

type Reaction = { readonly text: string; readonly reward: Reward };

// Of what is drawn; the rest are objections. What a conversation does not have is drawn anew, so of the examples sayings are somewhat more, and the data's
// own reactions fewer, of which a tenth are rejections.
const SHARES = { natural: 0.42, said: 0.5, corrected: 0.04 } as const;
const LEARNING_RATE = 0.3;
const EPSILON = 1e-8;

/** From the same data and seed the same weights. @param options.onStep called after every example */
export function trainReactions(
  sgd: Sgd,
  { examples, seed, onStep }: { examples: number; seed: number; onStep?: (done: number, loss: number) => void },
): ReactionWeights {
  const sources = new Sources(sgd);
  const random = new Random(seed);
  const weights = emptyWeights();
  const squares = new Float32Array(weights.length).fill(EPSILON);
  for (let done = 0; done < examples;) {
    const reaction = drawExample(sources, random);
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

function drawExample(sources: Sources, random: Random): Reaction | undefined {
  const draw = random.next();
  const { natural, said, corrected } = SHARES;
  if (draw < said) return drawSaying(random);
  const conversation = sources.conversation(random);
  if (draw < said + natural) {
    const reacted = drawNatural(conversation, random);
    return reacted && { text: wordsOf(reacted.exchange), reward: reacted.reward };
  }
  const rejected =
    draw < said + natural + corrected
      ? correctedExchange(conversation, sources.lexicon, random)?.exchange
      : objectedExchange(conversation, sources.lexicon, random);
  return rejected && { text: wordsOf(rejected), reward: -1 };
}

function wordsOf({ nextState }: Exchange): string {
  return nextState.map(({ content }) => content ?? "").join("\n");
}
