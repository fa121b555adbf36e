/**
 * What became of a call, and what the policy is told of it. The tool's own refusal is an `error`, which the verifiable judge counts against
 * the call (trainer/judge/verifiable.ts). What was not the call's fault is `unavailable` and counts for nothing: an outage must not
 * teach the policy to leave a tool alone.
 */
import { z } from "zod";

const MAX_REASON = 2_000; // characters of what a tool says went wrong

export const ToolOutcome = z.object({
  status: z.enum(["answered", "failed", "unavailable"]),
  /** The result as the policy reads it. */
  text: z.string(),
});
export type ToolOutcome = z.infer<typeof ToolOutcome>;

export function answered(text: string): ToolOutcome {
  return { status: "answered", text };
}

/** The tool has refused the call. */
export function failed(reason: string): ToolOutcome {
  return { status: "failed", text: JSON.stringify({ error: reason.slice(0, MAX_REASON) }) };
}

export function unavailable(reason: string): ToolOutcome {
  return { status: "unavailable", text: JSON.stringify({ unavailable: reason.slice(0, MAX_REASON) }) };
}

/** The call was begun and the edge died: whether the tool has run cannot be told, and it is not run twice. */
export const UNKNOWN_OUTCOME = unavailable("the call was cut off; whether the tool has run is not known, and it is not called again");
