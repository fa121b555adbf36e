/**
 * An agent: its settings and the only truth about which version of each line answers.
 * A shell: release.ts decides the moves, store.ts keeps them, one transaction and one audit row per move.
 */
import { DurableObject } from "cloudflare:workers";
import type { Agent, AgentSettings } from "../../shared/agent.ts";
import { invariant } from "../../shared/assert.ts";
import { canonicalJson } from "../../shared/digest.ts";
import type { CursorAdvance } from "../../shared/events.ts";
import type { Note } from "../../shared/note.ts";
import { Digest, SHARED_LINE, type LineHead, type PolicyManifest, type PolicyVersion, type PublishRequest } from "../../shared/policy.ts";
import type { Env } from "../env.ts";
import { checkAdapter } from "./adapter-check.ts";
import { baseVersion, manifestFault, policyDigestOf } from "./manifest.ts";
import { Notebook } from "./notebook.ts";
import { notesFor } from "./notes.ts";
import type {
  AbsorbResult,
  Actor,
  AdvanceResult,
  AgentPort,
  AuditRow,
  GivenNote,
  ListedVersion,
  Page,
  PublishOutcome,
  RollbackResult,
} from "./port.ts";
import { FIRST_STATE, MOVES, type LineState } from "./release.ts";
import { AgentStore } from "./store.ts";
import { Waiters } from "./waiters.ts";

type Audit = { line: string; move: AuditRow["move"]; actor: Actor; reason?: string | undefined; refused?: AuditRow["refused"] };

