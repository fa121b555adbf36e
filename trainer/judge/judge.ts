/** The judge port. A judge reads one signal and says how the answer did; next-state text is quoted, never obeyed. */
import type { Poll } from "../../shared/events.ts";
import type { JudgeServer } from "../../shared/judge.ts";
import type { Hint } from "../../shared/jobs.ts";
import type { RefusalCode } from "../data/refusal.ts";
import type { Signal } from "../data/exchange.ts";
import type { Reward } from "./vote.ts";

/** At which votes are drawn, by whomever. */
export const JUDGE_TEMPERATURE = 0.6; // arXiv:2603.10165, PRM_TEMPERATURE

export type JudgeName = "verifiable" | "embedded" | "llm" | "feedback";

/** What should have been different, grounded in the tool's schema and the user's words. */
export type HeardHint = { readonly text: string; readonly hint: Hint; readonly toolName: string };

export type Verdict = {
  readonly judge: JudgeName;
  readonly reward: Reward;
  readonly votes: readonly Reward[];
  readonly hint?: HeardHint;
  /** What else the same words say should have been different, each about something else; absent where nothing. */
  readonly further?: readonly HeardHint[];
  /** Why there is no hint although the reward is negative. */
  readonly refused?: { readonly code: RefusalCode; readonly detail: string };
  /** The reason in words, for people. */
  readonly detail: string;
  /** What asking a server came to and cost. */
  readonly poll?: Poll;
};

export type JudgeOptions = {
  readonly votes: number;
  readonly seed: number;
  /** Who judges in the base's place, where an agent's settings say so. */
  readonly server?: JudgeServer | undefined;
};

export interface Judge {
  /** A verdict, or undefined where the signal holds nothing this judge can read. @throws {judge/unavailable} where it has to be judged later */
  judge(signal: Signal, options: JudgeOptions): Promise<Verdict | undefined>;
}
