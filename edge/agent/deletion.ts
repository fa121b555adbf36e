/**
 * What an agent does about a user who was deleted: everything that they said goes at once; versions that learned from it, or
 * descend from one that did, go as soon as one made without it can answer in their place.
 */
import type { Actor, BarredEvent } from "../../shared/api.ts";
import { toolsOf } from "../../shared/aspects.ts";
import { correctionText } from "../../shared/jobs.ts";
import type { LearnedDefault } from "../../shared/learned-defaults.ts";
import { SHARED_LINE, type PolicyVersion } from "../../shared/policy.ts";
import type { Lineage } from "./lineage.ts";
import type { Lines } from "./lines.ts";
import type { Reason } from "./port.ts";
import type { AgentStore } from "./store.ts";

export type ForgottenUser = {
  readonly notes: number;
  readonly cases: number;
  readonly corrections: number;
  /** Versions that learned from the user, or descend from one that did. */
  readonly versions: readonly number[];
  /** Versions of the user's own line, which are gone. */
  readonly own: readonly number[];
  readonly state: "done" | "rebuilding";
};

export type ForgetRequest = {
  readonly user: string;
  /** What the user said that may be learned from. */
  readonly events: readonly BarredEvent[];
  readonly sessions: readonly string[];
};

export class Deletion {
  readonly #store: AgentStore;
  readonly #lines: Lines;
  readonly #lineage: Lineage;
  #times = 0;

  constructor(store: AgentStore, lines: Lines, lineage: Lineage) {
    this.#store = store;
    this.#lines = lines;
    this.#lineage = lineage;
  }

  /** How often somebody was forgotten since the object woke: whoever waits for something sees whether it happened meanwhile. */
  get times(): number {
    return this.#times;
  }

  /** Takes the user's words out of a line, bars their events, and says what has to be rebuilt. */
  forget(line: string, { user, events, sessions }: ForgetRequest, actor: Actor): ForgottenUser {
    this.#times += 1;
    const ids = new Set(events.map(({ eventId }) => eventId));
    const removed = {
      notes: this.#store.notes.eraseUser(line, user),
      cases: this.#store.suite.eraseUser(line, user),
      corrections: this.#store.evidence.eraseUser(line, user),
    };
    this.#store.trials.eraseUser(line, user);
    this.#store.credits.eraseUser(line, user);
    const reason = `user ${user} deleted`;
    this.#lineage.bar(line, events, { actor, reason, deleted: true });
    this.#store.eraseRefusals(ids);
    const made = this.#lineage.madeWith(line, { user, sessions: new Set(sessions) });
    for (const version of made) this.#store.replaceRecord(line, withoutWords(this.#lines.version(line, version), user));
    this.#inheritAgain(line, made);
    if (line !== SHARED_LINE) return { ...removed, ...this.#loseLine(line, made, { actor, reason }) };
    const { stable } = this.#lines.state(line);
    // The stable version serves until one without the user can; whatever else was made with the user goes now.
    if (made.size > 0) this.#lines.cut(line, made, { actor, reason });
    if (made.has(stable)) this.#store.rebuilds.put(line, new Set([...this.#store.rebuilds.read(line), ...made]));
    this.#lines.touch(line, "quarantine", { actor, reason });
    this.#retireImported(line, actor);
    return { ...removed, versions: [...made], own: [], state: this.#lineage.rebuildOf(line) === undefined ? "done" : "rebuilding" };
  }

  /** Parents first: what a version has learned is kept with it and with all that have it from there, on personal lines, too. */
  #inheritAgain(line: string, made: ReadonlySet<number>): void {
    const ascending = [...made].toSorted((a, b) => a - b).map((version) => ({ line, version }));
    const over = line === SHARED_LINE ? ascending.flatMap(({ version }) => this.#store.stands.standingOn(version)) : [];
    for (const each of [...ascending, ...over]) {
      const kept = this.#lines.version(each.line, each.version);
      this.#store.defaults.put(kept, this.#lines.groundOf(kept));
    }
  }

  /**
   * What was trained elsewhere nobody here can make again, so nothing is waited for: the last version without the user answers at once,
   * and what the others had taught is open again.
   */
  #retireImported(line: string, actor: Actor): void {
    const plan = this.#lineage.rebuildOf(line);
    if (plan === undefined) return;
    const deleted = this.#store.rebuilds.read(line);
    const served = [...this.#store.readAncestry(line, this.#lines.state(line).stable)];
    if (served.some((version) => deleted.has(version) && this.#lines.version(line, version).imported !== null))
      this.#lines.finishRebuild(line, plan.from, [], actor);
  }

  /** All that a personal line has learned is its user's; nothing has to be rebuilt. */
  #loseLine(line: string, made: ReadonlySet<number>, audit: Reason): Pick<ForgottenUser, "versions" | "own" | "state"> {
    if (made.size > 0) this.#lines.detach(line, new Map([...made].map((version) => [version, "deleted"])), audit);
    return { versions: [], own: [...made], state: "done" };
  }
}

/** What was forgotten on several lines of an agent. */
export function sumForgotten(parts: readonly ForgottenUser[]): ForgottenUser {
  const sum = (count: (part: ForgottenUser) => number): number => parts.reduce((total, part) => total + count(part), 0);
  return {
    notes: sum(({ notes }) => notes),
    cases: sum(({ cases }) => cases),
    corrections: sum(({ corrections }) => corrections),
    versions: parts.flatMap(({ versions }) => versions),
    own: parts.flatMap(({ own }) => own),
    state: parts.some(({ state }) => state === "rebuilding") ? "rebuilding" : "done",
  };
}

/** The record of a version without anything that was said: numbers, digests and names of events stay. */
function withoutWords(version: PolicyVersion, user: string): PolicyVersion {
  const gate = version.gate === null ? null : { checks: version.gate.checks.map((check) => ({ ...check, cases: [] })) };
  const kept = version.events.flatMap(({ user: who, hint }) => (who === user || hint === undefined ? [] : [hint]));
  const events = version.events.map(({ hint, ...event }) => (event.user === user || hint === undefined ? event : { ...event, hint }));
  const others = version.events.flatMap((event) => (event.user === user ? [] : [event.eventId]));
  const isOfOthers = ({ eventId }: LearnedDefault): boolean => eventId !== undefined && others.includes(eventId);
  const defaults = version.defaults.filter((each) => isOfOthers(each) || kept.includes(correctionText(each, each.tool)));
  // Of what is no longer named the version from before answers until another one is made.
  const reach = version.reach === null ? null : [...new Set(defaults.flatMap(toolsOf))];
  return { ...version, events, hints: [...new Set(kept)], defaults, reach, changes: [], gate };
}
