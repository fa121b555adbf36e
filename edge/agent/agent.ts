/**
 * An agent: its settings and the only truth about which version of each line answers.
 * A shell: lines.ts moves its lines, trials.ts watches their canaries, notebook.ts keeps their notes.
 */
import type {
  Actor,
  AuditRow,
  BarredEvent,
  EngineState,
  ListedLine,
  ListedVersion,
  QuarantinedEvent,
  Release,
  TrainedOn,
  TrainerReport,
} from "../../shared/api.ts";
import { DurableObject } from "cloudflare:workers";
import type { Agent } from "../../shared/agent.ts";
import { count } from "../../shared/count.ts";
import type { CursorAdvance } from "../../shared/events.ts";
import type { Audience, Evidence, Withdrawn } from "../../shared/influence.ts";
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import type { Note } from "../../shared/note.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { TrainerStatus } from "../../shared/trainer-status.ts";
import { Digest, type KeptDefaults, SHARED_LINE, type LineHead, type PublishRequest } from "../../shared/policy.ts";
import { EMBEDDED } from "../../shared/engine.ts";
import type { Env } from "../env.ts";
import { AgentEngine, engineBaseOf } from "./agent-engine.ts";
import { EngineLine } from "./engine-line.ts";
import { Deletion, sumForgotten, type ForgetRequest, type ForgottenUser } from "./deletion.ts";
import { eraseAgent } from "./erasure.ts";
import { Lineage } from "./lineage.ts";
import { keptOf, lineHead } from "./line-head.ts";
import { Lines } from "./lines.ts";
import { baseVersion } from "./manifest.ts";
import { Notebook } from "./notebook.ts";
import { notesFor } from "./notes.ts";
import { PersonalLines } from "./personal.ts";
import type {
  AbsorbResult,
  AddResult,
  AdvanceResult,
  AgentPort,
  EventUse,
  FinishRequest,
  GivenNote,
  LineNews,
  AuditPage,
  LinePage,
  LoadResult,
  Lost,
  OwnLine,
  Page,
  PromoteResult,
  PublishOutcome,
  PutResult,
  Reason,
  RollbackRequest,
  RollbackResult,
  Trainer,
  TurnFact,
} from "./port.ts";
import { Publishing } from "./publishing.ts";
import { tipOf } from "./release.ts";
import { Schedule } from "./schedule.ts";
import { AgentStore } from "./store.ts";
import { settingsChanges } from "./settings-changes.ts";
import { StoredFiles } from "./stored-files.ts";
import { Suite } from "./suite.ts";
import { TrainerReports } from "./trainer-reports.ts";
import { Trials } from "./trials.ts";
import { Waiters } from "./waiters.ts";
import { Weights } from "./weights.ts";

