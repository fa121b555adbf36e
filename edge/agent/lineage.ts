/**
 * Which version learned from what, what is barred from learning and what is open to it, and who said so: a line's events, where
 * lines.ts has its moves.
 */
import { invariant } from "../../shared/assert.ts";
import { weigh, type Audience, type Evidence } from "../../shared/influence.ts";
import type { PolicyManifest } from "../../shared/policy.ts";
import type { QuarantinedEvent, Reason } from "./port.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

/** How long a user counts as one of the line's. */
export const CIRCLE_MS = 30 * 86_400_000;

export class Lineage {
  readonly #store: AgentStore;

  constructor(store: AgentStore) {
    this.#store = store;
  }

  audience(line: string): Audience {
    return this.#store.trials.audience(line, Date.now() - CIRCLE_MS);
  }

  /** Returns how many were not barred before. */
  bar(line: string, events: readonly Pick<QuarantinedEvent, "eventId" | "turnId">[], { actor, reason }: Reason): number {
    const createdAt = new Date().toISOString();
    return events.filter((event) => this.#store.quarantine.bar(line, { ...event, reason: reason ?? null, actor, createdAt })).length;
  }

  /** Lets events go; those that only versions out of use have learned from are learned from again. */
  free(line: string, eventIds: readonly string[]): number {
    const freed = eventIds.filter((eventId) => this.#store.quarantine.free(line, eventId));
    const live = this.#inUse(line);
    for (const eventId of freed) {
      const uses = this.#store.quarantine.uses(line, { eventId });
      // What a version in use has learned from is in it; what none ever used still lies beyond the cursor, or was refused.
      if (uses.length > 0 && uses.every(({ version }) => !live.has(version))) this.#reopen(line, eventId);
    }
    return freed.length;
  }

  /** Whom the line serves, and what they have said that no version in flight or in use has learned. */
  influence(line: string): { audience: Audience; evidence: Evidence[] } {
    const since = Date.now() - CIRCLE_MS;
    const inUse = this.#inUse(line);
    const evidence = this.#store.evidence.open(line, { since, inUse });
    return {
      audience: this.audience(line),
      evidence: evidence.filter(({ eventId }) => !this.#store.quarantine.isBarred(line, eventId)),
    };
  }

  /** Tells of an event behind the cursor whether it may be learned from: opened again, or waiting for others to say the same. */
  openEvents(line: string): (eventId: string) => boolean {
    const open = new Set([...this.influence(line).evidence.map(({ eventId }) => eventId), ...(this.rebuildOf(line)?.events ?? [])]);
    return (eventId) => open.has(eventId) || this.#store.quarantine.isReopened(line, eventId);
  }

  /** Why a version would let few decide for many, or undefined. */
  influenceFault({ line, events }: PolicyManifest): string | undefined {
    const audience = this.audience(line);
    const groups = new Map<string, Evidence[]>();
    for (const { eventId, user, hint = "" } of events) {
      const unknown = { eventId, user, keyId: null, tool: "", parameter: hint, value: "" };
      const said = this.#store.evidence.find(line, eventId) ?? unknown;
      const key = JSON.stringify([said.tool, said.parameter, said.value]);
      groups.set(key, [...(groups.get(key) ?? []), said]);
    }
    for (const [key, group] of groups) {
      const weighed = weigh(group, audience);
      if (weighed.status === "waiting") return `manifest.events: ${key} ${weighed.detail}`;
    }
    return undefined;
  }

  /** What becomes of the events that the versions, and none before them, were trained on. */
  unlearn(line: string, versions: readonly number[], { quarantine, actor, reason }: Reason & { quarantine: boolean }) {
    const first = versions
      .flatMap((version) => this.#store.quarantine.uses(line, { version }))
      .filter(({ eventId, version }) => this.#store.quarantine.uses(line, { eventId })[0]?.version === version);
    if (quarantine) return { quarantined: this.bar(line, first, { actor, reason }), reopened: 0 };
    for (const { eventId } of first) this.#reopen(line, eventId);
    return { quarantined: 0, reopened: first.length };
  }

  /** No version has learned from it now, so its note counts again. */
  #reopen(line: string, eventId: string): void {
    this.#store.quarantine.reopen(line, eventId);
    this.#store.notes.setLearned(eventId, null);
  }

  /** What a rebuild starts from, and the events that it learns again, oldest first. */
  rebuildOf(line: string): { from: number; events: string[] } | undefined {
    const pending = this.#store.rebuilds.read(line);
    if (pending === undefined) return undefined;
    const clean = this.#store.readAncestry(line, pending.from);
    const lost = [...this.#inUse(line)].filter((version) => !clean.has(version));
    const uses = lost.flatMap((version) => this.#store.quarantine.uses(line, { version })).toSorted((a, b) => a.seq - b.seq);
    const events = [...new Set(uses.map(({ eventId }) => eventId))];
    return { from: pending.from, events: events.filter((eventId) => !this.#store.quarantine.isBarred(line, eventId)) };
  }

  /** Versions that users had a part in, or whose ancestors they had, ascending. */
  madeWith(line: string, users: readonly string[]): Set<number> {
    const deleted = new Set<number>();
    for (const { version, parent, events } of this.#store.allVersions(line))
      if ((version > 0 && deleted.has(parent)) || events.some(({ user }) => users.includes(user))) deleted.add(version);
    return deleted;
  }

  /** The versions that answer or are in flight, with those that they descend from. */
  #inUse(line: string): Set<number> {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    return this.#store.readAncestry(line, tipOf(state));
  }
}
