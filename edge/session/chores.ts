/**
 * What a session does beside answering: it closes turns that were cut off, pays what it owes to the log, closes when
 * idle, and disappears once nothing leads to it. The object's one alarm drives all of it; see alarm.ts for when.
 */
import { directoryOf } from "../directory/client.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { isForgotten, isIdle, nextAlarm, parseIdleMs, type Pending } from "./alarm.ts";
import { sessionClosed, turnAborted } from "./events.ts";
import { owes, payOwed } from "./outbox.ts";
import type { SessionStore } from "./store.ts";
import { TurnQueue } from "./turn-queue.ts";

export class SessionChores {
  readonly #env: Env;
  readonly #storage: DurableObjectStorage;
  readonly #store: SessionStore;
  /** Whether a turn is being sampled in this object. */
  readonly #runs: (turnId: string) => boolean;
  /** Waits for the turns that have come, and lets no other begin meanwhile. */
  readonly #inOrder: (step: () => Promise<void>) => Promise<void>;
  /** One step at a time; what is enqueued meanwhile is seen by whoever waits here. */
  readonly #steps = new TurnQueue();
  #failures = 0;

  constructor(options: {
    env: Env;
    storage: DurableObjectStorage;
    store: SessionStore;
    runs: (turnId: string) => boolean;
    inOrder: (step: () => Promise<void>) => Promise<void>;
  }) {
    this.#env = options.env;
    this.#storage = options.storage;
    this.#store = options.store;
    this.#runs = options.runs;
    this.#inOrder = options.inOrder;
  }

  /** Aborts turns that are open and that nobody samples: their Worker died. */
  abortOrphans(): void {
    const session = this.#store.state();
    if (session === undefined) return;
    const now = Date.now();
    for (const { turnId, stored, ...opened } of this.#store.openTurns().filter((turn) => !this.#runs(turn.turnId)))
      this.#store.transaction(() => {
        this.#store.abortTurn(turnId);
        if (!stored) return; // the log has nothing of what may not be kept, however it ended
        this.#store.enqueue(turnAborted({ session, turnId, now }, { ...opened, reason: "the Worker died while the turn was open" }));
      });
  }

  /** The alarm's work. */
  async ring(): Promise<void> {
    this.abortOrphans();
    const now = Date.now();
    if (isIdle(this.#pending(), now)) this.#closeIdle(now);
    await this.pay();
    if (isForgotten(this.#pending(), now)) await this.#forget();
  }

  /** Pays what is owed, or ends the session of a deleted user: now if possible, else by the alarm. What fails is logged and stays to be done. */
  async pay(): Promise<void> {
    const begunAt = await this.#steps.run(() => this.#payOnce());
    if (begunAt === undefined) return;
    try {
      await this.#inOrder(async () => {
        // Where it has ended meanwhile, whoever has come since has begun another.
        if (this.#store.begunAt() === begunAt) await this.erase();
      });
    } catch (thrown) {
      this.#countFailure("session:unerased", thrown);
      await this.planAlarm();
    }
  }

  async planAlarm(): Promise<void> {
    await this.#storage.setAlarm(nextAlarm(this.#pending(), { now: Date.now(), random: Math.random() }));
  }

  /** @returns where the session is to end, when it began: its user was deleted, and nobody told it, as the log had nothing of it yet */
  async #payOnce(): Promise<number | undefined> {
    if (this.#store.state() === undefined) return undefined;
    const begunAt = this.#store.begunAt();
    let isErasable = false;
    try {
      isErasable = (await payOwed(this.#env, this.#store)) === "deleted";
      if (!isErasable) this.#failures = 0;
    } catch (thrown) {
      this.#countFailure("outbox:unwritten", thrown);
    }
    await this.planAlarm(); // also for a session that is to end: it may not come to it
    return isErasable ? begunAt : undefined;
  }

  #countFailure(event: "outbox:unwritten" | "session:unerased", thrown: unknown): void {
    this.#failures += 1;
    logError(event, thrown, { sessionId: this.#store.state()?.sessionId, failures: this.#failures });
  }

  #closeIdle(now: number): void {
    const session = this.#store.state();
    const turnId = this.#store.lastTurnId();
    if (session === undefined || turnId === undefined) return;
    this.#store.transaction(() => {
      this.#store.close(now);
      this.#store.enqueue(sessionClosed({ session, turnId, now }, "idle"));
    });
  }

  /** Nothing of the session is left, here or in the directory. */
  async erase(): Promise<void> {
    await this.#steps.run(async () => {
      const session = this.#store.state();
      if (session === undefined) return;
      for (const { answerDigest } of this.#store.answeredTurns())
        await directoryOf(this.#env, answerDigest).forget(answerDigest, session.name);
      await this.#forget();
    });
  }

  async #forget(): Promise<void> {
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }

  #pending(): Pending {
    const idleMs = parseIdleMs(this.#env.SESSION_IDLE_MS);
    const session = this.#store.state();
    if (session === undefined) return { open: false, unwritten: false, failures: 0, activeAt: Date.now(), closedAt: null, idleMs };
    const { activeAt, closedAt } = session;
    return { open: this.#store.openTurns().length > 0, unwritten: owes(this.#store), failures: this.#failures, activeAt, closedAt, idleMs };
  }
}
