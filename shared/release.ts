/** How a version comes to answer: its states, the gate before any user sees it, the canary before every user does. */
import { z } from "zod";

/**
 * `candidate`: passed its gate and waits for the canary before it. `refused`: its gate report does not hold, it never answers.
 * `superseded`: answered, or waited, until a newer one took its place. `rolledBack`: taken back, for cause.
 * `deleted`: made from what a deleted user had said; its adapter is gone, it cannot be rebuilt, and it never answers again.
 */
export const VERSION_STATUSES = ["candidate", "canary", "stable", "refused", "rolledBack", "superseded", "deleted"] as const;
export type VersionStatus = (typeof VERSION_STATUSES)[number];

/**
 * What a candidate may cost, by check; a value above its budget refuses it. Shares are of the cases that a check asks about, and
 * compare the candidate with its parent: only what the parent did right can be lost.
 */
export const GateBudgets = z.object({
  /** Share of the agent's suite that the parent passed and the candidate fails. */
  suite: z.number().min(0).max(1).default(0.1),
  /** Mean KL(base ‖ candidate) per token over the base's answers to the probes, of the kind of probe where it is most, nats: the line's cumulative budget. */
  klToBaseNats: z.number().positive().default(0.25),
  /** Growth of the mean negative log-likelihood of the base's answers to the probes, of the kind where it is most, base to candidate, nats per token. */
  anchorNllNats: z.number().positive().default(0.15),
  /** Share of the calls that no longer fit their tool, drawn without the grammar that holds them when they are served. */
  invalidCalls: z.number().min(0).max(1).default(0.25),
  /**
   * How many more needless calls the candidate makes than the parent, as a share of the turns that want none in which the parent made none; at least
   * half of the share of those in which it makes one now.
   */
  needlessCalls: z.number().min(0).max(1).default(0.2),
  /** The same of needless questions, of the turns that tell all a call needs in which the parent called. */
  needlessQuestions: z.number().min(0).max(1).default(0.15),
  /** |ln(mean answer length of the candidate / of the parent)|: answers that shrink or grow. */
  length: z.number().positive().default(0.25),
  /** Share of the turns in which a user contradicts what a tool has said and the candidate, not the parent, gives in. */
  flattery: z.number().min(0).max(1).default(0.25),
  /** Share of the answers that say the same four tokens three times over, where the base's to a probe, or the parent's to a case of the suite, do not. */
  repetition: z.number().min(0).max(1).default(0.1),
});
export type GateBudgets = z.infer<typeof GateBudgets>;
export type GateCheckName = keyof GateBudgets;
export const GATE_CHECKS = Object.keys(GateBudgets.shape) as GateCheckName[];

export const GateSettings = z.object({ enabled: z.boolean().default(true), budgets: GateBudgets.prefault({}) });

export const CanarySettings = z.object({
  /** `auto`: from the fourth user on that a line learned from or serves in 30 days; below it there is nobody to compare. */
  mode: z.enum(["auto", "on", "off"]).default("auto"),
  /** Share of new conversations; under 100 turns a day it rises to half. */
  share: z.number().min(0.01).max(0.5).default(0.1),
  /** Judged conversations of each version before the test may say anything. */
  minSessions: z.number().int().min(10).default(50),
  /** A canary that is certainly less than this much worse is promoted, in points of 100 (reward −1 is 0, +1 is 100). */
  marginPoints: z.number().min(1).max(50).default(5),
  /** Days undecided after which a person is asked. */
  patienceDays: z.number().int().min(1).default(14),
});
export type CanarySettings = z.infer<typeof CanarySettings>;

export const ReleaseSettings = z.object({ gate: GateSettings.prefault({}), canary: CanarySettings.prefault({}) });
export type ReleaseSettings = z.infer<typeof ReleaseSettings>;

/** A case that moved, for people: the last words of its prompt, and both answers. */
export const GateCase = z.object({ name: z.string(), before: z.string(), after: z.string() });

const Counted = z.number().int().min(0);

export const GateCheck = z.object({
  name: z.enum(GATE_CHECKS as [GateCheckName, ...GateCheckName[]]),
  /** Never negative, lower is better, in the budget's unit. */
  value: z.number().min(0),
  /** How many cases it was measured on; 0 says that there was nothing to ask. */
  asked: Counted,
  /** Of checks that count what is right: how many the parent and the candidate got right, of all. Reports of before have none. */
  right: z.object({ before: Counted, after: Counted, of: Counted }).optional(),
  /** Those that the candidate lost, at most a few. */
  cases: z.array(GateCase).max(10),
});
export type GateCheck = z.infer<typeof GateCheck>;

export const GateReport = z.object({ checks: z.array(GateCheck) });
export type GateReport = z.infer<typeof GateReport>;

/** Every check whose value is above its budget, and every check that the report lacks; empty where the candidate passed. */
export function gateFaults({ checks }: GateReport, budgets: GateBudgets): string[] {
  return GATE_CHECKS.flatMap((name) => {
    const found = checks.filter((check) => check.name === name);
    const [check] = found;
    if (check === undefined || found.length > 1) return [`${name}: one check expected, got ${found.length}`];
    const limit = budgets[name];
    return check.value <= limit ? [] : [`${name}: at most ${limit} expected, got ${round(check.value)} of ${check.asked} asked`];
  });
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
