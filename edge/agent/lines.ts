/**
 * The lines of an agent: which version of each answers. A shell: release.ts decides the moves, store.ts keeps them, one
 * transaction and one audit row per move.
 */
import type { Actor, AuditRow } from "../../shared/api.ts";
import { invariant } from "../../shared/assert.ts";
import { canonicalJson } from "../../shared/digest.ts";
import type { CursorAdvance } from "../../shared/events.ts";
import { SHARED_LINE, type PolicyManifest, type PolicyVersion, type PublishRequest } from "../../shared/policy.ts";
import { SMALL_CIRCLE } from "../../shared/small-circle.ts";
import { gateFaults, type ReleaseSettings, type VersionStatus } from "../../shared/release.ts";
import { canaryShare } from "./canary.ts";
import type { AdvanceResult, PromoteResult, PublishOutcome, RollbackRequest, RollbackResult } from "./port.ts";
import type { Lineage } from "./lineage.ts";
import { baseVersion } from "./manifest.ts";
import { chainOf, FIRST_STATE, MOVES, tipOf, type Admission, type LineState, type Transition } from "./release.ts";
import type { AgentStore } from "./store.ts";

type Audit = {
  move: AuditRow["move"];
  actor: Actor;
  reason?: string | undefined;
  refused?: AuditRow["refused"];
  changes?: AuditRow["changes"] | undefined;
};
type Moved = Extract<Transition, { status: "moved" }>;
type Rebasing = { agent: string; baseDigest: string; lastSeq: number; actor: Actor; reason: string };
type Publishing = { policyDigest: string; actor: Actor; refused: PublishRequest["refused"]; rebuild: boolean };

/** Moves that change the trial of the canary, and no version. */
const ON_TRIAL: ReadonlySet<string> = new Set(["ask", "share"]);

export class Lines {
  readonly #store: AgentStore;
  readonly #lineage: Lineage;
  /** Changes with whatever may change which notes are in force. */
  notesEpoch = crypto.randomUUID();

  constructor(store: AgentStore, lineage: Lineage) {
    this.#store = store;
    this.#lineage = lineage;
  }

  read(line: string): LineState | undefined {
    return this.#store.readLine(line);
  }

  state(line: string): LineState {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    return state;
  }

