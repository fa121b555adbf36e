/** Runs a session's turns, or steps of its chores, one after another, in the order in which they came. */
export class TurnQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs `turn` once everything before it has ended, well or not. */
  run<Value>(turn: () => Promise<Value>): Promise<Value> {
    const run = this.#tail.then(turn);
    this.#tail = run.catch(() => undefined); // the caller sees the failure; the queue goes on
    return run;
  }
}
