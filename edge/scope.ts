/** Which agents a key reaches: names, and prefixes that end in `*`. Pure. What is out of scope does not exist for the key. */
import { z } from "zod";

export const AgentPattern = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}\*?$/, "must be the name of an agent, or the beginning of names followed by *");

/** Null reaches every agent. */
export type Scope = readonly string[] | null;

export function reaches(scope: Scope, agent: string): boolean {
  return scope === null || scope.some((pattern) => (pattern.endsWith("*") ? agent.startsWith(pattern.slice(0, -1)) : agent === pattern));
}

/** Whether everything that `inner` reaches is reached by `outer`. */
export function covers(outer: Scope, inner: Scope): boolean {
  if (outer === null) return true;
  return inner !== null && inner.every((pattern) => outer.includes(pattern) || outer.some((own) => isWithin(pattern, own)));
}

function isWithin(pattern: string, own: string): boolean {
  return own.endsWith("*") && pattern.replace(/\*$/, "").startsWith(own.slice(0, -1));
}
