/** What learning one correction is given and gives back. */
import type { z } from "zod";
import type { TurnCredit } from "../../../shared/credit.ts";
import type { SampleChange, UpdateMetrics } from "../../../shared/policy.ts";
import type { RefusalCode } from "../../data/refusal.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import { marksCalls } from "../../teacher/answer-text.ts";
import type { Adapters } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import type { CorrectedExchange, UpdateRequest } from "./learner.ts";

export type LearnedCorrection = {
  readonly status: "learned";
  readonly adapter: AdapterTensors;
  /** What it was confirmed on; undefined where the objective confirms nothing. */
  readonly held?: HeldBack;
  readonly metrics: {
    readonly steps: number;
    readonly loss: number;
    readonly lossBefore: number;
    readonly klToParentNats: number;
    readonly klToBaseNats: number;
    readonly contexts: number;
    readonly staleness?: z.infer<typeof UpdateMetrics>["staleness"];
  };
  readonly changes: readonly Change[];
  readonly lifts: ReadonlyMap<string, number>;
  readonly credits: readonly TurnCredit[];
};

export type RefusedCorrection = { readonly status: "refused"; readonly code: RefusalCode; readonly detail: string };
export type CorrectionResult = LearnedCorrection | RefusedCorrection;

export type Change = z.infer<typeof SampleChange>;
export type Work = {
  readonly group: readonly CorrectedExchange[];
  readonly adapters: Adapters;
  readonly request: UpdateRequest;
  readonly earlier: readonly HeldBack[];
};

export function refuse(code: RefusalCode, detail: string): RefusedCorrection {
  return { status: "refused", code, detail };
}

/** Refused where calls are words: no lesson could be told from a call that is not read, and no answer held to one. */
export function refuseUnmarked(tokenizer: Tokenizer): RefusedCorrection | undefined {
  if (marksCalls(tokenizer)) return undefined;
  return refuse(
    "teacher/unmarked",
    "a base whose tokenizer marks calls with <tool_call> and </tool_call> expected, as Qwen's does, got one whose calls are words, " +
      "which updates neither read nor hold to a value: take such a base, or supply the answer instead of a correction",
  );
}
