/**
 * Notes: corrections that are in force as context, seconds after they were given and before the weights have taken them
 * up. A note is a standing default: used where the user is silent, dropped where the user speaks.
 */
import { z } from "zod";

export const NoteStatus = z.enum([
  "inForce",
  /** The policy does it by itself since version `absorbedBy`. */
  "absorbed",
  /** A later correction of the same argument took its place. */
  "superseded",
  /** The version that learned from the same event is rolled back, and the note with it. */
  "rolledBack",
  /** Deleted by a person, or pushed out by others that are used more. */
  "dropped",
]);
export type NoteStatus = z.infer<typeof NoteStatus>;

export const Note = z.object({
  noteId: z.string(),
  line: z.string(),
  /** Who gave it. */
  user: z.string(),
  /** Whose turns it is for: that user's, or everybody's. */
  scope: z.enum(["user", "agent"]),
  tool: z.string(),
  /** An argument's, or an aspect of the call as a whole or of the reply to its results: `@tool`, `@ask`, `@length`, … */
  parameter: z.string(),
  value: z.string(),
  /** What the policy had put there by itself when it was corrected; null where nothing. */
  corrected: z.string().nullable(),
  /** As the policy reads it. */
  text: z.string(),
  /** The user's words that it comes from; of their further corrections with a number behind it (hint-id.ts). */
  eventId: z.string(),
  turnId: z.string(),
  /** Finished turns that had it in their prompt. */
  uses: z.number().int().min(0),
  lastUsedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  /** The version that was trained on the same event. */
  learnedBy: z.number().int().nullable(),
  /** The version that no longer needs it. */
  absorbedBy: z.number().int().nullable(),
  status: NoteStatus,
});
export type Note = z.infer<typeof Note>;

/** A note in a prompt, and as a turn records it. */
export const PromptNote = z.object({
  noteId: z.string(),
  text: z.string(),
  /** The policy passed over it, and its call was held to it. */
  held: z.literal(true).optional(),
});
export type PromptNote = z.infer<typeof PromptNote>;

/** A note as a turn is given it, with what decides whether it yields or is held. */
export type ServedNote = Pick<Note, "noteId" | "text" | "tool" | "parameter" | "value" | "corrected">;

/** A version that does what the note says without it. */
export const NoteAbsorbed = z.object({ version: z.number().int().min(0) });
export type NoteAbsorbed = z.infer<typeof NoteAbsorbed>;
