/** Explicit feedback: a score is its own judgement; a correction in words goes through the hint job. */
import { hintPrompt } from "../../shared/jobs.ts";
import { chooseHint, type JobSampler } from "./embedded.ts";
import type { Judge } from "./judge.ts";
import type { Reward } from "./vote.ts";

const HINT_TOKENS = 48;

export function createFeedbackJudge(sampler: JobSampler): Judge {
  return {
    async judge(signal, { seed }) {
      const { feedback } = signal;
      if (feedback === undefined) return undefined;
      const reward = rewardOf(feedback);
      const verdict = { judge: "feedback", reward, votes: [reward], detail: "given by a person" } as const;
      if (reward >= 0 || feedback.correction === undefined) return verdict;
      const texts = await sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
      return { ...verdict, ...(await chooseHint(texts, { signal, sampler })) };
    },
  };
}

/** The score's sign; a correction without a score says that the answer was wrong. */
function rewardOf({ score, correction }: { score?: number | undefined; correction?: string | undefined }): Reward {
  if (score !== undefined) return score > 0 ? 1 : score < 0 ? -1 : 0;
  return correction === undefined ? 0 : -1;
}
