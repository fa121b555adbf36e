/**
 * The named objectives, as coefficients of the terms that an update sums:
 *
 *   L = Σ_kind c_kind · mean over lessons of Σ_t KL(π_T(·|x+note, y_<t) ‖ π_θ(·|x, y_<t))     note distillation
 *     + c_errands · n · mean over tokens of KL(π_parent ‖ π_θ)                                trust region, n tokens of a call
 *     + c_hindsight · Σ_t Σ_{v ∈ S_t} max(−A_v ρ_v, −A_v clip(ρ_v))                            top-k hindsight, 2603.10165 v2 §4
 *     + c_reward · Σ_t −min(A_t ρ_t, A_t clip(ρ_t))                                            binary RL, PPO (1707.06347) eq. 7
 *
 * `other` and `anchor` lessons have the parent itself as teacher: those terms are the trust region, too,
 * KL(parent ‖ candidate), near what is learned; errands, conversations far from it, are drawn once for each version that is
 * learned from, and come in turn (errand-pool.ts).
 */
import type { ObjectiveName } from "../../../shared/agent.ts";
import type { ContextKind } from "../../teacher/contexts.ts";

export type Objective = {
  readonly lessons: Readonly<Record<ContextKind, number>>;
  readonly errands: number;
  readonly hindsight: number;
  readonly reward: number;
  /** Which tokens a reward is credited to. */
  readonly credit: "difference" | "all";
  /** Optimizer steps that see the reward of a turn; more than one on the same tokens destroys a policy (measured). */
  readonly rewardSteps: number;
  readonly baseline: boolean;
  /** Whether the candidate must show on held-back contexts what it has learned. */
  readonly confirmed: boolean;
};

const DISTILLATION: Objective = {
  lessons: { silent: 1, stated: 1, other: 1, anchor: 1 },
  errands: 1,
  hindsight: 0.25,
  // Beside distillation the reward of corrected turns wins no session (bench:align), so it is no default.
  reward: 0,
  credit: "difference",
  rewardSteps: 1,
  baseline: true,
  confirmed: true,
};

export const OBJECTIVES: Readonly<Record<ObjectiveName, Objective>> = {
  distillation: DISTILLATION,
  hybrid: { ...DISTILLATION, reward: 0.25 },
  // The published recipe: every token of the judged turns, weights 1 and 1, no baseline, no counter-cases.
  paper: {
    lessons: { silent: 0, stated: 0, other: 0, anchor: 0 },
    errands: 0,
    hindsight: 1,
    reward: 1,
    credit: "all",
    rewardSteps: Number.POSITIVE_INFINITY,
    baseline: false,
    confirmed: false,
  },
};

export const CLIP = { clipLow: 0.2, clipHigh: 0.28 } as const; // 2603.10165, after DAPO (2503.14476)
