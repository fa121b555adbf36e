/** One update of a line: what was judged is sifted, taught, examined by the gate and published; a rebuild is the same from an older version. */
import { templateArgumentsOf } from "../shared/engine.ts";
import type { LineHead, PolicyManifest } from "../shared/policy.ts";
import { gateFaults, type GateReport } from "../shared/release.ts";
import { runningBaseline } from "./advantage/baseline.ts";
import { madeFor, recordOf } from "./config.ts";
import type { Refusal } from "./data/refusal.ts";
import type { LineName } from "./feed/edge-port.ts";
import { reportFailure, reportRetry } from "./feed/retry.ts";
import { examine } from "./gate/examine.ts";
import { casesOf, expectationsOf } from "./learn/batch/cases.ts";
import { barredSets, type Batch, inOrder, type Judged, onceEach, refusalsOf, usedOf } from "./learn/batch/batch.ts";
import { gather } from "./learn/batch/gather.ts";
import { givenTo } from "./learn/batch/given.ts";
import { groundOf, isNewGround, servedUntil } from "./learn/batch/ground.ts";
import { sharesOf } from "./learn/batch/influence.ts";
import { learnHeard } from "./learn/batch/learn-heard.ts";
import { type Learned, type Made, manifestOf, reachOf } from "./learn/batch/manifest.ts";
import { sift, type Sifting } from "./learn/batch/sift.ts";
import { withoutWithdrawn } from "./learn/batch/withdrawn.ts";
import type { UpdateOutcome } from "./learn/update/learner.ts";
import type { LineDependencies, StepResult } from "./line-dependencies.ts";
import type { LineEvents } from "./line-events.ts";
import { patiently, publishVersion, rejectionOf } from "./policy/publish.ts";
import type { Progress } from "./progress.ts";
import { Random } from "./random.ts";

type Lesson = {
  readonly outcome: UpdateOutcome;
  readonly inputs: NonNullable<PolicyManifest["inputs"]>;
};
/** What an update is made with, beside its signals. */
type Means = Pick<Made, "seed" | "shares"> & { readonly barred: ReadonlySet<string> };

export class LineUpdate {
  readonly #line: LineName;
  readonly #deps: LineDependencies;
  readonly #events: LineEvents;
  readonly #sources: Sifting;
  readonly #progress: Progress;

  constructor(line: LineName, deps: LineDependencies, { events, progress }: { events: LineEvents; progress: Progress }) {
    this.#line = line;
    this.#deps = deps;
    this.#events = events;
    this.#progress = progress;
    this.#sources = { edge: deps.edge, line, signals: events.signals };
  }

  /** Learns from what was assembled, and publishes what the gate lets through. */
  async run(assembled: Batch): Promise<StepResult> {
    const { metrics } = this.#deps;
    const { head } = assembled;
    // What is not to be learned waits for no engine.
    const { batch } = await sift(assembled, this.#sources);
    if (batch.learnable.length === 0) return this.#events.advance(batch, []);
    const { batch: heard, lesson } = await this.#queued(head, () => this.#teach(assembled));
    if (lesson === undefined) return this.#events.advance(heard, []);
    const { outcome, inputs, made } = lesson;
    if (outcome.status === "refused") {
      metrics("update:refused", {
        agent: head.agent,
        codes: outcome.refused.map(({ code }) => code),
        details: outcome.refused.map(({ detail }) => detail),
      });
      return this.#events.advance(heard, outcome.refused);
    }
    metrics("update:learned", { agent: head.agent, ...outcome.metrics });
    const examined = this.#examine(heard, outcome);
    await this.#events.judgeDuring(examined, head);
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
    await this.#events.judgeDuring(updated, head);
    return updated;
  }

  /** Learns again, without a deleted user, what the others had taught the versions that have to go. */
  async rebuild(head: LineHead): Promise<StepResult> {
    const { edge, metrics, config } = this.#deps;
    const plan = await edge.readRebuild(this.#line);
    if (plan === null || plan.from !== head.rebuild?.from) return "stale";
    const barred = barredSets(await edge.readQuarantine(this.#line));
    this.#progress.tell("rebuilding");
    // Until what the deletion says has been read, the user is still remembered here.
    while ((await this.#events.window.pull(0)) > 0);
    const recalled = await this.#events.signals.recall(head, plan.events);
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
    return this.#events.signals.recall(head, await this.#deps.edge.readLearned(this.#line));
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
    const { record, ...given } = givenTo(batch, this.#events.window.cache, {
      barred,
      replayed,
      defaults: groundOf(head).kept.defaults,
      seed,
    });
    const { leftOut, ...gathered } = await gather({ edge, line: this.#line, loadAdapter }, learnable, { signals, shares, barred });
    const baseline = runningBaseline(this.#events.window.cache.rewards(head.cursor, barred));
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
      return this.#events.advance(batch, [
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
      this.#events.forget(toSeq);
      const given = templateArgumentsOf(head.settings.engine);
      if (release !== "refused")
        this.#deps.learner.prepare?.(version, given).catch((error: unknown) => reportFailure(this.#deps.metrics, this.#line.agent, error));
    }
    return result.status;
  }
}
