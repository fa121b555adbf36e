/** Why something was not trained on: a closed list of codes, counted, each with its evidence. */

export const REFUSAL_CODES = [
  "turn/side",
  "turn/ambiguous",
  "turn/unknown",
  "turn/notStored",
  "turn/untold",
  "turn/template",
  "turn/otherBase",
  "turn/lengths",
  "turn/tooLong",
  "user/waiting",
  "event/quarantined",
  "event/unreadable",
  "judge/notNegative",
  "judge/unparsable",
  "judge/unavailable",
  "hint/none",
  "hint/ungrounded",
  "hint/held",
  "hint/spokenBefore",
  "hint/once",
  "hint/conditional",
  "hint/superseded",
  "hint/ofOneUser",
  "note/dropped",
  "teacher/noLift",
  "teacher/fails",
  "teacher/unmarked",
  "answer/held",
  "answer/unfit",
  "answer/reference",
  "turn/stale",
  "turn/ratios",
  "update/notLearned",
  "update/deaf",
  "update/forgets",
  "update/drift",
  "update/failed",
  "update/rejected",
  "export/noRow",
  "learning/disabled",
  "engine/noAdapters",
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Of a reason that is stored: one line for people. */
export const DETAIL_CHARS = 300;
const REASONS_TOLD = 5;

export type Refusal = { readonly eventId: string; readonly code: RefusalCode; readonly detail: string };

/**
 * The reason where an error comes of what one event holds: the language's own, as for what is nested too deep. Undefined for any other, such
 * as an engine's or a connection's, which says nothing of the event. What is thrown for one event must not hold up those after it.
 */
export function unreadable(eventId: string, error: unknown): Refusal | undefined {
  const own = error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError;
  return own ? { eventId, code: "event/unreadable", detail: `${error.name}: ${error.message}`.slice(0, DETAIL_CHARS) } : undefined;
}

/** How often each code was given; codes never given are absent. */
export function countRefusals(refusals: readonly Refusal[]): Partial<Record<RefusalCode, number>> {
  const counts: Partial<Record<RefusalCode, number>> = {};
  for (const { code } of refusals) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** What is told of refusals in words, each once, the last ones of many. */
export function reasonsOf(refusals: readonly Refusal[]): string[] {
  const details = refusals.map(({ detail }) => detail).filter((detail) => detail !== "");
  return [...new Set(details)].slice(-REASONS_TOLD);
}
