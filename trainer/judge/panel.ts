/** Who judges a signal: a person's feedback itself, the base where a user spoke, and facts where tool results came alone. */
import type { Signal } from "../data/exchange.ts";
import { createEmbeddedHints, createEmbeddedJudge, type JobSampler } from "./embedded.ts";
import { createFeedbackJudge } from "./feedback.ts";
import type { Judge, Verdict } from "./judge.ts";
import { verifiableJudge } from "./verifiable.ts";

/** Judges every signal; a signal of tool results alone never reaches the model. */
export function createPanel(sampler: JobSampler): Judge {
  const feedback = createFeedbackJudge(createEmbeddedHints(sampler));
  const embedded = createEmbeddedJudge(sampler);
  return {
    async judge(signal: Signal, options): Promise<Verdict | undefined> {
      if (signal.feedback !== undefined) return feedback.judge(signal, options);
      if (signal.userMessages.length > 0) return embedded.judge(signal, options);
      return verifiableJudge.judge(signal, options);
    },
  };
}
