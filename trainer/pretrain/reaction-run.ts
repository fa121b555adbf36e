/**
 * What the reaction model is trained on: what users say after an answer, in the data and in sayings, a few corrections and objections among it: whether
 * somebody rejects an answer by saying the request again is for the base to hear.
 */
import type { Exchange } from "../../shared/jobs.ts";
import type { ReactionWeights } from "../judge/reaction-model.ts";
import type { Random } from "../random.ts";
import { correctedExchange, drawNatural, objectedExchange } from "./exchanges.ts";
import { type LinearRun, trainLinear } from "./linear-run.ts";
import { drawSaying, type Reaction } from "./reactions.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";

// Of what is drawn; the rest are objections. What a conversation does not have is drawn anew, so of the examples sayings are somewhat more, and the data's
// own reactions fewer, of which a tenth are rejections.
const SHARES = { natural: 0.42, said: 0.5, corrected: 0.04 } as const;

export function trainReactions(sgd: Sgd, run: LinearRun): ReactionWeights {
  const sources = new Sources(sgd);
  return trainLinear((random) => drawExample(sources, random), run);
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
