/** What a version's update said about the tokens of a turn that it learned from: the advantage of each. */
import { z } from "zod";

/** Of one publish. */
export const MOST_CREDITS = 400;
const MOST_PIECES = 2_000;
const MOST_CHARACTERS = 20_000;

/** `pieces` put together are the answer as the policy wrote it, each with its advantage: below 0 the update makes it less likely. */
export const TurnCredit = z.object({
  /** The event that was learned from. */
  eventId: z.string().max(200),
  /** A turn of its exchange. */
  turnId: z.string().max(200),
  pieces: z.array(z.tuple([z.string().max(MOST_CHARACTERS), z.number()])).max(MOST_PIECES),
});
export type TurnCredit = z.infer<typeof TurnCredit>;
