/**
 * The training port: gradients, optimizer steps, scores and answers of adapters over a base that stays, wherever they are computed. The
 * engine in this process is one implementation, Tinker's service another (tinker/engine.ts). What one cannot do it declares, and refuses
 * by name where it is asked.
 */
import { AppError } from "../../shared/errors.ts";
import type { TermName } from "../loss/terms.ts";
import type { EngineCalls } from "./protocol.ts";

export type TrainingCapabilities = {
  /** Who it is, for people. */
  readonly title: string;
  /** Loss terms that it differentiates. */
  readonly terms: readonly TermName[];
  /** Targets that were drawn under a grammar's masks, and answers that are held to a form. */
  readonly masks: boolean;
  /** Whole distributions beside the targets' log-probs. */
  readonly distributions: boolean;
  /** Adapters that come from elsewhere; without it every adapter begins at nothing. */
  readonly loadAdapter: boolean;
  /** Adapters that act from an invocation on. */
  readonly invocation: boolean;
};

export interface TrainingPort extends Omit<
  EngineCalls,
  "initialise" | "loadCheckpoint" | "loadWeights" | "readWeights" | "accumulate" | "step"
> {
  readonly capabilities: TrainingCapabilities;
}

export const EVERYTHING: TrainingCapabilities = {
  title: "the engine in this process",
  terms: ["crossEntropy", "forwardKl", "reverseKl", "policy", "distillation"],
  masks: true,
  distributions: true,
  loadAdapter: true,
  invocation: true,
};

/** @throws {train/refused} naming what was asked of whom, and what it can do instead */
export function refuseFor({ title }: Pick<TrainingCapabilities, "title">, expected: string, got: string): never {
  throw new AppError("train/refused", `${title}: ${expected} expected, got ${got}`);
}
