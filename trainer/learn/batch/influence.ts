/** Who has to say something before everybody gets it: corrections that wait for others, and what the others had said. Pure. */
import { saidKey, topicOf, weigh, type Audience, type Evidence } from "../../../shared/influence.ts";
import type { Refusal } from "../../data/refusal.ts";
import type { Influence } from "../../feed/edge-port.ts";
import { firstTool } from "../../../shared/speech/calls.ts";
import type { Batch, Judged } from "./batch.ts";
import { toldBy } from "./form.ts";

/** Of what enough have said so many are learned from, the last ones, and of each key so many: one that floods hides no other. */
const MOST_HEARD = { key: 25, all: 100 } as const;
const CROWDED = `of what was said alike the last ${MOST_HEARD.key} of a key and the last ${MOST_HEARD.all} of all expected, got an earlier one`;

export type Heard = {
  readonly batch: Batch;
  /** Share of the loss weight by event, of the batch's and of those beside it. */
  readonly shares: ReadonlyMap<string, number>;
  /** Events beside the batch that say the same as what is learned now. */
  readonly others: readonly string[];
};

/** Refuses the corrections that too few have made and those beyond what is heard at once, and names the earlier ones that count with those that enough have. */
export function hearOthers(batch: Batch, { audience, evidence }: Influence): Heard {
  const shares = new Map<string, number>();
  const others = new Set<string>();
  const refusals: Refusal[] = [];
  const kept: Judged[] = [];
  const own = new Map(batch.learnable.map((each) => [each.signal.event.eventId, each]));
  for (const [key, group] of Map.groupBy(batch.learnable, (each) => saidKey(toEvidence(each)))) {
    // Of what was said without words only the batch's own counts: a reward tells of its own conversation, and was learned from or not.
    const said = isReward(group) ? [] : evidence.filter((each) => saidKey(each) === key);
    const known = new Set(said.map(({ eventId }) => eventId));
    // What the agent has not heard of yet counts as it is.
    const all = [...heardOf(said), ...group.map(toEvidence).filter(({ eventId }) => !known.has(eventId))];
    const weighed = weigh(all, audience);
    if (weighed.status === "waiting") {
      refusals.push(...waiting(group, weighed.detail));
      continue;
    }
    // What was cut has no part in what was weighed, so nothing may be learned from it now: it waits as what was said before does.
    for (const each of group) {
      const { eventId } = each.signal.event;
      if (weighed.shares.has(eventId)) kept.push(each);
      else refusals.push({ eventId, code: "user/waiting", detail: CROWDED });
    }
    for (const [eventId, share] of weighed.shares) {
      shares.set(eventId, share);
      if (!own.has(eventId)) others.add(eventId);
    }
  }
  const learnable = batch.learnable.filter((each) => kept.includes(each));
  return { batch: { ...batch, learnable, refusals: [...batch.refusals, ...refusals] }, shares, others: [...others] };
}

/** How what is left of what was heard weighs, once an update has refused single events of it: topics that too few are left to say wait again. */
export function weighAgain(
  left: readonly Judged[],
  audience: Audience,
): { readonly shares: ReadonlyMap<string, number>; readonly refusals: readonly Refusal[] } {
  const shares = new Map<string, number>();
  const refusals: Refusal[] = [];
  for (const group of Map.groupBy(left, (each) => saidKey(toEvidence(each))).values()) {
    const weighed = weigh(group.map(toEvidence), audience);
    if (weighed.status === "waiting") refusals.push(...waiting(group, weighed.detail));
    else for (const [eventId, share] of weighed.shares) shares.set(eventId, share);
  }
  return { shares, refusals };
}

function waiting(group: readonly Judged[], lacking: string): Refusal[] {
  const detail = `waits for others to say the same: ${lacking}`;
  return group.map(({ signal }) => ({ eventId: signal.event.eventId, code: "user/waiting", detail }));
}

function heardOf(said: readonly Evidence[]): Evidence[] {
  const ofKeys = [...Map.groupBy(said, ({ keyId }) => keyId ?? "").values()].map((each) => new Set(each.slice(-MOST_HEARD.key)));
  return said.filter((each) => ofKeys.some((own) => own.has(each))).slice(-MOST_HEARD.all);
}

/** Shares as they are where nobody has to be heard: each user of a correction counts once. */
export function sharesOf(corrected: readonly Judged[]): ReadonlyMap<string, number> {
  return weighAgain(corrected, { users: 1, keys: 1, trusted: {} }).shares;
}

/** As the agent keeps it. */
export function toEvidence({ signal, verdict }: Judged): Evidence {
  const { eventId, user, keyId = null } = signal.event;
  const { hint } = verdict;
  if (hint !== undefined) return { eventId, user, keyId, tool: hint.toolName, ...hint.hint };
  const form = toldBy(signal, verdict) === "answer" ? "answer" : "reward";
  return { eventId, user, keyId, ...topicOf(form, firstTool(signal.feedback?.answer)) };
}

function isReward([first]: readonly Judged[]): boolean {
  return first !== undefined && toldBy(first.signal, first.verdict) === "reward";
}