export class AgentObject extends DurableObject<Env> implements AgentPort {
  readonly #store: AgentStore;
  readonly #lineage: Lineage;
  readonly #lines: Lines;
  readonly #trials: Trials;
  readonly #notebook: Notebook;
  readonly #suite: Suite;
  readonly #deletion: Deletion;
  readonly #engine: EngineLine;
  readonly #personal: PersonalLines;
  readonly #schedule: Schedule;
  readonly #publishing: Publishing;
  readonly #files: StoredFiles;
  readonly #waiters = new Waiters();
  readonly #trainers = new TrainerReports();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new AgentStore(ctx.storage);
    this.#lineage = new Lineage(this.#store);
    this.#lines = new Lines(this.#store, this.#lineage);
    this.#trials = new Trials(this.#store, this.#lines, this.#lineage);
    this.#notebook = new Notebook(this.#store, this.#lines, this.#lineage);
    this.#deletion = new Deletion(this.#store, this.#lines, this.#lineage);
    this.#suite = new Suite(this.#store, this.#lines);
    this.#engine = new EngineLine(this.#store, this.#lines, new AgentEngine(env, this.#store.engines));
    const parts = { store: this.#store, lines: this.#lines, lineage: this.#lineage, notebook: this.#notebook };
    this.#personal = new PersonalLines(parts);
    const weights = new Weights({ ctx, env, store: this.#store });
    this.#files = new StoredFiles({ env, store: this.#store });
    const watched = { lines: this.#lines, trials: this.#trials, engine: this.#engine, files: this.#files };
    this.#schedule = new Schedule({ ctx, weights, store: this.#store, ...watched });
    const doers = { suite: this.#suite, personal: this.#personal, engine: this.#engine, schedule: this.#schedule, weights };
    this.#publishing = new Publishing({ env, store: this.#store, lines: this.#lines, deletion: this.#deletion, ...doers });
  }

  async put({ name, settings, madeOf, actor, lastSeq }: Parameters<AgentPort["put"]>[0]): Promise<PutResult> {
    const known = this.#store.readAgent();
    const agent: Agent = { name, settings, createdAt: known?.createdAt ?? new Date().toISOString() };
    const change = await this.#engine.change(agent, known?.settings.engine ?? EMBEDDED);
    if (change.status === "refused") return change;
    const baseDigest = Digest.parse(change.base ?? this.env.BASE_DIGEST);
    return this.#store.transaction((): PutResult => {
      if (!this.#store.hasSettings(madeOf ?? known?.settings)) return { status: "changed" };
      if (known === undefined) this.#store.create();
      this.#store.writeAgent(agent);
      if (known === undefined) {
        this.#lines.create(SHARED_LINE, baseVersion({ agent: name, line: SHARED_LINE, baseDigest, createdAt: agent.createdAt }), actor);
        return { status: "stored", agent };
      }
      // A personal line's head is read anew for every request.
      this.#lines.touch(SHARED_LINE, "settings", { actor, changes: settingsChanges(known.settings, settings) });
      if (change.changed) this.#engine.rebase(agent, baseDigest, { lastSeq, actor });
      return { status: "stored", agent };
    });
  }

  async loadAdapter(line: string, version: number): Promise<LoadResult> {
    const result = await this.#engine.load(line, version);
    await this.#schedule.planSweep();
    return result;
  }

  async engine(): Promise<EngineState | undefined> {
    return this.#engine.state();
  }

  async read(): Promise<Agent | undefined> {
    return this.#store.readAgent();
  }

  async erase(): Promise<void> {
    await eraseAgent({ ctx: this.ctx, env: this.env, store: this.#store, engine: this.#engine });
  }

  async head(line: string): Promise<LineHead | undefined> {
    const agent = this.#store.readAgent();
    const state = this.#lines.read(line);
    if (agent === undefined || state === undefined) return undefined;
    const engineBase = (await engineBaseOf(agent.settings.engine))?.digest ?? null;
    const parts = { store: this.#store, lines: this.#lines, lineage: this.#lineage };
    return { ...lineHead(parts, { agent, line, state }), engineBase };
  }

  async own(user: string): Promise<OwnLine | undefined> {
    return this.#personal.own(user);
  }

  async lines(page: LinePage): Promise<ListedLine[] | undefined> {
    return this.#store.readAgent() === undefined ? undefined : this.#personal.list(page);
  }

  async dueLines(news: readonly LineNews[], limit: number, actor: Actor): Promise<string[] | undefined> {
    if (this.#store.readAgent() === undefined) return undefined;
    return this.#store.transaction(() => this.#personal.due(news, limit, actor));
  }

  async lease(request: LeaseRequest, key: Actor): Promise<LeaseAnswer | undefined> {
    if (this.#store.readAgent() === undefined) return undefined;
    return this.#store.transaction(() => this.#store.lease.take({ ...request, key }, Date.now()));
  }

  async endLease(token: number, key: Actor): Promise<boolean | undefined> {
    if (this.#store.readAgent() === undefined) return undefined;
    return this.#store.transaction(() => this.#store.lease.end(token, key));
  }

  async publish(line: string, request: PublishRequest, trainer: Trainer): Promise<PublishOutcome | Lost | undefined> {
    return this.#publishing.publish(line, request, { actor: trainer.actor, inLease: (flip) => this.#inLease(line, trainer, flip) });
  }

  async rollback(line: string, request: RollbackRequest, actor: Actor): Promise<RollbackResult | undefined> {
    const reason = await this.#engine.unservedReason(line, request.to);
    if (reason !== undefined) return { status: "refused", reason };
    const fault = await this.#files.fault(line, [request.to]);
    if (fault !== undefined) return { status: "unstored", reason: fault };
    return this.#inLine(line, () => this.#lines.rollback(line, request, actor));
  }

  async promote(line: string, request: { version: number; reason?: string | undefined }, actor: Actor): Promise<PromoteResult | undefined> {
    const fault = await this.#files.fault(line, this.#lines.begunBy(line, request.version));
    if (fault !== undefined) return { status: "unstored", reason: fault };
    return this.#inLine(line, () => this.#lines.promote(line, request, actor));
  }

  async release(line: string): Promise<Release | undefined> {
    return this.#files.told(line, this.#trials.read(line, Date.now()));
  }

  async advance(line: string, request: CursorAdvance, trainer: Trainer): Promise<AdvanceResult | Lost | undefined> {
    return this.#inLease(line, trainer, () => this.#lines.advance(line, request, trainer.actor));
  }

  async version(line: string, version: number): Promise<ListedVersion | undefined> {
    return this.#store.readListed(line, version);
  }

  async kept(line: string, version: number): Promise<KeptDefaults> {
    return keptOf(this.#store, line, version);
  }

  async versions(line: string, page: Page): Promise<ListedVersion[]> {
    return this.#store.readVersions(line, page);
  }

  async audit(page: AuditPage): Promise<AuditRow[]> {
    return this.#store.readAudit(page);
  }

  async uses(line: string, where: { eventId: string } | { user: string } | { version: number }): Promise<EventUse[]> {
    return this.#lines.read(line) === undefined ? [] : this.#store.quarantine.uses(line, where);
  }

  async quarantine(line: string, events: readonly BarredEvent[], audit: Reason): Promise<number | undefined> {
    // What nobody has learned from yet is barred all the same.
    this.#store.transaction(() => this.#personal.begin(line, audit.actor));
    return this.#inLine(line, () => {
      const barred = this.#lineage.bar(line, events, audit);
      if (barred > 0) this.#lines.touch(line, "quarantine", { ...audit, reason: audit.reason ?? `${count(barred, "event")} barred` });
      return barred;
    });
  }

  async letIn(line: string, eventIds: readonly string[], audit: Reason): Promise<number | undefined> {
    return this.#inLine(line, () => {
      const letIn = this.#lineage.letIn(line, eventIds);
      if (letIn > 0) this.#lines.touch(line, "letIn", { ...audit, reason: audit.reason ?? `${count(letIn, "event")} let back in` });
      return letIn;
    });
  }

  async quarantined(line: string, page: { after?: string | undefined; limit: number }): Promise<QuarantinedEvent[] | undefined> {
    return this.#lines.read(line) === undefined ? undefined : this.#store.quarantine.read(line, page);
  }

  async reopened(line: string, limit: number): Promise<string[] | undefined> {
    return this.#lines.read(line) === undefined ? undefined : this.#store.quarantine.reopened(line, limit);
  }

  async influence(line: string): Promise<{ audience: Audience; evidence: Evidence[] } | undefined> {
    return this.#lines.read(line) === undefined ? undefined : this.#lineage.influence(line);
  }

  async withdrawn(line: string, eventIds: readonly string[]): Promise<Withdrawn[] | undefined> {
    return this.#lines.read(line) === undefined ? undefined : this.#lineage.withdrawn(line, eventIds);
  }

  async suite(line: string): Promise<SuiteCase[] | undefined> {
    const state = this.#lines.read(line);
    if (state === undefined) return undefined;
    const own = this.#suite.read(line, this.#store.readAncestry(line, tipOf(state)));
    // What people ask of the agent they ask of everybody's line.
    const asked = line === SHARED_LINE ? [] : this.#suite.read(SHARED_LINE, new Set()).filter(({ source }) => source === "person");
    return [...asked, ...own];
  }

  async addCase(line: string, suiteCase: SuiteCase, actor: Actor): Promise<AddResult | undefined> {
    return this.#inLine(line, () => this.#suite.add(line, suiteCase, actor));
  }

  async dropCase(line: string, caseId: string, actor: Actor): Promise<boolean | undefined> {
    return this.#inLine(line, () => this.#suite.drop(line, caseId, actor));
  }

  async trainedOn(line: string, turnIds: readonly string[]): Promise<(TrainedOn & { turnId: string })[]> {
    return this.#lines.read(line) === undefined ? [] : this.#store.credits.of(line, turnIds);
  }

  async forgetUser(line: string, forgotten: ForgetRequest, actor: Actor): Promise<ForgottenUser | undefined> {
    const result = this.#inLine(line, () => {
      const own = forgotten.user === line || this.#lines.read(forgotten.user) === undefined ? [] : [forgotten.user];
      return sumForgotten([line, ...own].map((each) => this.#deletion.forget(each, forgotten, actor)));
    });
    if (result !== undefined) await this.#schedule.planLook(true);
    return result;
  }

  async rebuild(line: string): Promise<{ from: number; events: string[] } | null | undefined> {
    return this.#lines.read(line) === undefined ? undefined : (this.#lineage.rebuildOf(line) ?? null);
  }

  async learned(line: string): Promise<string[] | undefined> {
    const state = this.#lines.read(line);
    return state === undefined ? undefined : this.#lineage.learnedBy(line, tipOf(state));
  }

  async finishRebuild(line: string, { from, refused }: FinishRequest, trainer: Trainer): Promise<boolean | Lost | undefined> {
    const finished = this.#inLease(line, trainer, () => this.#lines.finishRebuild(line, from, refused, trainer.actor));
    if (finished === true) await this.#schedule.planLook(true);
    return finished;
  }

  async remember(
    line: string,
    { notes: given, others }: { notes: readonly GivenNote[]; others: readonly Evidence[] },
    actor: Actor,
  ): Promise<void> {
    const learning = this.#store.readAgent()?.settings.learning;
    if (learning?.enabled !== true || this.#lines.read(line) === undefined) return;
    this.#store.transaction(() => [...given, ...others].forEach((said) => this.#store.evidence.add(line, said, Date.now())));
    if (learning.notes === "off") return;
    this.#store.transaction(() => this.#notebook.remember(line, given, { scope: learning.notes === "agent" ? "agent" : "user", actor }));
  }

  async notes(line: string, user?: string): Promise<Note[] | undefined> {
    return this.#lines.read(line) === undefined ? undefined : this.#notebook.read(line, user);
  }

  async notesInForce(line: string, user: string): Promise<Note[]> {
    const agent = this.#store.readAgent();
    return agent === undefined || this.#lines.read(line) === undefined
      ? []
      : notesFor(this.#notebook.read(line, user), user, agent.settings.learning);
  }

  async dropNote(line: string, noteId: string, actor: Actor): Promise<Note | undefined> {
    return this.#store.transaction(() => this.#notebook.forget(line, noteId, actor));
  }

  async absorbNote(line: string, noteId: string, version: number, trainer: Trainer): Promise<AbsorbResult | Lost | undefined> {
    return this.#inLease(line, trainer, () => this.#notebook.absorb(line, noteId, { version, actor: trainer.actor }));
  }

  async eventsAppended(
    seq: number,
    { usedNotes = [], turns = [] }: { usedNotes?: readonly string[]; turns?: readonly TurnFact[] } = {},
  ): Promise<void> {
    const now = new Date();
    for (const noteId of usedNotes) this.#store.notes.addUse(noteId, now.toISOString());
    this.#store.transaction(() => turns.forEach((turn) => this.#trials.observe(turn)));
    for (const line of new Set(turns.map((turn) => turn.answeredBy))) this.#schedule.decide(line, now);
    this.#waiters.notify(seq);
  }

  async judged(line: string, judgements: readonly { turnId: string; reward: number }[]): Promise<void> {
    if (this.#lines.read(line) === undefined) return;
    // A turn that teaches a personal line may have been answered by the shared one's canary.
    const tried = [...new Set([line, SHARED_LINE])];
    this.#store.transaction(() => tried.forEach((each) => judgements.forEach((judgement) => this.#trials.judge(each, judgement))));
    for (const each of tried) this.#schedule.decide(each, new Date());
  }

  async reportTrainer(line: string, status: TrainerStatus, { actor, lease }: Trainer): Promise<{ status: "heard" } | Lost | undefined> {
    if (this.#lines.read(line) === undefined) return undefined;
    const reason = this.#store.lease.fault(lease, actor);
    if (reason !== undefined) return { status: "lost", reason };
    this.#trainers.hear(line, status);
    return { status: "heard" };
  }

  async trainer(line: string): Promise<TrainerReport | null> {
    return this.#trainers.of(line);
  }

  async waitForEvents(after: number, waitMs: number): Promise<number> {
    return this.#waiters.wait(after, waitMs);
  }

  override async alarm(): Promise<void> {
    if (this.#store.readAgent() === undefined) return;
    await this.#schedule.ring();
  }

  /** Runs a move of a line in one transaction; undefined where the line does not exist. */
  #inLine<Result>(line: string, move: () => Result): Result | undefined {
    return this.#store.transaction(() => {
      if (this.#lines.read(line) === undefined) return undefined;
      const result = move();
      if (line === SHARED_LINE) this.#personal.follow();
      return result;
    });
  }

  /** The same for a trainer, unless its lease is another's by now. */
  #inLease<Result>(line: string, { actor, lease }: Trainer, move: () => Result): Result | Lost | undefined {
    return this.#inLine(line, (): Result | Lost => {
      const reason = this.#store.lease.fault(lease, actor);
      return reason === undefined ? move() : { status: "lost", reason };
    });
  }
}
