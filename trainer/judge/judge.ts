/** The judge port. A judge reads one signal and says how the answer did; next-state text is quoted, never obeyed. */
import type { Hint } from "../../shared/jobs.ts";
import type { RefusalCode } from "../data/refusal.ts";
import type { Signal } from "../data/exchange.ts";
import type { Reward } from "./vote.ts";

export type JudgeName = "verifiable" | "embedded" | "feedback";

export type Verdict = {
  readonly judge: JudgeName;
  readonly reward: Reward;
  readonly votes: readonly Reward[];
  /** What should have been different, grounded in the tool's schema and the user's words. */
  readonly hint?: { readonly text: string; readonly hint: Hint; readonly toolName: string };
  /** Why there is no hint although the reward is negative. */
  readonly refused?: { readonly code: RefusalCode; readonly detail: string };
  /** The reason in words, for people. */
  readonly detail: string;
};

export type JudgeOptions = { readonly votes: number; readonly seed: number };

export interface Judge {
  /** A verdict, or undefined where the signal holds nothing this judge can read. */
  judge(signal: Signal, options: JudgeOptions): Promise<Verdict | undefined>;
}
