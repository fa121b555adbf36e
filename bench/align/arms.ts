/**
 * What is compared: the product with one thing different each time. Everything is a setting of the agent but two: what the loop
 * hears of its judge, where rewards or hints alone are to teach, and whether users tell or show what they wanted.
 */
import { z } from "zod";
import type { LearningSettings } from "../../shared/agent.ts";
import type { Judge } from "../../trainer/judge/judge.ts";

export type Arm = {
  readonly says: string;
  readonly learning: z.input<typeof LearningSettings>;
  /** Of a judgement, what teaches. */
  readonly hears: "all" | "rewards" | "hints" | "nothing";
  /** Users show the answer that they wanted instead of saying something. */
  readonly shows?: true;
};

const NEVER_UPDATES = { minSignals: 1_000_000, maxWaitMs: 86_400_000 } as const;
const WEIGHTS = { notes: "off" } as const;

export const ARMS = {
  none: { says: "no learning", learning: { ...WEIGHTS, enabled: false }, hears: "nothing" },
  hints: { says: "hints in context only (notes)", learning: { notes: "user", ...NEVER_UPDATES }, hears: "all" },
  binary: { says: "binary RL", learning: { ...WEIGHTS, signals: { rewards: "outcome" } }, hears: "rewards" },
  distillation: { says: "distillation", learning: WEIGHTS, hears: "hints" },
  hybrid: { says: "hybrid", learning: { ...WEIGHTS, objective: "hybrid" }, hears: "all" },
  memory: { says: "hybrid + memory", learning: { notes: "user", objective: "hybrid" }, hears: "all" },
  default: { says: "distillation + memory (default)", learning: {}, hears: "all" },
  // Terms, each beside or in place of what the default has.
  published: { says: "the published recipe", learning: { ...WEIGHTS, objective: "paper" }, hears: "all" },
  rewards: { says: "distillation + rewards without words", learning: { ...WEIGHTS, signals: { rewards: "outcome" } }, hears: "all" },
  overlap: {
    says: "distillation, hint of three by overlap",
    learning: { ...WEIGHTS, signals: { hints: { candidates: 3 } } },
    hears: "all",
  },
  credit: { says: "distillation, earlier turns credited", learning: { ...WEIGHTS, signals: { credit: "conversation" } }, hears: "all" },
  replay: { says: "distillation, approved turns replayed", learning: { ...WEIGHTS, signals: { replay: "approved" } }, hears: "all" },
  shown: { says: "supplied answers (cross-entropy)", learning: WEIGHTS, hears: "all", shows: true },
  preferred: { says: "supplied answers (DPO)", learning: { ...WEIGHTS, signals: { answers: "preference" } }, hears: "all", shows: true },
} as const satisfies Record<string, Arm>;
export type ArmName = keyof typeof ARMS;
export const ARM_NAMES = Object.keys(ARMS) as [ArmName, ...ArmName[]];
/** What is asked for; the others are terms. */
export const MAIN_ARMS: readonly ArmName[] = ["none", "hints", "binary", "distillation", "hybrid", "memory", "default"];

export function armOf(name: ArmName): Arm {
  return ARMS[name];
}

/** @param scope `personal` where the policy is one user's own */
export function settingsOf({ learning }: Arm, scope: LearningSettings["scope"]): object {
  // With one user or three there is nobody to compare a canary with; the gate stays as it is.
  return { learning: { ...learning, scope }, release: { canary: { mode: "off" } } };
}

/** A judge of whom only a part is heard. */
export function hearing(hears: Arm["hears"], judge: Judge): Judge {
  if (hears === "all" || hears === "nothing") return judge;
  return {
    async judge(signal, options) {
      const verdict = await judge.judge(signal, options);
      if (verdict === undefined) return undefined;
      if (hears === "hints") return { ...verdict, reward: 0 };
      const { hint, refused, ...reward } = verdict;
      return hint === undefined && refused === undefined ? verdict : reward;
    },
  };
}
