/**
 * The learning loop of one line, one step at a time: pull → judge → assemble → update → gate → publish.
 * The line's cursor says what is consumed; a publish or an advance moves it by compare-and-set, so an event trains
 * at most once whatever crashes in between. What is held here is rebuilt from the log.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { toErrorRecord } from "../shared/errors.ts";
import { capabilitiesOf, engineTitle, templateArgumentsOf } from "../shared/engine.ts";
import type { LineHead, PolicyManifest } from "../shared/policy.ts";
import { gateFaults, type GateReport } from "../shared/release.ts";
import { runningBaseline } from "./advantage/baseline.ts";
import { type ActsOn, actsOnFor, madeFor, recordOf, type TrainerConfig } from "./config.ts";
import { isOfBase } from "./data/exchange.ts";
import { countRefusals, reasonsOf, type Refusal } from "./data/refusal.ts";
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import { reportRetry } from "./feed/retry.ts";
import { EventWindow } from "./feed/window.ts";
import { examine } from "./gate/examine.ts";
import type { Gate } from "./gate/gate.ts";
import type { Judge } from "./judge/judge.ts";
import { casesOf, inOrder, expectationsOf } from "./learn/batch/assemble.ts";
import { barredSets, onceEach, refusalsOf, signalsAmong, usedOf, type Batch, type Judged } from "./learn/batch/batch.ts";
import { gather } from "./learn/batch/gather.ts";
import { givenTo } from "./learn/batch/given.ts";
import { sharesOf } from "./learn/batch/influence.ts";
import { groundOf, isNewGround, servedUntil } from "./learn/batch/ground.ts";
import { learnHeard } from "./learn/batch/learn-heard.ts";
import type { Learner, UpdateOutcome } from "./learn/update/learner.ts";
import { type Learned, type Made, manifestOf, reachOf } from "./learn/batch/manifest.ts";
import { sift, type Sifting } from "./learn/batch/sift.ts";
import { withoutWithdrawn } from "./learn/batch/withdrawn.ts";
import type { ReviewNotes } from "./memory/absorption.ts";
import type { Metrics } from "./metrics.ts";
import { Patience } from "./patience.ts";
import type { AdapterBytes, AdapterTensors } from "./policy/adapter.ts";
import { hasBase } from "./policy/parent.ts";
import { patiently, publishVersion, rejectionOf } from "./policy/publish.ts";
import { Progress } from "./progress.ts";
import { Random } from "./random.ts";
import { Signals } from "./signals.ts";
import type { Queued } from "./work-queue.ts";

export type LoopDependencies = {
  readonly edge: EdgePort;
  /** Aborted once nothing more is to be made: at a stop, or where the lease is lost. Absent: never. */
  readonly signal?: AbortSignal;
  readonly judge: Judge;
  readonly learner: Learner;
  /** Runs an update once the engine is free for it. */
  readonly queued: Queued;
  readonly metrics: Metrics;
  readonly config: TrainerConfig;
  readonly now: () => Date;
  /** Loads the adapter a head names; null for the bare base. @throws {policy/digest} when the head is of another base */
  readonly loadAdapter: (served: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
  readonly gate: Gate;
  readonly reviewNotes: ReviewNotes;
  readonly writeAdapter: (adapter: AdapterTensors) => AdapterBytes;
  /** What an update runs with and on, beside its settings. */
  readonly runtime: Readonly<Record<string, string>>;
};

type Lesson = {
  readonly outcome: UpdateOutcome;
  readonly inputs: NonNullable<PolicyManifest["inputs"]>;
};
/** What an update is made with, beside its signals. */
type Means = Pick<Made, "seed" | "shares"> & { readonly barred: ReadonlySet<string> };

/** `foreign`: the line is of a base that this trainer does not have. */
export type StepResult = "idle" | "waiting" | "published" | "advanced" | "stale" | "foreign";

const JUDGE_EVERY_MS = 500; // while an update runs
const JUDGE_AGAIN_MS = 2_000; // where it was away
const MOST_PENDING = 300; // events beyond the cursor, above which judging waits for the update: what they say goes into one audit row
const QUIET_EVENTS = 200; // so many events without a signal are consumed without one

