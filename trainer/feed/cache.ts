/**
 * Recent events of one line, bounded: turns that next states point at, turns to replay, rewards for the baseline.
 * A restart fills it again from the log, so it is never the truth about anything.
 */
import type { LoggedEvent } from "../../shared/events.ts";
import { Recent } from "../../shared/recent.ts";
import type { LoggedTurn, TurnLookup } from "../data/exchange.ts";

type Rewarded = { readonly seq: number; readonly turnId: string; readonly user: string; readonly reward: number };

export class EventCache implements TurnLookup {
  readonly #turns: Recent<string, LoggedTurn>;
  readonly #rewards: Recent<string, Rewarded>;

  /** @param capacity most turns, and most rewards, that are kept */
  constructor(capacity: number) {
    this.#turns = new Recent(capacity);
    this.#rewards = new Recent(capacity);
  }

  add(event: LoggedEvent): void {
    const { payload } = event;
    if (payload.kind === "turn:finished") this.#turns.set(payload.completionId, { ...event, payload });
    if (payload.kind === "user:deleted") this.#forget(event);
    if (payload.kind === "judgement:made") {
      const { seq, turnId, user } = event;
      const { subject, judge, reward } = payload;
      // That a call merely ran is no outcome: nobody has judged what came of it.
      if (judge !== "verifiable" || reward !== 0) this.#rewards.set(subject, { seq, turnId, user, reward });
    }
  }

  /** Drops what a deleted user had said before. */
  #forget({ user, seq }: LoggedEvent): void {
    for (const kept of [this.#turns, this.#rewards])
      for (const [key, each] of kept) if (each.user === user && each.seq < seq) kept.delete(key);
  }

  byCompletion(completionId: string): LoggedTurn | undefined {
    return this.#turns.get(completionId);
  }

  ofSession(sessionId: string): readonly LoggedTurn[] {
    return this.turns().filter((turn) => turn.sessionId === sessionId);
  }

  /** Turns in log order. */
  turns(): readonly LoggedTurn[] {
    return [...this.#turns.values()].sort((a, b) => a.seq - b.seq);
  }

  /** Turns whose next state was judged +1 up to `seq`. */
  approved(seq: number): ReadonlySet<string> {
    const ids = [...this.#rewards].filter(([, each]) => each.seq <= seq && each.reward > 0).map(([subject]) => subject);
    return new Set(ids.map((subject) => subject.replace(/\/next$/, "")));
  }

  /** Outcomes that were logged up to `seq`, without those of `barred` turns, in log order: the same whenever, and by whomever, the log is read. */
  rewards(seq: number, barred: ReadonlySet<string> = new Set()): readonly number[] {
    return [...this.#rewards.values()]
      .filter((each) => each.seq <= seq && !barred.has(each.turnId))
      .sort((a, b) => a.seq - b.seq)
      .map(({ reward }) => reward);
  }
}
