/**
 * What a line's loop sees of the log: events beyond the line's cursor, and behind it those that later ones point at.
 * It is rebuilt from the log at every start.
 */
import type { LoggedEvent } from "../../shared/events.ts";
import { EventCache } from "./cache.ts";
import type { EdgePort, LineName } from "./edge-port.ts";

const WARM_EVENTS = 1_000; // of the line, read again before the cursor at a start: turns that coming next states point at
const WIDER = 2; // a look further back, where a span held fewer
const PAGE_EVENTS = 100; // the most that the feed gives at once

export class EventWindow {
  readonly cache: EventCache;
  readonly #line: LineName;
  readonly #edge: Pick<EdgePort, "pull">;
  #readSeq: number | undefined;
  #pending: LoggedEvent[] = [];

  constructor(line: LineName, { edge, cacheTurns }: { edge: Pick<EdgePort, "pull">; cacheTurns: number }) {
    this.#line = line;
    this.#edge = edge;
    this.cache = new EventCache(cacheTurns);
  }

  /** The line's events beyond its cursor, in order. */
  get pending(): readonly LoggedEvent[] {
    return this.#pending;
  }

  /** Fills the cache with the line's last events before the cursor, once; reading goes on from there. */
  async open(cursor: number): Promise<void> {
    if (this.#readSeq !== undefined) return;
    // All lines of all agents share one sequence, so a line's own events may lie far apart.
    let events: readonly LoggedEvent[] = [];
    let from = cursor;
    for (let span = WARM_EVENTS; from > 0 && events.length < WARM_EVENTS; span *= WIDER) {
      const to = from;
      from = Math.max(0, cursor - span);
      events = [...(await this.#readLast(WARM_EVENTS - events.length, { after: from, to })), ...events];
    }
    events.forEach((event) => this.cache.add(event));
    this.#readSeq = cursor;
  }

  /** Reads on; waits up to `waitMs` for the first event. Returns how many came. */
  async pull(waitMs: number): Promise<number> {
    const page = await this.#edge.pull({ ...this.#line, cursor: this.#readSeq ?? 0, limit: PAGE_EVENTS, waitMs });
    for (const event of page.events) {
      this.cache.add(event);
      this.#pending.push(event);
    }
    this.#readSeq = Math.max(this.#readSeq ?? 0, page.cursor);
    return page.events.length;
  }

  /** Drops what is consumed, by us or by another trainer of the line. */
  forget(cursor: number): void {
    this.#readSeq = Math.max(this.#readSeq ?? cursor, cursor);
    this.#pending = this.#pending.filter(({ seq }) => seq > cursor);
  }

  /** The last events of a part of the log, no more than `most`; no more are held while it is read. */
  async #readLast(most: number, { after, to }: { after: number; to: number }): Promise<readonly LoggedEvent[]> {
    let events: readonly LoggedEvent[] = [];
    for (let from = after; from < to;) {
      const page = await this.#edge.pull({ ...this.#line, cursor: from, limit: Math.min(PAGE_EVENTS, to - from), waitMs: 0 });
      const read = page.events.filter(({ seq }) => seq <= to);
      events = [...events, ...read].slice(-most);
      from = read.length === 0 ? to : Math.max(from + 1, page.cursor);
    }
    return events;
  }
}