export class LineLoop {
  readonly #line: LineName;
  readonly #deps: LoopDependencies;
  readonly #window: EventWindow;
  readonly #signals: Signals;
  readonly #sources: Sifting;
  readonly #progress: Progress;
  readonly #patience = new Patience();
  /** As of the last step. */
  #learning: LineHead["settings"]["learning"] | undefined;
  #told: ActsOn | undefined;

  constructor(line: LineName, deps: LoopDependencies) {
    this.#line = line;
    this.#deps = deps;
    this.#window = new EventWindow(line, { edge: deps.edge, cacheTurns: deps.config.cacheTurns });
    this.#signals = new Signals(line, deps, this.#window);
    this.#sources = { edge: deps.edge, line, signals: this.#signals };
    this.#progress = new Progress(
      (status) => deps.edge.reportStatus(line, status),
      () => {
        const open = this.#learning === undefined ? [] : this.#signals.learnable(this.#learning);
        return { corrections: open.length, waitingSince: open[0]?.signal.event.createdAt ?? null };
      },
    );
  }

  /** Whose lines the agent's users teach, as of the last step. */
  get scope(): LineHead["settings"]["learning"]["scope"] {
    return this.#learning?.scope ?? "shared";
  }

  /** When a step has something to do without news, ms; undefined where it has not. */
  get dueInMs(): number | undefined {
    if (this.#signals.frontier !== Number.POSITIVE_INFINITY) return JUDGE_AGAIN_MS;
    if (this.#learning === undefined || this.#signals.learnable(this.#learning).length === 0) return undefined;
    return this.#patienceMs(this.#learning);
  }

  /** One step; returns what it came to. `waitMs` bounds the long poll. */
  async step(waitMs: number): Promise<StepResult> {
    const known = await this.#deps.edge.readHead(this.#line);
    if (!(await hasBase(this.#deps.loadAdapter, known))) return "foreign";
    await this.#window.open(known.cursor);
    this.#learning = known.settings.learning;
    const waiting = this.#signals.learnable(known.settings.learning).length > 0;
    // What was judged while an update ran may be enough for the next.
    const ready = this.#assemble(known) !== undefined;
    this.#progress.tell(waiting ? "waiting" : "watching");
    await this.#pull(ready ? 0 : waiting ? Math.min(waitMs, this.#patienceMs(known.settings.learning)) : waitMs);
    // Settings and stable version may have changed while it waited.
    const head = await this.#deps.edge.readHead(this.#line);
    if (!(await hasBase(this.#deps.loadAdapter, head))) return "foreign";
    this.#tellActs(head);
    this.#forget(head.cursor);
    if (head.rebuild !== null) return this.#rebuild(head);
    await this.#signals.judgeNew(head, { onJudging: (counted) => this.#progress.tell("judging", counted) });
    await this.#signals.reopen(head);
    const batch = this.#assemble(head);
    if (batch !== undefined && batch.learnable.length > 0) return this.#update(batch);
    const result = batch === undefined ? (this.#window.pending.length > 0 ? "waiting" : "idle") : await this.#advance(batch, []);
    await this.#reviewNotes(head).catch((error: unknown) => this.#report(error));
    return result;
  }

  /** Reads on; while a judge is away it is not waited for longer than for the judge, and no more is read than can be kept. */
  async #pull(waitMs: number): Promise<void> {
    const patienceMs = this.#signals.frontier === Number.POSITIVE_INFINITY ? waitMs : Math.min(waitMs, JUDGE_AGAIN_MS);
    if (patienceMs < waitMs && this.#window.pending.length >= MOST_PENDING) await sleep(patienceMs);
    else await this.#window.pull(patienceMs);
  }

  /** Retires the notes that the stable version does not need. */
  async #reviewNotes(head: LineHead): Promise<void> {
    if (head.notesEpoch === null) return;
    const { edge, metrics, reviewNotes } = this.#deps;
    const notes = await edge.readNotes(this.#line);
    if (notes.length === 0) return;
    for (const { noteId, text } of await reviewNotes(head, {
      notes,
      turns: this.#window.cache.turns().filter((turn) => isOfBase(turn, head)),
    })) {
      const { status } = await edge.absorbNote(this.#line, noteId, { version: head.stable });
      if (status === "absorbed") metrics("note:absorbed", { agent: head.agent, noteId, text, version: head.stable });
    }
  }

  /** Says once what new adapters of the line act on, and why. */
  #tellActs({ agent, settings: { engine } }: LineHead): void {
    const { config, metrics } = this.#deps;
    const actsOn = actsOnFor(config.update, engine);
    const reason = config.update.actsOn === undefined ? `what ${engineTitle(engine)} can serve` : "--acts-on";
    if (actsOn !== this.#told) metrics("line:acts", { agent, line: this.#line.line, actsOn, reason });
    this.#told = actsOn;
  }

  /** What costs notes alone, and is tried again by the next step. */
  #report(error: unknown): void {
    this.#deps.metrics("feed:retried", { agent: this.#line.agent, ...toErrorRecord(error), delayMs: 0 });
  }

  async #update(assembled: Batch): Promise<StepResult> {
    const { metrics } = this.#deps;
    const { head } = assembled;
    // What is not to be learned waits for no engine.
    const { batch } = await sift(assembled, this.#sources);
    if (batch.learnable.length === 0) return this.#advance(batch, []);
    const { batch: heard, lesson } = await this.#queued(head, () => this.#teach(assembled));
    if (lesson === undefined) return this.#advance(heard, []);
    const { outcome, inputs, made } = lesson;
    if (outcome.status === "refused") {
      metrics("update:refused", {
        agent: head.agent,
        codes: outcome.refused.map(({ code }) => code),
        details: outcome.refused.map(({ detail }) => detail),
      });
      return this.#advance(heard, outcome.refused);
    }
    metrics("update:learned", { agent: head.agent, ...outcome.metrics });
    const examined = this.#examine(heard, outcome);
    await this.#judgeDuring(examined, head);
    return this.#publish(heard, outcome, { ...made, inputs, gate: await examined });
  }

  /** Learns from a batch what may be learned as the update begins; no lesson where that is nothing. */
  async #teach(assembled: Batch): Promise<{ batch: Batch; lesson?: Lesson & { made: Means } }> {
    const { batch, shares, others, audience, barred } = await sift(assembled, this.#sources);
    if (batch.learnable.length === 0) return { batch };
    const learned = await this.#learnedBefore(batch.head);
    const carried = new Set(learned.map(({ signal }) => signal.event.eventId));
    const before = await withoutWithdrawn({ ...batch, learnable: learned }, { ...this.#sources, barred: barred.events });
    const heard = { ...before, carried, learnable: inOrder(onceEach([...before.learnable, ...others, ...batch.learnable])) };
    const learn = async (from: Batch, weights: Means["shares"]) => {
      const made = { seed: this.#deps.config.seed + batch.toSeq, shares: weights, barred: barred.turns };
      return { ...(await this.#learn(from, made)), made };
    };
    return learnHeard(heard, { audience, shares: before.learnable.length === 0 ? shares : sharesOf(heard.learnable), learn });
  }

  /** Runs an update when the engine is free for it, and judges meanwhile. What it reads is as of its beginning. */
  async #queued<Result>(head: LineHead, update: () => Promise<Result>): Promise<Result> {
    this.#progress.tell("queued");
    const updated = this.#deps.queued(update);
    await this.#judgeDuring(updated, head);
    return updated;
  }

  /** Learns again, without a deleted user, what the others had taught the versions that have to go. */
  async #rebuild(head: LineHead): Promise<StepResult> {
    const { edge, metrics, config } = this.#deps;
    const plan = await edge.readRebuild(this.#line);
    if (plan === null || plan.from !== head.rebuild?.from) return "stale";
    const barred = barredSets(await edge.readQuarantine(this.#line));
    this.#progress.tell("rebuilding");
    // Until what the deletion says has been read, the user is still remembered here.
    while ((await this.#window.pull(0)) > 0);
    const recalled = await this.#signals.recall(head, plan.events);
    const clean = { ...head, parent: plan.from, parentAdapter: head.rebuild.adapter };
    const all: Batch = { head: clean, toSeq: head.cursor, judged: recalled, learnable: recalled, refusals: [] };
    const batch = await withoutWithdrawn(all, { ...this.#sources, barred: barred.events });
    metrics("rebuild:begun", { agent: head.agent, from: plan.from, events: plan.events.length });
    const made = { seed: config.seed + head.cursor, shares: sharesOf(batch.learnable), barred: barred.turns };
    const learned = batch.learnable.length === 0 ? undefined : await this.#queued(head, () => this.#learn(batch, made));
    if (learned?.outcome.status === "learned") {
      const { outcome, inputs } = learned;
      return this.#publish(batch, outcome, { ...made, inputs, gate: await this.#examine(batch, outcome), rebuild: true });
    }
    const refused = [...batch.refusals, ...(learned?.outcome.refused ?? [])];
    const { status } = await edge.finishRebuild(this.#line, { from: plan.from, refused });
    metrics("rebuild:finished", { agent: head.agent, stable: plan.from });
    return status === "finished" ? "published" : "stale";
  }

  /** What a personal line has to learn anew, because the shared one has moved on since it was learned; nothing where it stands. */
  async #learnedBefore(head: LineHead): Promise<Judged[]> {
    if (!isNewGround(head) || head.over?.parentOver === null) return [];
    return this.#signals.recall(head, await this.#deps.edge.readLearned(this.#line));
  }

  /**
   * One update on the learnable signals of a batch, from the version that its head names as the parent; where a personal line's ground
   * has moved, from its ground.
   */
  async #learn(batch: Batch, { seed, shares, barred }: Means): Promise<Lesson> {
    const { head, learnable } = batch;
    const { learner, loadAdapter, config, edge } = this.#deps;
    const { objective, signals } = head.settings.learning;
    const parent = await loadAdapter({ baseDigest: head.baseDigest, adapter: groundOf(head).version.adapter });
    const { replayed } = config.update;
    const { record, ...given } = givenTo(batch, this.#window.cache, { barred, replayed, defaults: groundOf(head).kept.defaults, seed });
    const { leftOut, ...gathered } = await gather({ edge, line: this.#line, loadAdapter }, learnable, { signals, shares, barred });
    const baseline = runningBaseline(this.#window.cache.rewards(head.cursor, barred));
    const outcome = await learner.update({
      ...gathered,
      signals,
      ...given,
      parent,
      parentVersion: head.parent,
      ...servedUntil(head),
      baseline,
      objective,
      ...madeFor(config.update, head.settings.engine),
      seed,
      onStep: (counted) => this.#begin("updating", counted),
    });
    return { outcome, inputs: { ...record, baseline, signals, leftOut } };
  }

  /** Says what an update does next. @throws why nothing more is to be made: under a lease that is lost it would be for nothing, and others want the machine */
  #begin(...told: Parameters<Progress["tell"]>): void {
    this.#deps.signal?.throwIfAborted();
    this.#progress.tell(...told);
  }

  /** The gate's report on what an update has made; null where the agent's gate is off. */
  #examine(batch: Batch, { adapter, refused, ...learned }: Learned): Promise<GateReport | null> {
    this.#begin("gating");
    const candidate = { adapter, defaults: learned.defaults, reach: reachOf(learned), expected: expectationsOf(usedOf(batch, refused)) };
    return examine(this.#deps, { head: batch.head, line: this.#line }, candidate);
  }

  /** Judges what arrives while an update runs: its notes are to be in force in seconds. What fails here is tried again. */
  async #judgeDuring(update: Promise<unknown>, head: LineHead): Promise<void> {
    let running = true;
    const end = (): boolean => (running = false);
    const ended = update.then(end, end);
    for (;;) {
      await Promise.race([ended, sleep(JUDGE_EVERY_MS)]);
      if (!running) return;
      try {
        if (this.#window.pending.length < MOST_PENDING) await this.#window.pull(0);
        await this.#signals.judgeNew(head, { stop: () => !running });
      } catch (error) {
        if (this.#deps.signal?.aborted !== true) this.#report(error);
      }
    }
  }

  async #publish(batch: Batch, outcome: Learned, { rebuild = false, ...made }: Made & { rebuild?: boolean }): Promise<StepResult> {
    const { edge, metrics, writeAdapter, config } = this.#deps;
    const { head, toSeq } = batch;
    const { gate } = made;
    const faults = gate === null ? [] : gateFaults(gate, head.settings.release.gate.budgets);
    const used = usedOf(batch, outcome.refused);
    this.#begin("publishing");
    const runtime = { ...this.#deps.runtime, ...recordOf(config.update, head.settings.engine) };
    const manifest = manifestOf(batch, outcome, { ...made, runtime });
    const left = outcome.defaults.length - manifest.defaults.length;
    if (left > 0) metrics("defaults:left", { agent: head.agent, left, of: outcome.defaults.length });
    const handed = {
      manifest,
      refused: refusalsOf(batch, { refused: outcome.refused, used, takesPlace: faults.length === 0 }),
      cases: casesOf(used),
      credits: outcome.credits,
      rebuild,
    };
    const { signal = new AbortController().signal } = this.#deps;
    const patient = patiently(edge, { random: new Random(process.pid), signal, onRetry: reportRetry(metrics, head.agent) });
    const result = await publishVersion(patient, writeAdapter(outcome.adapter), handed).catch((error: unknown) => rejectionOf(error));
    if (result.status === "rejected") {
      // What the edge will not take it will not take tomorrow: the batch is done with, and the reason is on record.
      metrics("policy:rejected", { agent: head.agent, detail: result.detail });
      if (rebuild) await edge.finishRebuild(this.#line, { from: head.parent, refused: [] });
      return this.#advance(batch, [
        ...outcome.refused,
        ...used.map(({ signal }): Refusal => ({ eventId: signal.event.eventId, code: "update/rejected", detail: result.detail })),
      ]);
    }
    if (result.status === "stale") metrics("policy:stale", { agent: head.agent, parent: head.parent });
    else {
      const { version, release } = result;
      const about = { agent: head.agent, version, parent: head.parent, hints: manifest.hints };
      if (release === "refused") metrics("policy:refused", { ...about, faults });
      else metrics("policy:published", { ...about, release, seconds: outcome.metrics.seconds });
      this.#forget(toSeq);
      const given = templateArgumentsOf(head.settings.engine);
      if (release !== "refused") this.#deps.learner.prepare?.(version, given).catch((error: unknown) => this.#report(error));
    }
    return result.status;
  }

  /** Consumes events without an update, with the reason for every signal among them. */
  async #advance(batch: Batch, refused: readonly Refusal[]): Promise<StepResult> {
    const { head, toSeq } = batch;
    const all = refusalsOf(batch, { refused, used: [], takesPlace: false });
    const { status } = await this.#deps.edge.advanceCursor(this.#line, { from: head.cursor, to: toSeq, refused: all });
    if (status === "stale") return "stale";
    this.#forget(toSeq);
    if (all.length > 0) {
      const why = reasonsOf(all);
      this.#deps.metrics("cursor:advanced", { agent: head.agent, from: head.cursor, to: toSeq, refused: countRefusals(all), why });
    }
    return "advanced";
  }

  /** What to do with the open signals now, or undefined while there is reason to wait. */
  #assemble(head: LineHead): Batch | undefined {
    const { judged, refusals, frontier } = this.#signals;
    const pending = this.#window.pending.filter(({ seq }) => seq < frontier);
    const last = pending.at(-1);
    if (last === undefined && judged.length + refusals.length === 0) return undefined;
    const { learning } = head.settings;
    const candidates = this.#signals.learnable(learning);
    const learns = learning.enabled && capabilitiesOf(head.settings.engine).adapters;
    const batch = { head, toSeq: last?.seq ?? head.cursor, judged, learnable: learns ? candidates : [], refusals };
    if (candidates.length > 0)
      return signalsAmong(candidates) >= learning.minSignals || this.#patienceMs(learning) <= 0 || !learns ? batch : undefined;
    return judged.length + refusals.length > 0 || pending.length >= QUIET_EVENTS ? batch : undefined;
  }

  /** Drops what is consumed, by us or by another trainer of the line. */
  #forget(cursor: number): void {
    this.#window.forget(cursor);
    this.#signals.forget();
  }

  /** How much longer the oldest pending signal may wait, ms. */
  #patienceMs(learning: LineHead["settings"]["learning"]): number {
    const [oldest] = this.#signals.learnable(learning);
    const { maxWaitMs } = learning;
    return oldest === undefined ? maxWaitMs : this.#patience.leftMs(oldest.signal.event, { maxWaitMs, now: this.#deps.now() });
  }
}
