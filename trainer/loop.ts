/**
 * The learning loop of one line, one step at a time: pull → judge → assemble → update → publish.
 * The line's cursor says what is consumed; a publish or an advance moves it by compare-and-set, so an event trains
 * at most once whatever crashes in between. What is held here is rebuilt from the log.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { toErrorRecord } from "../shared/errors.ts";
import type { LineHead, PolicyManifest } from "../shared/policy.ts";
import type { LoggedEvent } from "../shared/events.ts";
import { runningBaseline } from "./advantage/baseline.ts";
import type { TrainerConfig } from "./config.ts";
import { type Assembled, assembleSignal } from "./data/exchange.ts";
import { countRefusals, type Refusal } from "./data/refusal.ts";
import { capShares } from "./data/share.ts";
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import { EventWindow } from "./feed/window.ts";
import { toJudgement, verdictFromLog } from "./judge/judgement.ts";
import type { Judge } from "./judge/judge.ts";
import { toCorrected, toLineage, toReplay } from "./learn/assemble.ts";
import { refusalsOf, type Batch, type Judged } from "./learn/batch.ts";
import type { Learner, UpdateOutcome } from "./learn/learner.ts";
import type { ReviewNotes } from "./memory/absorption.ts";
import type { Metrics } from "./metrics.ts";
import type { AdapterBytes, AdapterTensors } from "./policy/adapter.ts";
import { publishVersion } from "./policy/publish.ts";

export type LoopDependencies = {
  readonly edge: EdgePort;
  readonly judge: Judge;
  readonly learner: Learner;
  readonly metrics: Metrics;
  readonly config: TrainerConfig;
  readonly now: () => Date;
  /** Loads the adapter a head names; null for the bare base. @throws {policy/digest} when the head is of another base */
  readonly loadAdapter: (head: LineHead) => Promise<AdapterTensors | null>;
  readonly reviewNotes: ReviewNotes;
  readonly writeAdapter: (adapter: AdapterTensors) => AdapterBytes;
  readonly runtime: Readonly<Record<string, string>>;
};

export type StepResult = "idle" | "waiting" | "published" | "advanced" | "stale";

const JUDGE_EVERY_MS = 500; // while an update runs
const MOST_PENDING = 300; // events beyond the cursor, above which judging waits for the update: what they say goes into one audit row
const QUIET_EVENTS = 200; // so many events without a signal are consumed without one

export class LineLoop {
  readonly #line: LineName;
  readonly #deps: LoopDependencies;
  readonly #window: EventWindow;
  #judged = new Map<string, Judged>();
  #refusals = new Map<string, Refusal>();

  constructor(line: LineName, deps: LoopDependencies) {
    this.#line = line;
    this.#deps = deps;
    this.#window = new EventWindow(line, { edge: deps.edge, cacheTurns: deps.config.cacheTurns });
  }

