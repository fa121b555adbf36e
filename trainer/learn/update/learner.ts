/** What an update is asked to do and what comes of it. */
import type { ObjectiveName } from "../../../shared/agent.ts";
import type { z } from "zod";
import type { AssistantMessage } from "../../../shared/chat.ts";
import type { TurnCredit } from "../../../shared/credit.ts";
import type { TemplateArguments } from "../../../shared/engine.ts";
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import type { HeldDefault, LearnedDefault } from "../../../shared/learned-defaults.ts";
import type { Reach } from "../../../shared/reach.ts";
import type { SampleChange, UpdateMetrics } from "../../../shared/policy.ts";
import type { ActsOn } from "../../config.ts";
import type { Counted } from "../../progress.ts";
import type { LoggedTurn } from "../../data/exchange.ts";
import type { RefusalCode } from "../../data/refusal.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import type { Correction } from "../../teacher/contexts.ts";
import type { Rehearsal } from "../lesson/rehearsal.ts";
import type { ReplayTurn } from "../../teacher/replay.ts";
import type { Place } from "../../../shared/yielding.ts";

/** An answer with the one that somebody supplied in its place. */
export type SuppliedAnswer = {
  readonly eventId: string;
  /** Where the log has it. */
  readonly seq: number;
  readonly turn: LoggedTurn;
  readonly answer: AssistantMessage;
  /** Its share of the loss weight among the answers that are learned together, 0 to 1. */
  readonly share: number;
  /** What a preference is measured from: the adapter of the version that answered, null for the bare base; undefined where that version is gone. */
  readonly reference: AdapterTensors | null | undefined;
};

/** An exchange with a reward and nothing that says what should have been different. */
export type RewardedExchange = {
  readonly eventId: string;
  /** What exchanges are compared with each other for: `metadata.task` of the request, else the same opening. */
  readonly task: string;
  readonly outcome: -1 | 0 | 1;
  /** Every turn of the exchange with the judge's votes on what its calls came to. */
  readonly steps: readonly { readonly turn: LoggedTurn; readonly votes: readonly number[] }[];
  readonly share: number;
};

/** A judged exchange that says what should have been different. */
export type CorrectedExchange = {
  readonly eventId: string;
  /** Where the log has what the user said. */
  readonly seq: number;
  readonly correction: Correction;
  /** Every turn of the exchange, the corrected call's among them. */
  readonly turns: readonly LoggedTurn[];
  readonly reward: -1 | 0 | 1;
  /** What the corrected call had for the argument; undefined where nothing. */
  readonly held: string | undefined;
  /** What the user said, as it was said. */
  readonly words: string;
  /** Its share of the loss weight among those that say the same, 0 to 1. */
  readonly share: number;
};

/** An event that nothing was learned of, and why. */
export type Refused = { readonly eventId: string; readonly code: RefusalCode; readonly detail: string };

export type UpdateRequest = {
  readonly corrected: readonly CorrectedExchange[];
  readonly supplied: readonly SuppliedAnswer[];
  readonly rewarded: readonly RewardedExchange[];
  readonly signals: SignalSettings;
  /** Turns of the same agent, most recent last. */
  readonly replay: readonly ReplayTurn[];
  /** Defaults that the line has learned before. Absent: none. */
  readonly rehearsed?: readonly Rehearsal[];
  /** Adapter of the version that the candidate descends from; null for the bare base. */
  readonly parent: AdapterTensors | null;
  /** Its number. */
  readonly parentVersion: number;
  /** What the line's answers are held to. Absent: nothing. */
  readonly carried?: readonly HeldDefault[];
  /** Whether another version than the parent answers for an argument, so that nobody sees what the parent does there. Absent: none ever does. */
  readonly othersAnswer?: (place: Place) => boolean;
  /** Running mean of the agent's rewards, in [−1, 1]. */
  readonly baseline: number;
  readonly objective: ObjectiveName;
  /** Of a candidate that has no parent. Absent: as the settings say, else on answers. */
  readonly actsOn?: ActsOn;
  /** What the agent's engine gives its chat template. Absent: nothing. */
  readonly templateArguments?: TemplateArguments;
  readonly seed: number;
  /** Told of optimizer steps made, of how many: (0, n) as the update begins. */
  readonly onStep?: ((counted: Counted) => void) | undefined;
};

export type UpdateOutcome =
  | {
      readonly status: "learned";
      /** Rounded to what is stored; measured after rounding. */
      readonly adapter: AdapterTensors;
      /** What it uses from now on where the user names nothing, in the order in which it was learned. */
      readonly defaults: readonly LearnedDefault[];
      /** What it may have changed: everything where rewards or supplied answers taught it, too. */
      readonly reach: Reach;
      readonly metrics: z.infer<typeof UpdateMetrics>;
      readonly changes: readonly z.infer<typeof SampleChange>[];
      /** Lift of each exchange that was learned from, nats, by event. */
      readonly lifts: ReadonlyMap<string, number>;
      /** What was said about the tokens of the turns that were learned from. */
      readonly credits: readonly TurnCredit[];
      readonly refused: readonly Refused[];
    }
  | {
      readonly status: "refused";
      readonly refused: readonly Refused[];
    };

export interface Learner {
  update(request: UpdateRequest): Promise<UpdateOutcome>;
  /** Reads ahead, seconds of work, what an update from this version needs whatever it is about. It comes out the same without. */
  prepare?(parentVersion: number, templateArguments?: TemplateArguments): Promise<void>;
}
