/** When a session's one alarm rings next, and what is due by then (pure); chores.ts does it. */
import { AppError } from "../../shared/errors.ts";
import { KEEP_MS } from "../directory/port.ts";

/** A conversation that nobody continued for so long is over, unless the environment says otherwise; a later message reopens it. */
const IDLE_MS = 30 * 60_000;
/** As long as the directory leads to it, and an hour more. */
export const FORGET_MS = KEEP_MS + 3_600_000;
/** How soon a turn that was open when its Worker died is closed. */
export const RECOVER_MS = 10_000;
/** How soon what could not be written is tried again: doubled from the first to the last, with full jitter. */
const RETRY_MS = { first: 500, last: 60_000 };

export type Pending = {
  /** Some turn is open. */
  readonly open: boolean;
  /** Events, registrations or counters are not where they belong. */
  readonly unwritten: boolean;
  /** How often in a row writing has failed; 0 after a success. */
  readonly failures: number;
  readonly activeAt: number;
  readonly closedAt: number | null;
  /** After how long without a turn the session closes. */
  readonly idleMs: number;
};

/** The idle time that `SESSION_IDLE_MS` sets. @throws {input/invalid} for anything but milliseconds */
export function parseIdleMs(text: string | undefined): number {
  const idleMs = text === undefined || text === "" ? IDLE_MS : Number(text);
  if (Number.isInteger(idleMs) && idleMs > 0) return idleMs;
  throw new AppError("input/invalid", `SESSION_IDLE_MS: milliseconds above 0 expected, got ${text}`);
}

/** The epoch milliseconds at which the alarm has to ring next. `random` is in [0, 1). */
export function nextAlarm(pending: Pending, { now, random }: { now: number; random: number }): number {
  const due = [pending.closedAt === null ? pending.activeAt + pending.idleMs : pending.closedAt + FORGET_MS];
  if (pending.open) due.push(now + RECOVER_MS);
  if (pending.unwritten) due.push(now + retryDelayMs(pending.failures, random));
  return Math.max(Math.min(...due), now);
}

export function isIdle({ open, activeAt, closedAt, idleMs }: Pending, now: number): boolean {
  return !open && closedAt === null && now >= activeAt + idleMs;
}

/** Nothing is left to write and nothing leads here: the object may go. */
export function isForgotten({ open, unwritten, closedAt }: Pending, now: number): boolean {
  return !open && !unwritten && closedAt !== null && now >= closedAt + FORGET_MS;
}

function retryDelayMs(failures: number, random: number): number {
  const ceiling = Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.last);
  return RETRY_MS.first / 2 + random * ceiling;
}
