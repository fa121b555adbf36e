/** Which version answers a conversation. Pure. */
import type { OfferedPolicies, TurnPolicy } from "./port.ts";

const LOT_DIGITS = 8; // of the session's id, which is a digest: a number drawn by lot that stays the same
const LOTS = 16 ** LOT_DIGITS;

/**
 * A conversation stays on the version that began it, unless that was taken back or its base is of an engine which the agent has no more. One that begins is the canary's by lot, in
 * the canary's share.
 * @param pinned the version that began it; undefined where it begins now
 */
export function choosePolicy(sessionId: string, pinned: TurnPolicy | undefined, offered: OfferedPolicies): TurnPolicy {
  const { stable, canary } = offered;
  if (pinned !== undefined && !wasTakenBack(pinned, offered) && isServed(pinned, offered))
    // As it is known now: a version that it is asked with may be gone.
    return stable.version === pinned.version && stable.policyDigest === pinned.policyDigest ? stable : pinned;
  // Whoever was on a version that was taken back has had enough of trials.
  if (canary === null || pinned !== undefined) return stable;
  return lotOf(sessionId) < canary.share ? canary.policy : stable;
}

function wasTakenBack({ line, version }: TurnPolicy, { rolledBack }: OfferedPolicies): boolean {
  return rolledBack[line]?.includes(version) === true;
}

function isServed({ onEngine, baseDigest }: TurnPolicy, { engineBase }: OfferedPolicies): boolean {
  return !onEngine || baseDigest === engineBase;
}

function lotOf(sessionId: string): number {
  return Number.parseInt(sessionId.replace(/^s_/, "").slice(0, LOT_DIGITS), 16) / LOTS;
}
