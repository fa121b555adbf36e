/** What a trainer is doing for a line, as it says itself; kept for as long as it says so. */
import { z } from "zod";

/** `queued`: the update waits for another line's to end. */
export const TRAINER_PHASES = ["watching", "judging", "waiting", "queued", "updating", "gating", "publishing", "rebuilding"] as const;

export const TrainerStatus = z.object({
  phase: z.enum(TRAINER_PHASES),
  /** Signals judged, or optimizer steps made, and how many there are; 0 of 0 where nothing is counted. */
  done: z.number().int().min(0),
  of: z.number().int().min(0),
  /** Corrected turns that no update has begun with, and since when the first of them waits. */
  corrections: z.number().int().min(0),
  waitingSince: z.iso.datetime().nullable(),
});
export type TrainerStatus = z.infer<typeof TrainerStatus>;
