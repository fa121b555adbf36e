/** The log of one line as its loop sees it: read on, judged, and consumed. What is held here is rebuilt from the log. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LineHead } from "../shared/policy.ts";
import { countRefusals, reasonsOf, type Refusal } from "./data/refusal.ts";
import type { LineName } from "./feed/edge-port.ts";
import { reportFailure } from "./feed/retry.ts";
import { EventWindow } from "./feed/window.ts";
import { refusalsOf, type Batch } from "./learn/batch/batch.ts";
import type { LineDependencies, StepResult } from "./line-dependencies.ts";
import { Signals } from "./signals.ts";

const JUDGE_EVERY_MS = 500; // while an update runs
const JUDGE_AGAIN_MS = 2_000; // where it was away
const MOST_PENDING = 300; // events beyond the cursor, above which judging waits for the update: what they say goes into one audit row

export class LineEvents {
  readonly window: EventWindow;
  readonly signals: Signals;
  readonly #line: LineName;
  readonly #deps: LineDependencies;

  constructor(line: LineName, deps: LineDependencies) {
    this.#line = line;
    this.#deps = deps;
    this.window = new EventWindow(line, { edge: deps.edge, cacheTurns: deps.config.cacheTurns });
    this.signals = new Signals(line, deps, this.window);
  }

  /** When a judge that was away is asked again, ms; undefined where none was. */
  get judgeAgainInMs(): number | undefined {
    return this.signals.frontier === Number.POSITIVE_INFINITY ? undefined : JUDGE_AGAIN_MS;
  }

  /** Reads on; while a judge is away it is not waited for longer than for the judge, and no more is read than can be kept. */
  async pull(waitMs: number): Promise<void> {
    const patienceMs = Math.min(waitMs, this.judgeAgainInMs ?? waitMs);
    if (patienceMs < waitMs && this.window.pending.length >= MOST_PENDING) await sleep(patienceMs);
    else await this.window.pull(patienceMs);
  }

  /** Judges what arrives while an update runs: its notes are to be in force in seconds. What fails here is tried again. */
  async judgeDuring(update: Promise<unknown>, head: LineHead): Promise<void> {
    let running = true;
    const end = (): boolean => (running = false);
    const ended = update.then(end, end);
    for (;;) {
      await Promise.race([ended, sleep(JUDGE_EVERY_MS)]);
      if (!running) return;
      try {
        if (this.window.pending.length < MOST_PENDING) await this.window.pull(0);
        await this.signals.judgeNew(head, { stop: () => !running });
      } catch (error) {
        if (this.#deps.signal?.aborted !== true) reportFailure(this.#deps.metrics, this.#line.agent, error);
      }
    }
  }

  /** Consumes events without an update, with the reason for every signal among them. */
  async advance(batch: Batch, refused: readonly Refusal[]): Promise<StepResult> {
    const { head, toSeq } = batch;
    const all = refusalsOf(batch, { refused, used: [], takesPlace: false });
    const { status } = await this.#deps.edge.advanceCursor(this.#line, { from: head.cursor, to: toSeq, refused: all });
    if (status === "stale") return "stale";
    this.forget(toSeq);
    if (all.length > 0) {
      const why = reasonsOf(all);
      this.#deps.metrics("cursor:advanced", { agent: head.agent, from: head.cursor, to: toSeq, refused: countRefusals(all), why });
    }
    return "advanced";
  }

  /** Drops what is consumed, by us or by another trainer of the line. */
  forget(cursor: number): void {
    this.window.forget(cursor);
    this.signals.forget();
  }
}
