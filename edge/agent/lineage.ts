/**
 * Which version learned from what, what is barred from learning and what is open to it, and who said so: a line's events, where
 * lines.ts has its moves.
 */
import type { BarredEvent, RolledBack } from "../../shared/api.ts";
import { invariant } from "../../shared/assert.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { saidKey, supersededBy, weigh, type Audience, type Evidence, type Withdrawn } from "../../shared/influence.ts";
import { SHARED_LINE, turnsGiven, type PolicyManifest } from "../../shared/policy.ts";
import type { EventUse, Reason } from "./port.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

/** How long a user counts as one of the line's. */
export const CIRCLE_MS = 30 * 86_400_000;

/** `keeps`: what answers now and its ancestors, `regained`: those of them that were out of use before. */
type Unlearning = Reason & { quarantine: boolean; keeps: ReadonlySet<number>; regained?: readonly number[] };
type Unlearned = Pick<RolledBack, "quarantined" | "reopened" | "barred">;

export class Lineage {
  readonly #store: AgentStore;

  constructor(store: AgentStore) {
    this.#store = store;
  }

  audience(line: string): Audience {
    const trusted = this.#store.readAgent()?.settings.learning.trusted ?? {};
    return { ...this.#store.trials.audience(line, Date.now() - CIRCLE_MS), trusted };
  }

  /** Returns how many were not barred before. @param options.deleted for good: their user was deleted */
  bar(line: string, events: readonly BarredEvent[], { actor, reason, deleted = false }: Reason & { deleted?: boolean }): number {
    const about = { reason: reason ?? null, actor, createdAt: new Date().toISOString(), forGood: deleted };
    // What a personal line must not learn the shared one must not learn from it.
    if (line !== SHARED_LINE) for (const event of events) this.#store.quarantine.bar(SHARED_LINE, { ...event, ...about });
    return events.filter(({ eventId, turnId, seq }) => this.#store.quarantine.bar(line, { eventId, turnId, seq, ...about })).length;
  }

  /** Lets events go; those that were passed over, or that only versions out of use have learned from, are learned from again. */
  letIn(line: string, eventIds: readonly string[]): number {
    const inUse = this.#inUse(line);
    const cursor = this.#store.readLine(line)?.cursor ?? 0;
    const letIn = eventIds.flatMap((eventId) => {
      const seq = this.#store.quarantine.letIn(line, eventId);
      return seq === undefined ? [] : [{ eventId, seq }];
    });
    if (line !== SHARED_LINE) for (const { eventId } of letIn) this.#store.quarantine.letIn(SHARED_LINE, eventId);
    for (const { eventId, seq } of letIn) {
      if (seq > cursor) continue;
      const uses = this.#store.quarantine.uses(line, { eventId });
      const kept = new Set(uses.filter(({ version }) => inUse.has(version)).map((use) => use.eventId));
      const hints = this.#store.evidence.idsOf(line, eventId);
      for (const id of hints.length > 0 ? hints : [eventId]) if (!kept.has(id)) this.#reopen(line, id);
    }
    return letIn.length;
  }

  /** Nobody learns the correction any more whose note somebody has dropped. */
  withdraw(line: string, eventId: string): void {
    // Nor does everybody's policy what a personal line must not learn.
    for (const each of new Set([line, SHARED_LINE])) this.#store.evidence.drop(each, eventId);
  }

  /** Which of the corrections nobody is to learn any more. */
  withdrawn(line: string, eventIds: readonly string[]): Withdrawn[] {
    return eventIds.flatMap((eventId): Withdrawn[] => {
      if (this.#store.evidence.isDropped(line, eventId)) return [{ eventId, kind: "dropped" }];
      const said = this.#store.evidence.find(line, eventId);
      if (said === undefined) return [];
      const later = this.#store.evidence.after(line, said);
      const by = supersededBy(said, later, (each) => !this.#store.quarantine.isBarred(line, each.eventId));
      return by === undefined ? [] : [{ eventId, kind: "superseded", by }];
    });
  }

  /** Ids of the events that a version and those that it descends from have learned, oldest first, without what is barred. */
  learnedBy(line: string, version: number): string[] {
    const uses = this.#usesOnlyOf(line, [...this.#store.readAncestry(line, version)], new Set());
    return uses.map(({ eventId }) => eventId).filter((eventId) => !this.#store.quarantine.isBarred(line, eventId));
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

  /** Whether a version would let few decide for many. */
  hasUnheard({ line, events }: PolicyManifest): boolean {
    const audience = this.audience(line);
    const said = events.map(({ eventId, user, hint = "" }): Evidence => {
      const unknown = { eventId, user, keyId: null, tool: "", parameter: hint, value: "" };
      return this.#store.evidence.find(line, eventId) ?? unknown;
    });
    return [...Map.groupBy(said, saidKey).values()].some((group) => weigh(group, audience).status === "waiting");
  }

  /**
   * Un-learns versions that are out of use: bars the events that only they were trained on, or opens them again. `barred`: how many of them, and of those
   * that only `regained` ones of the kept were trained on, were barred already.
   */
  unlearn(line: string, versions: readonly number[], { quarantine, keeps, regained = [], actor, reason }: Unlearning): Unlearned {
    const lost = this.#usesOnlyOf(line, versions, keeps);
    const again = this.#usesOnlyOf(line, regained, new Set([...keeps].filter((version) => !regained.includes(version))));
    const isBarred = ({ eventId }: EventUse): boolean => this.#store.quarantine.isBarred(line, eventId);
    const barred = countEvents([...lost, ...again].filter(isBarred));
    if (quarantine) return { quarantined: this.bar(line, lost, { actor, reason }), reopened: 0, barred };
    const open = lost.filter((use) => !isBarred(use));
    for (const { eventId } of open) this.#reopen(line, eventId);
    return { quarantined: 0, reopened: countEvents(open), barred };
  }

  /** What versions that answer again had learned is learned: it is not open, and its notes are theirs. */
  takeUp(line: string, versions: ReadonlySet<number>): void {
    for (const version of versions)
      for (const { eventId } of this.#store.quarantine.uses(line, { version })) {
        this.#store.quarantine.close(line, eventId);
        this.#store.notes.setLearned(line, eventId, version);
        this.#store.evidence.setLearned(line, eventId, version);
      }
  }

  /** What a rebuild starts from, the last version of the stable one's line that no deleted user had a part in, and the events that it learns again, oldest first. */
  rebuildOf(line: string): { from: number; events: string[] } | undefined {
    const deleted = this.#store.rebuilds.read(line);
    const state = this.#store.readLine(line);
    if (state === undefined || !deleted.has(state.stable)) return undefined;
    const served = [...this.#store.readAncestry(line, state.stable)];
    const from = Math.max(...served.filter((version) => !deleted.has(version)));
    const lost = this.#usesOnlyOf(
      line,
      served.filter((version) => deleted.has(version)),
      this.#store.readAncestry(line, from),
    );
    const events = lost.map(({ eventId }) => eventId).filter((eventId) => !this.#store.quarantine.isBarred(line, eventId));
    return { from, events };
  }

  /** A rebuild is over: what it did not learn and did not refuse is open again. */
  endRebuild(line: string, refused: ReadonlySet<string>): void {
    const deleted = this.#store.rebuilds.read(line);
    this.#store.rebuilds.drop(line);
    const lost = this.#usesOnlyOf(line, [...deleted], this.#inUse(line)).filter(
      ({ eventId }) => !this.#store.quarantine.isBarred(line, eventId),
    );
    for (const { eventId } of lost)
      if (refused.has(eventId)) this.#store.notes.setLearned(line, eventId, null);
      else this.#reopen(line, eventId);
  }

  /** A rebuild that another move has made needless is over. */
  dropNeedlessRebuild(line: string): void {
    const deleted = this.#store.rebuilds.read(line);
    if (deleted.size === 0 || this.rebuildOf(line) !== undefined) return;
    for (const version of deleted) this.#store.setStatus(line, version, "deleted");
    this.#store.rebuilds.drop(line);
  }

  /** Versions that users had a part in, by what they said or by a turn that an update was given, and all that descend from them. */
  madeWith(line: string, { user, sessions }: { user: string; sessions: ReadonlySet<string> }): Set<number> {
    const made = new Set<number>();
    for (const each of this.#store.allVersions(line)) {
      const { version, parent, events } = each;
      const isGiven = turnsGiven(each).some((turnId) => sessions.has(turnId.slice(0, turnId.indexOf("/"))));
      if ((version > 0 && made.has(parent)) || isGiven || events.some((event) => event.user === user)) made.add(version);
    }
    return made;
  }

  /** No version has learned from it now, so its note counts again. */
  #reopen(line: string, eventId: string): void {
    this.#store.quarantine.reopen(line, eventId);
    this.#store.notes.setLearned(line, eventId, null);
  }

  /** Events that some of the versions were trained on and none that is kept, oldest first, once each. */
  #usesOnlyOf(line: string, versions: readonly number[], keeps: ReadonlySet<number>): EventUse[] {
    const uses = new Map<string, EventUse>();
    for (const version of versions)
      for (const use of this.#store.quarantine.uses(line, { version }))
        if (!this.#store.quarantine.uses(line, use).some(({ eventId, version: by }) => eventId === use.eventId && keeps.has(by)))
          uses.set(use.eventId, use);
    return [...uses.values()].toSorted((a, b) => a.seq - b.seq);
  }

  /** The versions that answer or are in flight, with those that they descend from. */
  #inUse(line: string): Set<number> {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    return this.#store.readAncestry(line, tipOf(state));
  }
}

/** Several hints of one event count once. */
function countEvents(uses: readonly EventUse[]): number {
  return new Set(uses.map(({ eventId }) => eventIdOf(eventId))).size;
}