  /** One step; returns what it came to. `waitMs` bounds the long poll. */
  async step(waitMs: number): Promise<StepResult> {
    const known = await this.#deps.edge.readHead(this.#line);
    await this.#window.open(known.cursor);
    const corrected = [...this.#judged.values()].some(({ verdict }) => verdict.hint !== undefined);
    // What was judged while an update ran may be enough for the next.
    const ready = this.#assemble(known) !== undefined;
    await this.#window.pull(ready ? 0 : corrected ? Math.min(waitMs, this.#patienceMs(known)) : waitMs);
    // Settings and stable version may have changed while it waited.
    const head = await this.#deps.edge.readHead(this.#line);
    this.#forget(head.cursor);
    await this.#judgeNew(head);
    const batch = this.#assemble(head);
    if (batch !== undefined && batch.corrected.length > 0) return this.#update(batch);
    const result = batch === undefined ? (this.#window.pending.length > 0 ? "waiting" : "idle") : await this.#advance(batch, []);
    await this.#reviewNotes(head).catch((error: unknown) => this.#report(error));
    return result;
  }

  /** Retires the notes that the stable version does not need. */
  async #reviewNotes(head: LineHead): Promise<void> {
    if (head.notesEpoch === null) return;
    const { edge, metrics, reviewNotes } = this.#deps;
    const notes = await edge.readNotes(this.#line);
    if (notes.length === 0) return;
    for (const { noteId, text } of await reviewNotes(head, { notes, turns: this.#window.cache.turns() })) {
      const { status } = await edge.absorbNote(this.#line, noteId, { version: head.stable });
      if (status === "absorbed") metrics("note:absorbed", { agent: head.agent, noteId, text, version: head.stable });
    }
  }

  /** What costs notes alone, and is tried again by the next step. */
  #report(error: unknown): void {
    this.#deps.metrics("feed:retried", { agent: this.#line.agent, ...toErrorRecord(error), delayMs: 0 });
  }

  async #update(batch: Batch): Promise<StepResult> {
    const { learner, metrics, loadAdapter, config } = this.#deps;
    const { head } = batch;
    const seed = config.seed + batch.toSeq;
    const parent = await loadAdapter(head);
    const update = learner.update({
      corrected: batch.corrected.map(({ signal, verdict }) => toCorrected(signal, verdict)),
      replay: toReplay(this.#window.cache.turns()),
      parent,
      baseline: runningBaseline(this.#window.cache.rewards(head.cursor)),
      objective: head.settings.learning.objective,
      seed,
    });
    await this.#judgeDuring(update, head);
    const outcome = await update;
    if (outcome.status === "refused") {
      metrics("update:refused", {
        agent: head.agent,
        codes: outcome.refused.map(({ code }) => code),
        details: outcome.refused.map(({ detail }) => detail),
      });
      return this.#advance(batch, outcome.refused);
    }
    metrics("update:learned", { agent: head.agent, ...outcome.metrics });
    return this.#publish(batch, outcome, seed);
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
        await this.#judgeNew(head, () => !running);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  async #publish(batch: Batch, outcome: Extract<UpdateOutcome, { status: "learned" }>, seed: number): Promise<StepResult> {
    const { edge, metrics, writeAdapter, runtime } = this.#deps;
    const { head, toSeq } = batch;
    const { refused } = outcome;
    const refusedIds = new Set(refused.map(({ eventId }) => eventId));
    const used = batch.corrected.filter(({ signal }) => !refusedIds.has(signal.event.eventId));
    const manifest: Omit<PolicyManifest, "adapter"> = {
      agent: head.agent,
      line: head.line,
      parent: head.parent,
      baseDigest: head.baseDigest,
      fromSeq: head.cursor,
      toSeq,
      events: used.map(({ signal, verdict }) => toLineage(signal, verdict, outcome.lifts.get(signal.event.eventId))),
      hints: [...new Set(used.flatMap(({ verdict }) => (verdict.hint === undefined ? [] : [verdict.hint.text])))],
      metrics: outcome.metrics,
      changes: [...outcome.changes],
      seed,
      runtime: { ...runtime },
    };
    const result = await publishVersion(edge, writeAdapter(outcome.adapter), { manifest, refused: refusalsOf(batch, { refused, used }) });
    if (result.status === "stale") metrics("policy:stale", { agent: head.agent, parent: head.parent });
    else
      metrics("policy:published", {
        agent: head.agent,
        version: result.version,
        parent: head.parent,
        hints: manifest.hints,
        seconds: outcome.metrics.seconds,
      });
    if (result.status === "published") this.#forget(toSeq);
    return result.status;
  }

  /** Consumes events without an update, with the reason for every signal among them. */
  async #advance(batch: Batch, refused: readonly Refusal[]): Promise<StepResult> {
    const { head, toSeq } = batch;
    const all = refusalsOf(batch, { refused, used: [] });
    const { status } = await this.#deps.edge.advanceCursor(this.#line, { from: head.cursor, to: toSeq, refused: all });
    if (status === "stale") return "stale";
    this.#forget(toSeq);
    if (all.length > 0)
      this.#deps.metrics("cursor:advanced", { agent: head.agent, from: head.cursor, to: toSeq, refused: countRefusals(all) });
    return "advanced";
  }

  /** What to do with the pending events now, or undefined while there is reason to wait. */
  #assemble(head: LineHead): Batch | undefined {
    const last = this.#window.pending.at(-1);
    if (last === undefined) return undefined;
    const judged = [...this.#judged.values()];
    const refusals = [...this.#refusals.values()];
    const candidates = judged.filter(({ verdict }) => verdict.hint !== undefined);
    const { kept, dropped } = capShares(candidates, ({ signal }) => signal.event.user, this.#deps.config.userShare);
    const over = dropped.map(({ signal }): Refusal => ({
      eventId: signal.event.eventId,
      code: "user/overShare",
      detail: `more than ${this.#deps.config.userShare} of the batch is of this user`,
    }));
    const batch = {
      head,
      toSeq: last.seq,
      judged,
      corrected: head.settings.learning.enabled ? kept : [],
      refusals: [...refusals, ...over],
    };
    if (candidates.length > 0)
      return kept.length >= head.settings.learning.minSignals || this.#patienceMs(head) <= 0 || !head.settings.learning.enabled
        ? batch
        : undefined;
    return judged.length + refusals.length > 0 || this.#window.pending.length >= QUIET_EVENTS ? batch : undefined;
  }

  /** @param stop asked before each signal */
  async #judgeNew(head: LineHead, stop: () => boolean = () => false): Promise<void> {
    const { judge, metrics, config, edge, now } = this.#deps;
    const logged = new Map(
      this.#window.pending.flatMap(({ payload }) => (payload.kind === "judgement:made" ? [[payload.subject, payload] as const] : [])),
    );
    for (const event of this.#window.pending) {
      if (stop()) return;
      if (this.#judged.has(event.eventId) || this.#refusals.has(event.eventId)) continue;
      const assembled = await this.#pair(event);
      if (assembled === undefined) continue;
      if (assembled.status === "refused") {
        this.#refusals.set(event.eventId, assembled.refusal);
        metrics("signal:refused", { agent: head.agent, ...assembled.refusal });
        continue;
      }
      const { signal } = assembled;
      const known = logged.get(event.eventId);
      const verdict =
        known === undefined
          ? await judge.judge(signal, { votes: head.settings.learning.votes, seed: config.seed + event.seq })
          : verdictFromLog(known, signal);
      if (verdict === undefined) continue;
      // Logged before it counts: where the edge is away the next step judges again, with the same seed. One with a hint is
      // told again after a restart: the log may have it, and the agent not yet its note.
      const made = toJudgement(signal, verdict, now());
      if (known === undefined) await edge.postJudgements({ judgements: [made] });
      else if (known.hint !== undefined) await edge.postJudgements({ judgements: [{ ...made, payload: known }] });
      await edge.postJudgements({ judgements: [toJudgement(signal, verdict, now())] });
      this.#judged.set(event.eventId, { signal, verdict });
      metrics("signal:judged", {
        agent: head.agent,
        eventId: event.eventId,
        judge: verdict.judge,
        reward: verdict.reward,
        votes: verdict.votes,
        hint: verdict.hint?.text,
        refused: verdict.refused?.code,
      });
    }
  }

  /** The event with its turn; one that is further back than the cache goes is read from the log again. */
  async #pair(event: LoggedEvent): Promise<Assembled | undefined> {
    const paired = assembleSignal(event, this.#window.cache);
    if (paired?.status !== "refused" || paired.refusal.code !== "turn/unknown") return paired;
    const turns = await this.#deps.edge.readTurns({ agent: event.agent, session: event.sessionId });
    turns.forEach((turn) => this.#window.cache.add(turn));
    return assembleSignal(event, this.#window.cache);
  }

  /** Drops what is consumed, by us or by another trainer of the line. */
  #forget(cursor: number): void {
    this.#window.forget(cursor);
    const open = new Set(this.#window.pending.map(({ eventId }) => eventId));
    for (const eventId of [...this.#judged.keys(), ...this.#refusals.keys()].filter((each) => !open.has(each))) {
      this.#judged.delete(eventId);
      this.#refusals.delete(eventId);
    }
  }

  /** How much longer the oldest pending correction may wait, ms. */
  #patienceMs(head: LineHead): number {
    const [oldest] = [...this.#judged.values()].filter(({ verdict }) => verdict.hint !== undefined);
    const waitedMs = oldest === undefined ? 0 : this.#deps.now().getTime() - Date.parse(oldest.signal.event.createdAt);
    return Math.max(0, head.settings.learning.maxWaitMs - waitedMs);
  }
}
