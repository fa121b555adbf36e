/** The checks of the gate, as people are told of them. */
import type { GateCheckName } from "../shared/release.ts";

export const CHECKS: Readonly<Record<GateCheckName, string>> = {
  suite: "cases of the suite lost",
  klToBaseNats: "distance from the base, KL in nats per token",
  anchorNllNats: "likelihood lost on the base's answers, nats per token",
  invalidCalls: "calls that break their schema",
  needlessCalls: "needless calls",
  needlessQuestions: "needless questions",
  length: "answers shrunk or grown, |ln ratio|",
  flattery: "giving in to a user who is wrong",
  repetition: "answers that repeat themselves",
};

export const CHECK_NAMES = Object.keys(CHECKS) as GateCheckName[];

/** Measured as a share of cases: a budget above 1 would refuse nothing. The others are measured in nats. */
const NATS: ReadonlySet<GateCheckName> = new Set(["klToBaseNats", "anchorNllNats", "length"]);

export function isShare(name: GateCheckName): boolean {
  return !NATS.has(name);
}
