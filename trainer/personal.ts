/**
 * Works for the personal lines of an agent, beside its shared one: for each as it has news, and again when something waits that time
 * alone makes due. Loops of lines that are idle are let go; what they knew is in the log.
 */
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import { pause, retryForever, type RetryOptions } from "./feed/retry.ts";
import type { LineLoop } from "./loop.ts";

type Loop = Pick<LineLoop, "step" | "dueInMs">;

export type PersonalOptions = {
  readonly edge: Pick<EdgePort, "dueLines">;
  readonly agent: string;
  readonly openLoop: (line: LineName) => Loop;
  /** Of a long poll. */
  readonly waitMs: number;
  readonly retry: Omit<RetryOptions, "signal">;
};

/** Updates wait for each other anyway; so many users are judged, and have their notes, while one of them learns. */
const AT_ONCE = 16;
const MOST_LOOPS = 32;
const STALE_MS = 2_000; // until what a line stands over may have settled: a shared line that has to be rebuilt is no ground
const PAUSE_MS = 500; // where the edge names lines that could do nothing

export class PersonalLines {
  readonly #options: PersonalOptions;
  readonly #loops = new Map<string, Loop>();
  readonly #running = new Map<string, Promise<void>>();
  /** When lines have something to do without news, by `performance.now()`: nobody sets that clock back. */
  readonly #due = new Map<string, number>();
  /** Of those that run, the ones that something was told about meanwhile. */
  readonly #again = new Set<string>();
  #cursor = 0;
  #moved = false;

  constructor(options: PersonalOptions) {
    this.#options = options;
  }

  /** Returns when it is told to stop, with no step under way. @throws what a line cannot go on with */
  async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    while (!both.aborted) {
      const lines = await this.#next(both);
      for (const line of lines) {
        // What is told while a line steps may have come after it looked.
        if (this.#running.has(line)) {
          this.#again.add(line);
          continue;
        }
        while (this.#running.size >= AT_ONCE) await Promise.race(this.#running.values());
        const run = this.#work(line, both)
          .catch((error: unknown) => failed.abort(error))
          .finally(() => this.#running.delete(line));
        this.#running.set(line, run);
      }
    }
    await Promise.all(this.#running.values());
    failed.signal.throwIfAborted();
  }

  /** The lines that have something to do now. */
  async #next(signal: AbortSignal): Promise<string[]> {
    const { edge, agent, waitMs, retry } = this.#options;
    const soonest = Math.min(...this.#due.values());
    const patienceMs = Math.max(0, Math.min(waitMs, Math.ceil(soonest - performance.now())));
    const ask = () => edge.dueLines({ agent, cursor: this.#cursor, waitMs: patienceMs });
    const answer = await retryForever(ask, { ...retry, signal });
    const told = answer?.lines ?? [];
    if (told.length > 0 && !this.#moved && told.every((line) => this.#loops.has(line))) await pause(PAUSE_MS, signal);
    this.#moved = false;
    this.#cursor = Math.max(this.#cursor, answer?.cursor ?? 0);
    const now = performance.now();
    const due = [...this.#due].filter(([, at]) => at <= now).map(([line]) => line);
    return [...new Set([...told, ...due])];
  }

  /** Steps until the line has nothing more to do. */
  async #work(line: string, signal: AbortSignal): Promise<void> {
    const loop = this.#open(line);
    // Met by this run: left there it would be due again for as long as the run lasts, and the run would last for as long as it is due.
    this.#due.delete(line);
    let stale = false;
    while (!signal.aborted) {
      const result = await retryForever(() => loop.step(0), { ...this.#options.retry, signal });
      stale = result === "stale";
      const moved = result === "published" || result === "advanced";
      this.#moved ||= moved;
      if (!moved && !this.#again.delete(line)) break;
    }
    const dueInMs = stale ? STALE_MS : loop.dueInMs;
    if (dueInMs !== undefined) this.#due.set(line, performance.now() + dueInMs);
  }

  /** The line's loop, as the one used last; the one that was not used for longest is let go. */
  #open(line: string): Loop {
    const loop = this.#loops.get(line) ?? this.#options.openLoop({ agent: this.#options.agent, line });
    this.#loops.delete(line);
    this.#loops.set(line, loop);
    for (const oldest of this.#loops.keys()) {
      if (this.#loops.size <= MOST_LOOPS) break;
      if (!this.#running.has(oldest) && oldest !== line) this.#loops.delete(oldest);
    }
    return loop;
  }
}
