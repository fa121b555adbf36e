/**
 * Recent events of one agent, bounded: turns that next states point at, turns to replay, rewards for the baseline.
 * A restart fills it again from the log, so it is never the truth about anything.
 */
import type { LoggedEvent } from "../../shared/events.ts";
import type { LoggedTurn, TurnLookup } from "../data/exchange.ts";

export class EventCache implements TurnLookup {
  readonly #turns = new Map<string, LoggedTurn>();
  readonly #rewards = new Map<string, { seq: number; reward: number }>();
  readonly #capacity: number;

  /** @param capacity most turns, and most rewards, that are kept */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(event: LoggedEvent): void {
    const { payload } = event;
    if (payload.kind === "turn:finished")
      keep(this.#turns, { key: payload.completionId, value: { ...event, payload }, capacity: this.#capacity });
    if (payload.kind === "user:deleted") this.#forget(event);
    if (payload.kind === "judgement:made")
      keep(this.#rewards, { key: payload.subject, value: { seq: event.seq, reward: payload.reward }, capacity: this.#capacity });
  }

  /** Drops what a deleted user had said before. */
  #forget({ user, seq }: LoggedEvent): void {
    for (const [key, turn] of this.#turns) if (turn.user === user && turn.seq < seq) this.#turns.delete(key);
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

  /** Rewards that were logged up to `seq`, in log order: the same whenever, and by whomever, the log is read. */
  rewards(seq: number): readonly number[] {
    return [...this.#rewards.values()]
      .filter((each) => each.seq <= seq)
      .sort((a, b) => a.seq - b.seq)
      .map(({ reward }) => reward);
  }
}

/** Maps keep insertion order, so the first key is the oldest. */
function keep<T>(map: Map<string, T>, { key, value, capacity }: { key: string; value: T; capacity: number }): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > capacity && oldest !== undefined) map.delete(oldest);
}
