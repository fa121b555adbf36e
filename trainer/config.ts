/** What a trainer process is started with, and what an update is made of. Everything has a unit and, where one exists, a source. */
import { hostname } from "node:os";
import { z } from "zod";
import { capabilitiesOf, type EngineSettings, type TemplateArguments, templateArgumentsOf } from "../shared/engine.ts";
import { LEASE_MS } from "../shared/lease.ts";
import { ROW_TOKENS } from "./learn/lesson/rows.ts";
import { Compute, DeviceChoice } from "./onnx/device.ts";

const count = z.number().int().min(0);
const ContextCounts = z.object({ silent: count, stated: count, other: count, anchor: count });

/** Sizes and rates of one update; chosen by measurement (bench:learn), recorded in each version's manifest. */
export const UpdateSettings = z.object({
  rank: z.number().int().positive().default(8),
  alpha: z.number().positive().default(16),
  /**
   * Tokens that an adapter acts on. On answers alone, an activated one (arXiv:2504.12397), it leaves keys and values of what was
   * said before to the base; engines that know none of these would act on every token. Absent: what the line's engine can serve.
   */
  actsOn: z.enum(["answers", "everything"]).optional(),
  /** Tokens of the longest row that is trained on, prompt and answer; the base's context where that is shorter. */
  rowTokens: z.coerce.number().int().min(256).max(131_072).default(ROW_TOKENS),
  /** AdamW, per step. */
  lr: z.number().positive().default(2e-3),
  /** Optimizer steps at most; the best look among them is taken. */
  maxSteps: z.number().int().positive().default(40),
  /** How often a correction is tried, each time on contexts of its own, that was taught and is then not shown by held-back contexts. */
  tries: z.number().int().positive().default(2),
  /** Last steps, over which the rate falls to zero; they begin as soon as a look meets both bars. */
  settleSteps: z.number().int().positive().default(7),
  /** Steps that the mean of the adapter reaches back over; what is looked at and published is the mean. 1: no mean. */
  averagedSteps: z.number().min(1).default(6),
  /** Steps between two looks at the held-back contexts. */
  checkEvery: z.number().int().positive().default(5),
  /** Generated training contexts by kind; few stated ones, since a default that was overruled yields. */
  contexts: ContextCounts.default({ silent: 14, stated: 4, other: 8, anchor: 12 }),
  /** Generated contexts that are only ever looked at, by kind. */
  heldBack: ContextCounts.default({ silent: 6, stated: 9, other: 3, anchor: 5 }),
  /** Readings of the corrected turns with other values in the user's own words, to train on and only to look at. */
  readings: z.number().int().min(0).default(9),
  heldBackReadings: z.number().int().min(0).default(3),
  /** Replayed turns of the agent. */
  replayed: z.number().int().min(0).default(4),
  /** Contexts of defaults that the line has learned before, two of each at most; half as many are only looked at. They take the place of other tools' contexts. */
  rehearsed: z.number().int().min(0).default(8),
  /** τ of the teacher's distribution where its answer has been checked: p^(1/τ). 1 leaves it as it is. */
  teacherTemperature: z.number().positive().default(0.5),
  /** Mean nats per token of KL(parent ‖ candidate) on contexts the note must not touch, and on rewarded answers; above it an update stops. */
  driftLimitNats: z.number().positive().default(0.05),
  /** Share of held-back silent contexts in which the candidate must use the value by itself. */
  honouredBar: z.number().min(0).max(1).default(0.6),
  /** The same where versions carry what they learn: what its weights pass over, a version is held to as it is served. */
  carriedBar: z.number().min(0).max(1).default(0.3),
  /** Share of the held-back stated contexts won before in which the user's value must still win. */
  statedBar: z.number().min(0).max(1).default(0.85),
  /**
   * Whether versions carry what they learn as defaults that yield to what the user says and are held where nobody says anything, and are
   * confirmed so. Off, weights alone decide: what a user states is then lost in a third of the cases (bench:learn).
   */
  defaultsYield: z.boolean().default(true),
  /** ln p_teacher − ln p_student of the teacher's answers, nats; below it there is nothing to distil. */
  minLiftNats: z.number().min(0).default(0.5),
});
export type UpdateSettings = z.infer<typeof UpdateSettings>;
export type ActsOn = NonNullable<UpdateSettings["actsOn"]>;

/** What new adapters act on where this engine answers: as the trainer was told, else what it can serve. */
export function actsOnFor({ actsOn }: Pick<UpdateSettings, "actsOn">, engine: EngineSettings): ActsOn {
  return actsOn ?? (capabilitiesOf(engine).activated ? "answers" : "everything");
}

/** How an update is made for what answers with it, beside its settings. */
export type MadeFor = { readonly actsOn: ActsOn; readonly templateArguments: TemplateArguments };

export function madeFor(settings: Pick<UpdateSettings, "actsOn">, engine: EngineSettings): MadeFor {
  return { actsOn: actsOnFor(settings, engine), templateArguments: templateArgumentsOf(engine) };
}

/** The same for a version's manifest, with which it can be made again. */
export function recordOf(settings: UpdateSettings, engine: EngineSettings): Record<string, string> {
  const { actsOn, templateArguments } = madeFor(settings, engine);
  const update = JSON.stringify({ ...settings, actsOn });
  return Object.keys(templateArguments).length === 0 ? { update } : { update, templateArguments: JSON.stringify(templateArguments) };
}

export const TrainerConfig = z.object({
  /** Of the edge. */
  url: z.url(),
  /** A trainer key. */
  key: z.string().min(1),
  /** Hugging Face folder of the base checkpoint; absent: the base that the edge serves is fetched from it. */
  base: z.string().min(1).optional(),
  /** Folder for metrics, and for a base that was fetched. */
  state: z.string().min(1).default(".nextstate/trainer"),
  /** What the trainer's leases run under. One that comes back under its own name works on at once; no two may have the same. */
  name: z
    .string()
    .min(1)
    .max(200)
    .default(() => `${hostname()}/${process.pid}`),
  /** How long its agents wait for it, ms, where it says nothing more; then another trainer takes over. */
  leaseMs: z.coerce.number().int().min(1_000).max(600_000).default(LEASE_MS),
  /** The trainer ends when this process is gone. */
  parentPid: z.coerce.number().int().positive().optional(),
  /** Where graphs run. */
  device: DeviceChoice.default("auto"),
  /** What frozen matrices of large bases are multiplied in. */
  compute: Compute.default("float32"),
  /** Threads that compute. */
  threads: z.coerce.number().int().positive().default(2),
  seed: z.coerce.number().int().min(0).default(0),
  /** Long poll, ms. */
  waitMs: z.coerce.number().int().min(0).max(25_000).default(20_000),
  /** Turns kept for pairing and replay, per line. */
  cacheTurns: z.coerce.number().int().positive().default(500),
  update: UpdateSettings.prefault({}),
});
export type TrainerConfig = z.infer<typeof TrainerConfig>;
