/** Explicit feedback: a score is its own judgement, and so is the answer as it should have been; a correction in words goes through the hint job. */
import type { ChatMessage } from "../../shared/chat.ts";
import type { FeedbackGiven } from "../../shared/events.ts";
import { hintPrompt } from "../../shared/jobs.ts";
import { sameAnswer } from "../data/calls.ts";
import { chooseHint, type JobSampler } from "./embedded.ts";
import type { Judge } from "./judge.ts";
import type { Reward } from "./vote.ts";

const HINT_TOKENS = 48;

export function createFeedbackJudge(sampler: JobSampler): Judge {
  return {
    async judge(signal, { seed }) {
      const { feedback } = signal;
      if (feedback === undefined) return undefined;
      const reward = rewardOf(feedback, signal.turn.payload.answer);
      const verdict = { judge: "feedback", reward, votes: [reward], detail: "given by a person" } as const;
      if (feedback.correction === undefined) return verdict;
      const texts = await sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
      return { ...verdict, ...(await chooseHint(texts, { signal, sampler })) };
    },
  };
}

/** A correction says that the answer should have been another, whatever the score beside it, and so does another answer; else the score's sign. */
function rewardOf({ score = 0, correction, answer }: Pick<FeedbackGiven, "score" | "correction" | "answer">, given: ChatMessage): Reward {
  if (answer !== undefined) return sameAnswer(answer, given) ? 1 : -1;
  if (correction !== undefined || score < 0) return -1;
  return score > 0 ? 1 : 0;
}
