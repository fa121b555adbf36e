/** What the loop of a line works with, and what a step of it comes to. */
import type { LineHead } from "../shared/policy.ts";
import type { TrainerConfig } from "./config.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import type { Gate } from "./gate/gate.ts";
import type { Judge } from "./judge/judge.ts";
import type { Learner } from "./learn/update/learner.ts";
import type { ReviewNotes } from "./memory/absorption.ts";
import type { Metrics } from "./metrics.ts";
import type { AdapterBytes, AdapterTensors } from "./policy/adapter.ts";
import type { Queued } from "./work-queue.ts";

export type LineDependencies = {
  readonly edge: EdgePort;
  /** Aborted once nothing more is to be made: at a stop, or where the lease is lost. Absent: never. */
  readonly signal?: AbortSignal;
  readonly judge: Judge;
  readonly learner: Learner;
  /** Runs an update once the engine is free for it. */
  readonly queued: Queued;
  readonly metrics: Metrics;
  readonly config: TrainerConfig;
  readonly now: () => Date;
  /** Loads the adapter a head names; null for the bare base. @throws {policy/digest} when the head is of another base */
  readonly loadAdapter: (served: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
  readonly gate: Gate;
  readonly reviewNotes: ReviewNotes;
  readonly writeAdapter: (adapter: AdapterTensors) => AdapterBytes;
  /** What an update runs with and on, beside its settings. */
  readonly runtime: Readonly<Record<string, string>>;
};

/** `foreign`: the line is of a base that this trainer does not have. */
export type StepResult = "idle" | "waiting" | "published" | "advanced" | "stale" | "foreign";
