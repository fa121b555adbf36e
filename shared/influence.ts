/**
 * How much of an update one user, and one API key, may supply. A default for everybody is learned once enough of them say
 * the same; until then it is in force for whoever gave it, as a note. Pure, and the same on both sides: the trainer weighs,
 * the edge weighs again before a version exists.
 */
import { z } from "zod";
import { topicsOf } from "./aspects.ts";
import { count } from "./count.ts";
import { SMALL_CIRCLE } from "./small-circle.ts";

const LARGEST_SHARE = 0.25;
const TINY = 1e-9;

/** A correction that no version in use has learned from. */
export const Evidence = z.object({
  eventId: z.string(),
  user: z.string(),
  /** Null in events of before keys were recorded. */
  keyId: z.string().nullable(),
  tool: z.string(),
  parameter: z.string(),
  value: z.string(),
});
export type Evidence = z.infer<typeof Evidence>;

/** A correction that nobody is to learn any more: its note was dropped by somebody, or its user has said otherwise since. */
export const Withdrawn = z.discriminatedUnion("kind", [
  z.object({ eventId: z.string(), kind: z.literal("dropped") }),
  z.object({ eventId: z.string(), kind: z.literal("superseded"), by: Evidence }),
]);
export type Withdrawn = z.infer<typeof Withdrawn>;

/**
 * What supersedes a correction: of what its user said of its topics `later`, oldest first, the last word, where that is another.
 * @param counts asked from the last word on, until one does
 */
export function supersededBy(
  said: Evidence,
  later: readonly Evidence[],
  counts: (each: Evidence) => boolean = () => true,
): Evidence | undefined {
  const own = later.filter(({ user }) => user === said.user);
  const last = topicsOf(said).flatMap((topic) => own.findLast((each) => topicsOf(each).includes(topic) && counts(each)) ?? []);
  return last.find(({ tool, value }) => tool !== said.tool || value !== said.value);
}

/**
 * What a signal without a hint is about, as evidence: answers that call the same tool, answers in words, and rewards are each
 * one topic. No tool has an empty name.
 */
export function topicOf(form: "answer" | "reward", tool?: string): Pick<Evidence, "tool" | "parameter" | "value"> {
  return { tool: form === "answer" ? (tool ?? "") : "", parameter: form === "answer" && tool !== undefined ? "" : form, value: form };
}

/** Whether it is about rewards, which ask for nothing that could be waited for. */
export function isOfRewards({ tool, parameter }: Evidence): boolean {
  const topic = topicOf("reward");
  return tool === topic.tool && parameter === topic.parameter;
}

/** Whether it is about one argument of one tool, which another user may correct alike. */
export function isCorrection({ tool, parameter }: Evidence): boolean {
  return tool !== "" && parameter !== "";
}

/** Whom a line served in the last 30 days. */
export const Audience = z.object({
  users: z.number().int().min(0),
  /** Keys that speak for themselves: those of four users or more, and those of fewer where there are four such keys. */
  keys: z.number().int().min(0),
  /** Share of an update's loss weight that users under a key may have together, whatever the caps, by key id: keys of people who are trusted. */
  trusted: z.record(z.string(), z.number().min(0).max(1)).default({}),
});
export type Audience = z.infer<typeof Audience>;

export type Weighed =
  | { readonly status: "enough"; readonly shares: ReadonlyMap<string, number> }
  | { readonly status: "waiting"; readonly detail: string };

/** The largest share of an update's loss weight that one of `users` may have: max(25 %, 1/n), all of it in a small circle. */
export function userCap({ users }: Pick<Audience, "users">): number {
  return users < SMALL_CIRCLE ? 1 : Math.max(LARGEST_SHARE, 1 / users);
}

export function keyCap({ users, keys }: Pick<Audience, "users" | "keys">): number {
  return users < SMALL_CIRCLE ? 1 : Math.max(LARGEST_SHARE, 1 / Math.max(1, keys));
}

/**
 * Shares of the loss weight by event, adding up to 1, for corrections that say the same. A user counts once, however often it
 * was said; a key's users together have at most the key's cap, or what it is trusted with, and what it loses goes to the others.
 */
export function weigh(evidence: readonly Evidence[], audience: Audience): Weighed {
  const byKey = new Map<string, Map<string, string[]>>();
  for (const { keyId, user, eventId } of evidence) {
    const users = byKey.get(keyId ?? "") ?? new Map<string, string[]>();
    byKey.set(keyId ?? "", users.set(user, [...(users.get(user) ?? []), eventId]));
  }
  const [ofUser, ofKey] = [userCap(audience), keyCap(audience)];
  const keys = [...byKey].map(([key, users]) => ({
    users,
    most: Math.max(audience.trusted[key] ?? 0, Math.min(ofKey, users.size * ofUser)),
  }));
  if (keys.reduce((sum, { most }) => sum + most, 0) < 1 - TINY) {
    const meanwhile = evidence.some(isCorrection) ? "; in force as a note meanwhile" : "";
    return { status: "waiting", detail: `${lacking(keys, { ofUser, ofKey })}${meanwhile}` };
  }
  const shares = new Map<string, number>();
  fill(keys.map(({ users, most }) => ({ wanted: users.size, most }))).forEach((share, index) => {
    const users = keys[index]?.users ?? new Map<string, string[]>();
    for (const events of users.values()) for (const eventId of events) shares.set(eventId, share / users.size / events.length);
  });
  return { status: "enough", shares };
}

/** Shares in proportion to `wanted`, none above its `most`, adding up to 1: what one cannot take the others do. */
function fill(parts: readonly { wanted: number; most: number }[]): number[] {
  const shares = parts.map(() => 0);
  const open = new Set(parts.keys());
  let left = 1;
  while (open.size > 0 && left > TINY) {
    const wanted = [...open].reduce((sum, index) => sum + (parts[index]?.wanted ?? 0), 0);
    const rate = left / wanted;
    const full = [...open].filter((index) => (shares[index] ?? 0) + rate * (parts[index]?.wanted ?? 0) >= (parts[index]?.most ?? 0) - TINY);
    for (const index of full.length > 0 ? full : [...open]) {
      const { wanted: mine, most } = parts[index] ?? { wanted: 0, most: 0 };
      const given = full.length > 0 ? most - (shares[index] ?? 0) : rate * mine;
      shares[index] = (shares[index] ?? 0) + given;
      left -= given;
      if (full.length > 0) open.delete(index);
    }
    if (full.length === 0) break;
  }
  return shares;
}

function lacking(keys: readonly { users: ReadonlyMap<string, unknown> }[], { ofUser, ofKey }: { ofUser: number; ofKey: number }): string {
  const users = keys.reduce((sum, each) => sum + each.users.size, 0);
  const [least, leastKeys] = [Math.ceil(1 / ofUser - TINY), Math.ceil(1 / ofKey - TINY)];
  if (leastKeys === 1) return `said by ${users} of ${count(least, "user")} that it takes to change what everybody gets`;
  const crowded = users >= least && keys.length >= leastKeys ? "; too many of them under one key" : "";
  const takes = `it takes ${count(least, "user")} under ${count(leastKeys, "key")} to change what everybody gets`;
  return `said by ${count(users, "user")} under ${count(keys.length, "key")}; ${takes}${crowded}`;
}

/** What was said, whoever says it: evidence of the same key is counted together, by the trainer and by whoever lets its versions pass. */
export function saidKey({ tool, parameter, value }: Pick<Evidence, "tool" | "parameter" | "value">): string {
  return JSON.stringify([tool, parameter, value]);
}
