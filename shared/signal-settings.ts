/**
 * What an update makes of each form of signal: words of correction, an answer as it should have been, a reward. Part of an
 * agent's learning settings, and written into every version, so that it can be made again.
 */
import { z } from "zod";

export const SignalSettings = z.object({
  /** What an answer that somebody supplies teaches: itself (cross-entropy), itself rather than the one given (DPO), both, or nothing. */
  answers: z.enum(["demonstration", "preference", "both", "off"]).default("demonstration"),
  /** β of the preference, and the policy that it is measured from: the version that answered, or the base. (arXiv:2305.18290) */
  preference: z
    .object({ beta: z.number().positive().max(10).default(0.1), reference: z.enum(["answered", "base"]).default("answered") })
    .prefault({}),
  /** Whether rewards without words teach: not at all, the outcome of a conversation to all of its answers, or each answer by its own step. */
  rewards: z.enum(["off", "outcome", "steps"]).default("off"),
  /** β of KL(policy ‖ base) beside rewards. */
  klToBase: z.number().min(0).max(10).default(0.01),
  /** A turn of a version that lies further behind teaches no reward, in versions. */
  maxStaleness: z.number().int().min(0).default(8),
  /** Wordings of a hint that the teacher may be given, and whether one is chosen for an answer or for each of its tokens. (arXiv:2603.10165 v2) */
  hints: z
    .object({ candidates: z.number().int().min(1).max(3).default(1), choice: z.enum(["sequence", "token"]).default("sequence") })
    .prefault({}),
  /** Which turns a correction is credited to: those of its exchange, or the conversation's earlier ones, too, where it fits them. */
  credit: z.enum(["exchange", "conversation"]).default("exchange"),
  /** Which turns are replayed: the last ones, or those that were approved of before others. */
  replay: z.enum(["recent", "approved"]).default("recent"),
});
export type SignalSettings = z.infer<typeof SignalSettings>;
