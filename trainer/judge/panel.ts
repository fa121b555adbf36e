/**
 * Who judges a signal: a person's feedback itself, the base or a server where a user spoke, and facts where tool results came alone.
 * Whoever it is reads words without those that speak to the judge, and grounds hints in them so.
 */
import type { Signal } from "../data/exchange.ts";
import { createEmbeddedHints, createEmbeddedJudge } from "./embedded.ts";
import type { JobSampler } from "./job-sampler.ts";
import { createFeedbackJudge } from "./feedback.ts";
import { fence } from "./fence.ts";
import type { Judge, Verdict } from "./judge.ts";
import { LlmJudge } from "./llm/judge.ts";
import { remembered } from "./remembered.ts";
import { verifiableJudge } from "./verifiable.ts";

/** Judges every signal; a signal of tool results alone never reaches a model. @param llm without one, no server's key is known */
export function createPanel(sampler: JobSampler, llm: LlmJudge = new LlmJudge({ environment: {} })): Judge {
  const embedded = remembered(createEmbeddedJudge(sampler));
  const embeddedHints = createEmbeddedHints(sampler);
  return {
    async judge(heard: Signal, options): Promise<Verdict | undefined> {
      const signal = { ...heard, exchange: fence(heard.exchange) };
      const { server } = options;
      if (signal.feedback !== undefined)
        return createFeedbackJudge(server === undefined ? embeddedHints : llm.hintsBy(server)).judge(signal, options);
      if (signal.userMessages.length === 0) return verifiableJudge.judge(signal, options);
      return server === undefined ? embedded.judge(signal, options) : llm.judge(signal, { ...options, server });
    },
  };
}
