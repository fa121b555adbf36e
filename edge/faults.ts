/**
 * Hand-over points of a turn, by name. Crash tests set `FAULT` to one of them: the Worker logs `fault <point>` there
 * and stalls for ever, so that the test can kill it at exactly that moment.
 */
import type { Env } from "./env.ts";

export const FAULT_POINTS = [
  /** The opened turn is durable; nothing has been sampled. */
  "turn:opened",
  /** The first token has been sampled. */
  "token:first",
  /** Everything has been sampled; the finished turn is not durable. */
  "turn:sampled",
  /** The finished turn and its outbox row are durable; the final chunk has not been sent. */
  "turn:finished",
  /** The directory knows the transcript; the final chunk has not been sent. */
  "turn:registered",
  /** The final chunk has been sent; the outbox has not been emptied. */
  "turn:delivered",
  /** The event log has the outbox's events; the outbox still holds them. */
  "event:appended",
  /** The outbox is empty. */
  "outbox:emptied",
] as const;

/** Those that only an answer with tools of the edge's own comes to. */
export const TOOL_FAULT_POINTS = [
  /** The call is on record as begun; the tool has not been asked. */
  "tool:started",
  /** The tool has answered; its result is not on record. */
  "tool:answered",
  /** The result is on record; the next turn has not been opened. */
  "tool:finished",
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number] | (typeof TOOL_FAULT_POINTS)[number];

const STALL_MS = 60_000;

/** Returns at once unless the environment names this point. */
export async function fault(env: Pick<Env, "FAULT">, point: FaultPoint): Promise<void> {
  if (env.FAULT !== point) return;
  // oxlint-disable-next-line no-console -- the crash test waits for exactly this line
  console.log(`fault ${point}`);
  for (;;) await scheduler.wait(STALL_MS);
}