export class AgentObject extends DurableObject<Env> implements AgentPort {
  readonly #store: AgentStore;
  readonly #notebook: Notebook;
  /** Changes with whatever may change which notes are in force. */
  #notesEpoch = crypto.randomUUID();
  readonly #waiters = new Waiters();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new AgentStore(ctx.storage);
    this.#notebook = new Notebook(this.#store);
  }

  async put({ name, settings, actor }: { name: string; settings: AgentSettings; actor: Actor }): Promise<Agent> {
    const known = this.#store.readAgent();
    const agent: Agent = { name, settings, createdAt: known?.createdAt ?? new Date().toISOString() };
    this.#store.transaction(() => {
      if (known === undefined) this.#create(agent, actor);
      else this.#replaceSettings(agent, actor);
    });
    return agent;
  }

  async read(): Promise<Agent | undefined> {
    return this.#store.readAgent();
  }

  async head(line: string): Promise<LineHead | undefined> {
    const agent = this.#store.readAgent();
    const state = this.#store.readLine(line);
    if (agent === undefined || state === undefined) return undefined;
    const { policyDigest, baseDigest, adapter } = this.#versionOf(line, state.stable);
    return {
      agent: agent.name,
      line,
      ...state,
      parent: state.stable,
      stablePolicyDigest: policyDigest,
      baseDigest,
      adapter,
      notesEpoch: this.#store.notes.any(line) ? this.#notesEpoch : null,
      settings: agent.settings,
    };
  }

  async publish(line: string, { parent, manifest, refused }: PublishRequest, actor: Actor): Promise<PublishOutcome | undefined> {
    const agent = this.#store.readAgent();
    const parentVersion = this.#store.readVersion(line, parent);
    if (agent === undefined || this.#store.readLine(line) === undefined) return undefined;
    if (parentVersion === undefined) return { status: "refused", reason: `parent: a version of line ${line} expected, got ${parent}` };
    const fault = manifestFault(manifest, { agent: agent.name, line, parent, baseDigest: parentVersion.baseDigest });
    if (fault !== undefined) return { status: "refused", reason: fault };
    const check = await checkAdapter(this.env.ARTIFACTS, manifest.baseDigest, manifest.adapter);
    if (check.status !== "fits") return check;
    const policyDigest = await policyDigestOf(manifest.baseDigest, manifest.adapter);
    return this.#store.transaction(() => this.#flip(manifest, { policyDigest, actor, refused }));
  }

  async rollback(
    line: string,
    { to, reason }: { to: number; reason?: string | undefined },
    actor: Actor,
  ): Promise<RollbackResult | undefined> {
    return this.#store.transaction(() => {
      const state = this.#store.readLine(line);
      if (state === undefined) return undefined;
      const transition = MOVES.rollback(state, { to });
      if (transition.status === "unchanged") return { status: "unchanged", stable: state.stable };
      if (transition.status !== "moved") return { status: "unknown", latest: state.latest };
      this.#record({ line, move: "rollback", actor, reason }, state, transition.next);
      return { status: "rolledBack", from: state.stable, to };
    });
  }

  async advance(line: string, { from, to, refused }: CursorAdvance, actor: Actor): Promise<AdvanceResult | undefined> {
    return this.#store.transaction(() => {
      const state = this.#store.readLine(line);
      if (state === undefined) return undefined;
      const transition = MOVES.advance(state, { from, to });
      if (transition.status === "refused") return transition;
      if (transition.status === "unchanged") return { status: "advanced", cursor: state.cursor };
      if (transition.status !== "moved") return { status: "stale", cursor: state.cursor };
      this.#record({ line, move: "advance", actor, refused }, state, transition.next);
      return { status: "advanced", cursor: transition.next.cursor };
    });
  }

  async version(line: string, version: number): Promise<ListedVersion | undefined> {
    const found = this.#store.readVersion(line, version);
    return found === undefined ? undefined : { ...found, stable: this.#store.readLine(line)?.stable === version };
  }

  async versions(line: string, page: Page): Promise<ListedVersion[]> {
    const stable = this.#store.readLine(line)?.stable;
    return this.#store.readVersions(line, page).map((version) => ({ ...version, stable: version.version === stable }));
  }

  async audit(page: Page): Promise<AuditRow[]> {
    return this.#store.readAudit(page);
  }

  async remember(line: string, given: readonly GivenNote[], actor: Actor): Promise<void> {
    const learning = this.#store.readAgent()?.settings.learning;
    if (learning?.enabled !== true || learning.notes === "off" || this.#store.readLine(line) === undefined) return;
    this.#store.transaction(() => {
      for (const note of given)
        if (this.#notebook.give(line, note, learning.notes === "agent" ? "agent" : "user"))
          this.#moveNotes(line, { actor, reason: `${note.noteId} given` });
    });
  }

  async notes(line: string, user?: string): Promise<Note[] | undefined> {
    return this.#store.readLine(line) === undefined ? undefined : this.#notebook.read(line, user);
  }

  async notesInForce(line: string, user: string): Promise<Note[]> {
    const agent = this.#store.readAgent();
    return agent === undefined || this.#store.readLine(line) === undefined
      ? []
      : notesFor(this.#notebook.read(line, user), user, agent.settings.learning);
  }

  async dropNote(line: string, noteId: string, actor: Actor): Promise<Note | undefined> {
    return this.#store.transaction(() => {
      const note = this.#notebook.find(line, noteId);
      if (note === undefined || note.status === "dropped") return note;
      this.#notebook.drop(note);
      this.#moveNotes(line, { actor, reason: `${noteId} dropped` });
      return { ...note, status: "dropped" };
    });
  }

  async absorbNote(line: string, noteId: string, version: number, actor: Actor): Promise<AbsorbResult | undefined> {
    return this.#store.transaction(() => {
      const note = this.#notebook.find(line, noteId);
      if (note === undefined) return undefined;
      const { stable } = this.#stateOf(line);
      if (version !== stable) return { status: "stale", stable };
      if (note.status !== "inForce") return { status: "absorbed" };
      this.#store.notes.setAbsorbed(noteId, version);
      this.#moveNotes(line, { actor, reason: `${noteId} absorbed by version ${version}` });
      return { status: "absorbed" };
    });
  }

  async eventsAppended(seq: number, usedNotes: readonly string[] = []): Promise<void> {
    const now = new Date().toISOString();
    for (const noteId of usedNotes) this.#store.notes.addUse(noteId, now);
    this.#waiters.notify(seq);
  }

  async waitForEvents(after: number, waitMs: number): Promise<number> {
    return this.#waiters.wait(after, waitMs);
  }

  #create(agent: Agent, actor: Actor): void {
    this.#store.create();
    this.#store.writeAgent(agent);
    const { name, createdAt } = agent;
    const baseDigest = Digest.parse(this.env.BASE_DIGEST);
    this.#store.insertVersion(baseVersion({ agent: name, line: SHARED_LINE, baseDigest, createdAt }));
    this.#record({ line: SHARED_LINE, move: "create", actor }, undefined, FIRST_STATE);
  }

  #replaceSettings(agent: Agent, actor: Actor): void {
    this.#store.writeAgent(agent);
    for (const line of this.#store.lines()) {
      const state = this.#stateOf(line);
      const transition = MOVES.settings(state, {});
      if (transition.status === "moved") this.#record({ line, move: "settings", actor }, state, transition.next);
    }
  }

  /** The compare and the set, with nothing awaited between them. */
  #flip(
    manifest: PolicyManifest,
    { policyDigest, actor, refused }: { policyDigest: string; actor: Actor; refused: AuditRow["refused"] },
  ): PublishOutcome {
    const { line, parent, fromSeq, toSeq } = manifest;
    const state = this.#stateOf(line);
    const transition = MOVES.publish(state, { parent, fromSeq, toSeq });
    if (transition.status === "refused") return transition;
    const stale: PublishOutcome = { status: "stale", latest: state.latest, cursor: state.cursor };
    if (transition.status !== "moved") return this.#alreadyPublished(manifest, state) ?? stale;
    // Switched off while the update ran: its trainer reads the settings again and passes the corrections over.
    if (this.#store.readAgent()?.settings.learning.enabled !== true) return stale;
    const version = transition.next.latest;
    this.#store.insertVersion({ ...manifest, version, policyDigest, createdAt: new Date().toISOString() });
    for (const { eventId } of manifest.events) this.#store.notes.setLearned(eventId, version);
    this.#record({ line, move: "publish", actor, refused }, state, transition.next);
    return { status: "published", version };
  }

  /** A publisher that lost the answer to its call asks again, and learns the version that it has made. */
  #alreadyPublished(manifest: PolicyManifest, { latest }: LineState): PublishOutcome | undefined {
    const { version, policyDigest: _, createdAt: __, ...published } = this.#versionOf(manifest.line, latest);
    return canonicalJson(published) === canonicalJson(manifest) ? { status: "published", version } : undefined;
  }

  #record({ line, move, actor, reason, refused = [] }: Audit, before: LineState | undefined, next: LineState): void {
    if (move !== "advance") this.#notesEpoch = crypto.randomUUID();
    this.#store.writeLine(line, next);
    const createdAt = new Date().toISOString();
    const [from, to] = [before?.stable ?? null, next.stable];
    this.#store.insertAudit({ line, move, actor, reason: reason ?? null, from, to, cursor: next.cursor, refused, createdAt });
  }

  #moveNotes(line: string, audit: Pick<Audit, "actor" | "reason">): void {
    const state = this.#stateOf(line);
    const transition = MOVES.notes(state, {});
    if (transition.status === "moved") this.#record({ line, move: "notes", ...audit }, state, transition.next);
  }

  #stateOf(line: string): LineState {
    const state = this.#store.readLine(line);
    invariant(state !== undefined, `line ${line} has a state`);
    return state;
  }

  #versionOf(line: string, version: number): PolicyVersion {
    const found = this.#store.readVersion(line, version);
    invariant(found !== undefined, `line ${line} has version ${version}`);
    return found;
  }
}
