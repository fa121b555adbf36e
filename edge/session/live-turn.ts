/**
 * An answer as it comes, for any number of readers: the request that began it and retries that joined it.
 * What was sampled is kept, so a reader who comes late reads it from the start.
 */
import type { TurnDelta, TurnHead } from "./port.ts";

export type LiveTurnEvents = {
  /** Every reader has gone before the end. */
  readonly onAbandoned?: () => void;
  /** The final chunk is about to be handed to a reader. */
  readonly onDelivered?: () => void;
};

export class LiveTurn {
  readonly head: TurnHead;
  readonly #events: LiveTurnEvents;
  readonly #deltas: TurnDelta[] = [];
  #ended = false;
  #readers = 0;
  #wake: () => void = () => undefined;
  #more = new Promise<void>(() => undefined);

  constructor(head: TurnHead, events: LiveTurnEvents = {}) {
    this.head = head;
    this.#events = events;
    this.#rearm();
  }

  /** A turn that is over, to be read again. */
  static recorded(head: TurnHead, deltas: readonly TurnDelta[], events: LiveTurnEvents = {}): LiveTurn {
    const turn = new LiveTurn(head, events);
    turn.push(...deltas);
    turn.end();
    return turn;
  }

  push(...deltas: TurnDelta[]): void {
    if (deltas.length === 0) return;
    this.#deltas.push(...deltas);
    this.#rearm();
  }

  /** No more deltas come. */
  end(): void {
    this.#ended = true;
    this.#rearm();
  }

  /** The deltas from the first to the last, a JSON object per line. */
  read(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let position = 0;
    let left = false;
    this.#readers += 1;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      while (position === this.#deltas.length && !this.#ended) await this.#more;
      if (left) return; // a pull that was waiting outlives its reader
      const lines = this.#deltas.slice(position).map((delta) => `${JSON.stringify(delta)}\n`);
      position += lines.length;
      const last = this.#ended && position === this.#deltas.length;
      // An answer that failed has no final chunk: whoever asks again goes on from what is on record.
      if (last && this.#deltas.at(-1)?.kind === "finished") this.#events.onDelivered?.();
      if (lines.length > 0) controller.enqueue(encoder.encode(lines.join("")));
      if (last) controller.close();
    };
    const cancel = (): void => {
      left = true;
      this.#leave();
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  #leave(): void {
    this.#readers -= 1;
    if (this.#readers === 0 && !this.#ended) this.#events.onAbandoned?.();
  }

  #rearm(): void {
    this.#wake();
    this.#more = new Promise((resolve) => (this.#wake = resolve));
  }
}