  /** What a version was learned from: its parent, or the shared line's version beneath it where its parent was learned over another. */
  groundOf({ line, parent, over }: Pick<PolicyVersion, "line" | "parent" | "over">): PolicyVersion {
    if (over === null || this.#store.stands.overOf(line, parent) === over) return this.version(line, parent);
    return this.version(SHARED_LINE, over);
  }

  version(line: string, version: number): PolicyVersion {
    const found = this.#store.readVersion(line, version);
    invariant(found !== undefined, `line ${line} has version ${version}`);
    return found;
  }

  create(line: string, base: PolicyVersion, actor: Actor): void {
    this.#store.insertVersion(base, "stable");
    this.#record(line, { move: "create", actor }, { before: undefined, next: FIRST_STATE, versions: [base.version] });
  }

  /** The compare and the set, with nothing awaited between them. */
  publish(manifest: PolicyManifest, { policyDigest, actor, refused, rebuild }: Publishing): PublishOutcome {
    const { line, parent, fromSeq, toSeq, events, over } = manifest;
    const state = this.state(line);
    const { learning, release } = this.#settings();
    const faults = release.gate.enabled ? reportFaults(manifest, release) : [];
    if (faults === undefined)
      return { status: "refused", reason: "manifest.gate: a report expected where the agent's gate is on, got null" };
    const gate = faults.length === 0 ? "passed" : "refused";
    const stale = this.staleAt(line);
    // A line that has to be learned again is: what came of another parent would come of the deleted user, too.
    const plan = this.#lineage.rebuildOf(line);
    if (rebuild !== (plan !== undefined) || (rebuild && plan?.from !== parent)) return this.#alreadyPublished(manifest, state) ?? stale;
    const transition = rebuild
      ? MOVES.rebuild(state, { from: parent, adds: true, gate, deleted: this.#store.rebuilds.read(line) })
      : MOVES.publish(state, { parent, fromSeq, toSeq, gate, admission: this.#admission(line, release.canary) });
    if (transition.status === "refused") return transition;
    if (transition.status !== "moved") return this.#alreadyPublished(manifest, state) ?? stale;
    if (this.#isOvertaken(manifest, { rebuild, learning: learning.enabled })) return stale;
    const version = transition.next.latest;
    const status = transition.becomes.get(version) ?? "candidate";
    const made = { ...manifest, version, policyDigest, createdAt: new Date().toISOString() };
    this.#store.insertVersion(made, status);
    if (over !== null && status !== "refused") this.#store.stands.add(line, version, over);
    this.#store.defaults.put(made, this.groundOf(made));
    for (const { eventId } of [...events, ...refused]) this.#store.quarantine.close(line, eventId);
    if (status !== "refused") this.#recordUse(made);
    const reason = gate === "refused" ? `version ${version} refused by its gate: ${faults.join("; ")}` : undefined;
    this.#apply(line, { move: rebuild ? "rebuild" : "publish", actor, refused, reason }, { before: state, transition });
    if (rebuild) this.#lineage.endRebuild(line, new Set(refused.map(({ eventId }) => eventId)));
    return { status: "published", version, release: status };
  }

  /** Whether something has changed while the update ran: its trainer reads it again and makes another. */
  #isOvertaken(manifest: PolicyManifest, { rebuild, learning }: { rebuild: boolean; learning: boolean }): boolean {
    const { line, fromSeq, events } = manifest;
    const again = this.#learnedAgain(manifest);
    if (again === undefined || !(learning || rebuild)) return true;
    // What a deleted user's version had learned was weighed when it was learned.
    if (!rebuild && this.#lineage.hasUnheard(manifest)) return true;
    const open = this.#lineage.openEvents(line);
    return events.some(
      ({ eventId, seq }) =>
        this.#store.quarantine.isBarred(line, eventId) ||
        this.#store.evidence.isDropped(line, eventId) ||
        (seq <= fromSeq && !open(eventId) && !again.has(eventId)),
    );
  }

  /** What a version has learned of is known by the events that taught it. */
  #recordUse({ line, version, events }: PolicyVersion): void {
    for (const { eventId, seq, user, turnId } of events) {
      this.#store.quarantine.addUse({ line, eventId, version, seq, user, turnId });
      this.#store.notes.setLearned(line, eventId, version);
      this.#store.evidence.setLearned(line, eventId, version);
    }
  }

  /** What a publisher is told that has to read again and make another. */
  staleAt(line: string): PublishOutcome {
    const { latest, cursor } = this.state(line);
    return { status: "stale", latest, cursor };
  }

  /** A rebuild that has nothing to learn: the last version that never saw the user takes over as it is. */
  finishRebuild(line: string, from: number, refused: AuditRow["refused"], actor: Actor): boolean {
    const state = this.state(line);
    if (this.#lineage.rebuildOf(line)?.from !== from) return false;
    const deleted = this.#store.rebuilds.read(line);
    const transition = MOVES.rebuild(state, { from, adds: false, gate: "passed", deleted });
    if (transition.status === "moved") this.#apply(line, { move: "rebuild", actor, refused }, { before: state, transition });
    this.#lineage.endRebuild(line, new Set(refused.map(({ eventId }) => eventId)));
    return true;
  }

  /** Takes versions that a deleted user had a part in out of flight; what others had taught them is learned again. */
  cut(line: string, deleted: ReadonlySet<number>, audit: Pick<Audit, "actor" | "reason">): void {
    const state = this.state(line);
    const transition = MOVES.cut(state, { deleted });
    if (transition.status !== "moved") return;
    this.#apply(line, { move: "cut", ...audit }, { before: state, transition });
    const lost = chainOf(state).filter((version) => !chainOf(transition.next).includes(version));
    this.#lineage.unlearn(line, lost, { quarantine: false, keeps: this.#store.readAncestry(line, tipOf(transition.next)), ...audit });
  }

  /** Takes versions of a personal line out of use whose ground in the shared line is gone; what they had learned is learned again. */
  detach(line: string, lost: ReadonlyMap<number, VersionStatus>, audit: Pick<Audit, "actor" | "reason">): void {
    const state = this.state(line);
    const served = [...this.#store.readAncestry(line, state.stable)];
    const out = new Set([...lost.keys(), ...this.#store.versionsThatAre(line, "rolledBack", "deleted", "refused")]);
    const to = Math.max(...served.filter((version) => !out.has(version)));
    const transition = MOVES.detach(state, { to, lost });
    if (transition.status !== "moved") return;
    this.#apply(line, { move: "detach", ...audit }, { before: state, transition });
    const keeps = this.#store.readAncestry(line, transition.next.stable);
    const left = served.filter((version) => !keeps.has(version));
    this.#lineage.unlearn(line, left, { quarantine: false, keeps, ...audit });
  }

  /** Begins the next version from another base. */
  rebase(line: string, { agent, baseDigest, lastSeq, actor, reason }: Rebasing): number {
    const state = this.state(line);
    const transition = MOVES.rebase(state, { lastSeq });
    invariant(transition.status === "moved", `a line can always begin from another base, got ${transition.status}`);
    const { latest: version, cursor: seq } = transition.next;
    this.#store.insertVersion(baseVersion({ agent, line, baseDigest, version, seq, createdAt: new Date().toISOString() }), "stable");
    this.#apply(line, { move: "rebase", actor, reason: `version ${version} begins ${reason}` }, { before: state, transition });
    this.#lineage.dropNeedlessRebuild(line);
    return version;
  }

  /** Whether the gate report holds, by the agent's own budgets. */
  passesGate(manifest: PolicyManifest): boolean {
    const { release } = this.#settings();
    return !release.gate.enabled || reportFaults(manifest, release)?.length === 0;
  }

  /** The versions that begin to answer somebody, or more, where a version in flight is promoted: it, and the next canary. */
  begunBy(line: string, version: number): number[] {
    const chain = chainOf(this.read(line) ?? FIRST_STATE);
    const place = chain.indexOf(version);
    return place < 0 ? [] : [...new Set([version, ...chain.slice(-1)])];
  }

  promote(line: string, { version, reason }: { version: number; reason?: string | undefined }, actor: Actor): PromoteResult {
    const state = this.state(line);
    const transition = MOVES.promote(state, { version, now: new Date().toISOString() });
    if (transition.status === "unchanged") return { status: "unchanged", stable: state.stable };
    if (transition.status !== "moved") return { status: "unknown", inFlight: chainOf(state) };
    this.#apply(line, { move: "promote", actor, reason }, { before: state, transition });
    return { status: "promoted", from: state.stable, to: version };
  }

  /** @param request `quarantine` is on unless it says otherwise: what was taken back is not learned again by itself */
  rollback(line: string, { to, quarantine = true, reason, seen }: RollbackRequest, actor: Actor): RollbackResult {
    const state = this.state(line);
    const { stable, latest } = state;
    if (seen !== undefined && (seen.stable !== stable || seen.latest !== latest)) return { status: "stale", stable, latest };
    if (to > state.latest) return { status: "unknown", latest: state.latest };
    const ground = this.#store.stands.overOf(line, to);
    const gone = ground === undefined ? undefined : this.#store.readStatus(SHARED_LINE, ground);
    if (gone === "rolledBack" || gone === "deleted")
      return {
        status: "refused",
        reason: `to: a version whose ground is in use expected, got ${to}, learned over version ${ground} of the shared line, which was taken back`,
      };
    const keeps = this.#store.readAncestry(line, to);
    const leaves = this.#store.readAncestry(line, tipOf(state));
    const barred = new Set(this.#store.versionsThatAre(line, "refused", "deleted"));
    const transition = MOVES.rollback(state, { to, keeps, leaves, barred });
    if (transition.status === "unchanged") return { status: "unchanged", stable: state.stable };
    if (transition.status === "refused") return transition;
    if (transition.status !== "moved") return { status: "unknown", latest: state.latest };
    this.#apply(line, { move: "rollback", actor, reason }, { before: state, transition });
    this.#lineage.takeUp(line, keeps);
    this.#lineage.dropNeedlessRebuild(line);
    const versions = [...leaves].filter((version) => !keeps.has(version)).toSorted((a, b) => a - b);
    const regained = [...keeps].filter((version) => !leaves.has(version));
    const unlearned = this.#lineage.unlearn(line, versions, { quarantine, keeps, regained, actor, reason });
    return { status: "rolledBack", from: state.stable, to, versions, ...unlearned };
  }

  /** Takes the canary back. Its own events are barred; those of the versions that waited behind it are learned from again. */
  rollbackCanary(line: string, reason: string, actor: Actor): void {
    const state = this.state(line);
    const [canary, ...waiting] = chainOf(state);
    invariant(canary !== undefined, `line ${line} has a canary`);
    const ancestry = (version: number): Set<number> => this.#store.readAncestry(line, version);
    const move = { to: state.stable, keeps: ancestry(state.stable), leaves: ancestry(tipOf(state)), barred: new Set<number>() };
    const transition = MOVES.rollback(state, move);
    invariant(transition.status === "moved", `a canary can be taken back, got ${transition.status}`);
    this.#apply(line, { move: "rollback", actor, reason }, { before: state, transition });
    this.#lineage.unlearn(line, [canary], { quarantine: true, keeps: move.keeps, actor, reason });
    this.#lineage.unlearn(line, waiting, { quarantine: false, keeps: move.keeps, actor, reason });
    this.#lineage.dropNeedlessRebuild(line);
  }

  advance(line: string, { from, to, refused }: CursorAdvance, actor: Actor): AdvanceResult {
    const state = this.state(line);
    const transition = MOVES.advance(state, { from, to });
    // Reopened events that taught nothing are done with, wherever the cursor stands.
    if (transition.status !== "stale") for (const { eventId } of refused) this.#store.quarantine.close(line, eventId);
    if (transition.status === "refused") return transition;
    if (transition.status === "stale") return { status: "stale", cursor: state.cursor };
    // Refusals of events behind the cursor move nothing, and are told of all the same.
    const told = transition.status === "unchanged" && refused.length > 0 ? MOVES.quarantine(state, {}) : transition;
    if (told.status === "moved") this.#apply(line, { move: "advance", actor, refused }, { before: state, transition: told });
    return { status: "advanced", cursor: to };
  }

  /** A move that changes nothing but what readers of the head must see. */
  touch(
    line: string,
    move: "settings" | "notes" | "quarantine" | "letIn" | "suite" | "engine",
    audit: Pick<Audit, "actor" | "reason" | "changes">,
  ): void {
    const state = this.state(line);
    const transition = MOVES[move](state, {});
    if (transition.status === "moved") this.#apply(line, { move, ...audit }, { before: state, transition });
  }

  setShare(line: string, share: number, audit: Pick<Audit, "actor" | "reason">): void {
    const state = this.state(line);
    const transition = MOVES.share(state, { share });
    if (transition.status === "moved") this.#apply(line, { move: "share", ...audit }, { before: state, transition });
  }

  ask(line: string, audit: Pick<Audit, "actor" | "reason">): void {
    const state = this.state(line);
    const transition = MOVES.ask(state, { now: new Date().toISOString() });
    if (transition.status === "moved") this.#apply(line, { move: "ask", ...audit }, { before: state, transition });
  }

  /**
   * What a version may have learned although its line had: all that the parent had learned, where it stands over another version of the
   * shared line than the parent did. Undefined where it stands over none that a line may stand over now.
   */
  #learnedAgain({ line, parent, over, baseDigest }: PolicyManifest): ReadonlySet<string> | undefined {
    if (over === null) return new Set();
    const ground = this.#store.readVersion(SHARED_LINE, over);
    const status = this.#store.readStatus(SHARED_LINE, over);
    const goes = this.#store.rebuilds.read(SHARED_LINE).has(over);
    if (ground?.baseDigest !== baseDigest || goes || (status !== "stable" && status !== "superseded")) return undefined;
    if (this.#store.stands.overOf(line, parent) === over) return new Set();
    return new Set(this.#lineage.learnedBy(line, parent));
  }

  #admission(line: string, canary: ReleaseSettings["canary"]): Admission {
    // One user is nobody to compare with: a personal line has its gate alone.
    if (line !== SHARED_LINE) return { via: "direct" };
    const now = Date.now();
    // Below it there is nobody to compare.
    const small = this.#lineage.audience(line).users < SMALL_CIRCLE;
    if (canary.mode === "off" || (canary.mode === "auto" && small)) return { via: "direct" };
    return { via: "canary", share: canaryShare(canary, this.#store.trials.turnsPerDay(line, now)), now: new Date(now).toISOString() };
  }

  /** A publisher that lost the answer to its call asks again, and learns the version that it has made. */
  #alreadyPublished(manifest: PolicyManifest, { latest }: LineState): PublishOutcome | undefined {
    const { version, policyDigest: _, createdAt: __, ...published } = this.version(manifest.line, latest);
    if (canonicalJson(published) !== canonicalJson(manifest)) return undefined;
    return { status: "published", version, release: this.#store.readStatus(manifest.line, version) ?? "candidate" };
  }

  #settings() {
    const agent = this.#store.readAgent();
    invariant(agent !== undefined, "an agent with lines has settings");
    return agent.settings;
  }

  #apply(line: string, audit: Audit, { before, transition }: { before: LineState; transition: Moved }): void {
    for (const [version, status] of transition.becomes) this.#store.setStatus(line, version, status);
    // A trial compares two versions: other versions, another trial.
    const same = before.stable === transition.next.stable && before.canary?.version === transition.next.canary?.version;
    if (!same) this.#store.trials.clear(line);
    const tried = ON_TRIAL.has(audit.move) && before.canary !== null ? [before.canary.version] : [];
    const stays = before.stable === transition.next.stable ? before.stable : undefined;
    const about = [...transition.becomes.keys(), ...tried].filter((version) => version !== stays);
    this.#record(line, audit, { before, next: transition.next, versions: about });
  }

  #record(
    line: string,
    { move, actor, reason, refused = [], changes = [] }: Audit,
    { before, next, versions }: { before: LineState | undefined; next: LineState; versions: readonly number[] },
  ): void {
    if (move !== "advance") this.notesEpoch = crypto.randomUUID();
    this.#store.writeLine(line, next);
    const createdAt = new Date().toISOString();
    const [from, to] = [before?.stable ?? null, next.stable];
    // A reason may quote; of what is barred nothing is quoted.
    const shown = refused.map((each) => (this.#store.quarantine.isBarred(line, each.eventId) ? { ...each, detail: "" } : each));
    const about = [...versions].toSorted((a, b) => a - b);
    this.#store.insertAudit({
      ...{ line, move, actor, reason: reason ?? null, from, to, versions: about, cursor: next.cursor, refused: shown, changes, createdAt },
    });
  }
}

/** What the edge finds wrong with the trainer's report, by the agent's own budgets; undefined where there is no report. */
function reportFaults({ gate }: PolicyManifest, { gate: { budgets } }: ReleaseSettings): string[] | undefined {
  return gate === null ? undefined : gateFaults(gate, budgets);
}
