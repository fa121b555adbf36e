/** When an agent's object looks after its lines by itself: its one alarm, for canaries, for files that are to go, and for its engine. */
import type { EngineLine } from "./engine-line.ts";
import type { Lines } from "./lines.ts";
import type { AgentStore } from "./store.ts";
import type { StoredFiles } from "./stored-files.ts";
import type { Trials } from "./trials.ts";
import type { Weights } from "./weights.ts";

/** How often a canary is looked at where nothing happens: its patience and its traffic are counted in days. */
const LOOK_MS = 3_600_000;
/** Isolates answer under a head that is up to two seconds old. */
const DROP_MS = 5_000;
/** A trial that was not looked at is looked at after this. */
const SOON_MS = 10_000;

type Parts = {
  readonly ctx: Pick<DurableObjectState, "storage" | "waitUntil">;
  readonly store: AgentStore;
  readonly lines: Lines;
  readonly files: StoredFiles;
  readonly trials: Trials;
  readonly engine: EngineLine;
  readonly weights: Weights;
};

export class Schedule {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the alarm does. */
  async ring(): Promise<void> {
    const { store, engine, weights } = this.#parts;
    for (const line of store.lines()) this.decide(line, new Date());
    await weights.drop();
    await engine.sweep(Date.now());
    await this.planLook();
    await this.planSweep();
  }

  decide(line: string, now: Date): void {
    const { ctx, store, lines, trials, files } = this.#parts;
    const look = store.transaction(() => trials.decide(line, now.getTime()));
    if (look.status === "later") ctx.waitUntil(this.#wakeBy(Date.now() + SOON_MS));
    if (look.status !== "won") return;
    const checked = files.fault(line, lines.begunBy(line, look.version));
    ctx.waitUntil(checked.then((fault) => store.transaction(() => trials.promote(line, look, fault))));
  }

  /** A canary that hears of nothing is looked at by the alarm; so are files that are to go, once no isolate can ask for them. */
  async planLook(drops = false): Promise<void> {
    const { ctx, trials } = this.#parts;
    // Not sooner, whatever else is planned.
    if (drops) await ctx.storage.setAlarm(Date.now() + DROP_MS);
    else if (trials.running) await this.#wakeBy(Date.now() + LOOK_MS);
  }

  async planSweep(): Promise<void> {
    const at = this.#parts.engine.sweepAt(Date.now());
    if (at !== undefined) await this.#wakeBy(at);
  }

  async #wakeBy(at: number): Promise<void> {
    const { storage } = this.#parts.ctx;
    const planned = await storage.getAlarm();
    if (planned === null || planned > at) await storage.setAlarm(at);
  }
}
