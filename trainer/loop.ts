/**
 * The learning loop of one line, one step at a time: pull → judge → assemble → update → gate → publish.
 * The line's cursor says what is consumed; a publish or an advance moves it by compare-and-set, so an event trains
 * at most once whatever crashes in between.
 */
import { capabilitiesOf, engineTitle } from "../shared/engine.ts";
import type { LineHead } from "../shared/policy.ts";
import { type ActsOn, actsOnFor } from "./config.ts";
import { isOfBase } from "./data/exchange.ts";
import type { LineName } from "./feed/edge-port.ts";
import { reportFailure } from "./feed/retry.ts";
import { type Batch, signalsAmong } from "./learn/batch/batch.ts";
import type { LineDependencies, StepResult } from "./line-dependencies.ts";
import { LineEvents } from "./line-events.ts";
import { LineUpdate } from "./line-update.ts";
import { Patience } from "./patience.ts";
import { hasBase } from "./policy/parent.ts";
import { Progress } from "./progress.ts";

const QUIET_EVENTS = 200; // so many events without a signal are consumed without one

export class LineLoop {
  readonly #line: LineName;
  readonly #deps: LineDependencies;
  readonly #events: LineEvents;
  readonly #progress: Progress;
  readonly #update: LineUpdate;
  readonly #patience = new Patience();
  /** As of the last step. */
  #learning: LineHead["settings"]["learning"] | undefined;
  #told: ActsOn | undefined;

  constructor(line: LineName, deps: LineDependencies) {
    this.#line = line;
    this.#deps = deps;
    this.#events = new LineEvents(line, deps);
    this.#progress = new Progress(
      (status) => deps.edge.reportStatus(line, status),
      () => {
        const open = this.#learning === undefined ? [] : this.#events.signals.learnable(this.#learning);
        return { corrections: open.length, waitingSince: open[0]?.signal.event.createdAt ?? null };
      },
    );
    this.#update = new LineUpdate(line, deps, { events: this.#events, progress: this.#progress });
  }

  /** Whose lines the agent's users teach, as of the last step. */
  get scope(): LineHead["settings"]["learning"]["scope"] {
    return this.#learning?.scope ?? "shared";
  }

  /** When a step has something to do without news, ms; undefined where it has not. */
  get dueInMs(): number | undefined {
    const { judgeAgainInMs, signals } = this.#events;
    if (judgeAgainInMs !== undefined) return judgeAgainInMs;
    if (this.#learning === undefined || signals.learnable(this.#learning).length === 0) return undefined;
    return this.#patienceMs(this.#learning);
  }

  /** One step; returns what it came to. `waitMs` bounds the long poll. */
  async step(waitMs: number): Promise<StepResult> {
    const known = await this.#deps.edge.readHead(this.#line);
    if (!(await hasBase(this.#deps.loadAdapter, known))) return "foreign";
    const { window, signals } = this.#events;
    await window.open(known.cursor);
    this.#learning = known.settings.learning;
    const waiting = signals.learnable(known.settings.learning).length > 0;
    // What was judged while an update ran may be enough for the next.
    const ready = this.#assemble(known) !== undefined;
    this.#progress.tell(waiting ? "waiting" : "watching");
    await this.#events.pull(ready ? 0 : waiting ? Math.min(waitMs, this.#patienceMs(known.settings.learning)) : waitMs);
    // Settings and stable version may have changed while it waited.
    const head = await this.#deps.edge.readHead(this.#line);
    if (!(await hasBase(this.#deps.loadAdapter, head))) return "foreign";
    this.#tellActs(head);
    this.#events.forget(head.cursor);
    if (head.rebuild !== null) return this.#update.rebuild(head);
    await signals.judgeNew(head, { onJudging: (counted) => this.#progress.tell("judging", counted) });
    await signals.reopen(head);
    const batch = this.#assemble(head);
    if (batch !== undefined && batch.learnable.length > 0) return this.#update.run(batch);
    const result = batch === undefined ? (window.pending.length > 0 ? "waiting" : "idle") : await this.#events.advance(batch, []);
    await this.#reviewNotes(head).catch((error: unknown) => reportFailure(this.#deps.metrics, this.#line.agent, error));
    return result;
  }

  /** What to do with the open signals now, or undefined while there is reason to wait. */
  #assemble(head: LineHead): Batch | undefined {
    const { judged, refusals, frontier } = this.#events.signals;
    const pending = this.#events.window.pending.filter(({ seq }) => seq < frontier);
    const last = pending.at(-1);
    if (last === undefined && judged.length + refusals.length === 0) return undefined;
    const { learning } = head.settings;
    const candidates = this.#events.signals.learnable(learning);
    const learns = learning.enabled && capabilitiesOf(head.settings.engine).adapters;
    const batch = { head, toSeq: last?.seq ?? head.cursor, judged, learnable: learns ? candidates : [], refusals };
    if (candidates.length > 0)
      return signalsAmong(candidates) >= learning.minSignals || this.#patienceMs(learning) <= 0 || !learns ? batch : undefined;
    return judged.length + refusals.length > 0 || pending.length >= QUIET_EVENTS ? batch : undefined;
  }

  /** Retires the notes that the stable version does not need. */
  async #reviewNotes(head: LineHead): Promise<void> {
    if (head.notesEpoch === null) return;
    const { edge, metrics, reviewNotes } = this.#deps;
    const notes = await edge.readNotes(this.#line);
    if (notes.length === 0) return;
    for (const { noteId, text } of await reviewNotes(head, {
      notes,
      turns: this.#events.window.cache.turns().filter((turn) => isOfBase(turn, head)),
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

  /** How much longer the oldest pending signal may wait, ms. */
  #patienceMs(learning: LineHead["settings"]["learning"]): number {
    const [oldest] = this.#events.signals.learnable(learning);
    const { maxWaitMs } = learning;
    return oldest === undefined ? maxWaitMs : this.#patience.leftMs(oldest.signal.event, { maxWaitMs, now: this.#deps.now() });
  }
}
