/** Tells the edge what a line's loop is doing, for people to see: the newest word only, now and then, and nothing waits for it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TrainerStatus } from "../shared/trainer-status.ts";

const EVERY_MS = 400;

export type Counted = { readonly done: number; readonly of: number };

export class Progress {
  readonly #send: (status: TrainerStatus) => Promise<void>;
  readonly #waiting: () => Pick<TrainerStatus, "corrections" | "waitingSince">;
  #next: TrainerStatus | undefined;
  #sending = false;

  constructor(send: (status: TrainerStatus) => Promise<void>, waiting: () => Pick<TrainerStatus, "corrections" | "waitingSince">) {
    this.#send = send;
    this.#waiting = waiting;
  }

  tell(phase: TrainerStatus["phase"], { done, of }: Counted = { done: 0, of: 0 }): void {
    this.#next = { phase, done, of, ...this.#waiting() };
    if (!this.#sending) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#sending = true;
    for (let status = this.#next; status !== undefined; status = this.#next) {
      this.#next = undefined;
      await this.#send(status).catch(() => undefined); // best effort: an edge that is away shows an old word until the next
      await sleep(EVERY_MS, undefined, { ref: false });
    }
    this.#sending = false;
  }
}
