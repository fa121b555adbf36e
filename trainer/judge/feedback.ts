/** Explicit feedback: a score is its own judgement, and so is the answer as it should have been; a correction in words goes to whoever finds hints. */
import type { ChatMessage } from "../../shared/chat.ts";
import type { FeedbackGiven } from "../../shared/events.ts";
import { sameAnswer } from "../../shared/speech/calls.ts";
import type { Signal } from "../data/exchange.ts";
import type { Judge, JudgeOptions, Verdict } from "./judge.ts";
import type { Reward } from "./vote.ts";

/** What should have been different by the user's words, or why that cannot be told. */
export type HintFinder = (signal: Signal, options: JudgeOptions) => Promise<Partial<Verdict>>;

export function createFeedbackJudge(findHint: HintFinder): Judge {
  return {
    async judge(signal, options) {
      const { feedback } = signal;
      if (feedback === undefined) return undefined;
      const reward = rewardOf(feedback, signal.turn.payload.answer);
      const verdict = { judge: "feedback", reward, votes: [reward], detail: "given by a person" } as const;
      return feedback.correction === undefined ? verdict : { ...verdict, ...(await findHint(signal, options)) };
    },
  };
}

/** A correction says that the answer should have been another, whatever the score beside it, and so does another answer; else the score's sign. */
function rewardOf({ score = 0, correction, answer }: Pick<FeedbackGiven, "score" | "correction" | "answer">, given: ChatMessage): Reward {
  if (answer !== undefined) return sameAnswer(answer, given) ? 1 : -1;
  if (correction !== undefined || score < 0) return -1;
  return score > 0 ? 1 : 0;
}
