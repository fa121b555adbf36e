/**
 * What an agent does about a user who was deleted: everything that they said goes at once; versions that learned from it, or
 * descend from one that did, go as soon as one made without it can answer in their place.
 */
import type { PolicyVersion } from "../../shared/policy.ts";
import type { Lineage } from "./lineage.ts";
import type { Lines } from "./lines.ts";
import type { Actor } from "./port.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

export type ForgottenUser = {
  readonly notes: number;
  readonly cases: number;
  readonly corrections: number;
  /** Versions that learned from the user, or descend from one that did. */
  readonly versions: readonly number[];
  readonly state: "done" | "rebuilding";
};

export class Deletion {
  readonly #store: AgentStore;
  readonly #lines: Lines;
  readonly #lineage: Lineage;

  constructor(store: AgentStore, lines: Lines, lineage: Lineage) {
    this.#store = store;
    this.#lines = lines;
    this.#lineage = lineage;
  }

  /** Takes the user's words out of a line, bars their events, and says what has to be rebuilt. */
  forget(
    line: string,
    { user, events }: { user: string; events: readonly { eventId: string; turnId: string }[] },
    actor: Actor,
  ): ForgottenUser {
    const ids = new Set(events.map(({ eventId }) => eventId));
    const removed = {
      notes: this.#store.notes.eraseUser(line, user),
      cases: this.#store.suite.eraseUser(line, user),
      corrections: this.#store.evidence.eraseUser(line, user),
    };
    this.#lineage.bar(line, events, { actor, reason: "the user was deleted" });
    this.#store.eraseRefusals(ids);
    const tainted = this.#lineage.madeWith(line, [user]);
    for (const version of tainted) this.#store.replaceRecord(line, withoutWords(this.#lines.version(line, version), user));
    const inUse = this.#store.readAncestry(line, tipOf(this.#lines.state(line)));
    const affected = [...tainted].filter((version) => inUse.has(version));
    const idle = [...tainted].filter((version) => !inUse.has(version));
    for (const version of idle) this.#store.setStatus(line, version, "deleted");
    if (affected.length > 0) this.#plan(line, user, Math.min(...affected));
    this.#lines.touch(line, "quarantine", { actor, reason: `user ${user} deleted` });
    return { ...removed, versions: [...tainted], state: this.#store.rebuilds.read(line) === undefined ? "done" : "rebuilding" };
  }

  #plan(line: string, user: string, first: number): void {
    const known = this.#store.rebuilds.read(line);
    const { parent } = this.#lines.version(line, first);
    const from = Math.min(parent, known?.from ?? parent);
    const users = [...new Set([...(known?.users ?? []), user])];
    this.#store.rebuilds.put(line, { from, users, requestedAt: known?.requestedAt ?? new Date().toISOString() });
  }
}

/** The record of a version without anything that was said: numbers, digests and names of events stay. */
function withoutWords(version: PolicyVersion, user: string): PolicyVersion {
  const gate = version.gate === null ? null : { checks: version.gate.checks.map((check) => ({ ...check, cases: [] })) };
  const kept = version.events.flatMap(({ user: who, hint }) => (who === user || hint === undefined ? [] : [hint]));
  const events = version.events.map(({ hint, ...event }) => (event.user === user || hint === undefined ? event : { ...event, hint }));
  return { ...version, events, hints: [...new Set(kept)], changes: [], gate };
}
