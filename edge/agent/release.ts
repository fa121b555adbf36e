/**
 * How a line moves from one state to the next: one pure function per move, in a table typed by the move's name.
 * A canary would be a member of `LineState` and a row or two more in the table.
 *
 * Invariants: stable ≤ latest; `latest`, `cursor` and `revision` never go back, whatever rolls back.
 */
export type LineState = {
  readonly stable: number;
  /** Highest version given out. */
  readonly latest: number;
  /** Highest event `seq` that a version or a refusal has consumed. */
  readonly cursor: number;
  /** Counts moves. */
  readonly revision: number;
};

export type Moves = {
  /** A version made from `parent` and from the events after `fromSeq` up to `toSeq`. */
  publish: { parent: number; fromSeq: number; toSeq: number };
  rollback: { to: number };
  /** Events looked at and not trained on. */
  advance: { from: number; to: number };
  /** The agent's settings were replaced; readers of the head must see it. */
  settings: Record<never, never>;
  /** A note came, went, or is no longer needed; readers of the head must see it. */
  notes: Record<never, never>;
};

export type Transition =
  | { status: "moved"; next: LineState }
  | { status: "stale" }
  | { status: "unchanged" }
  | { status: "unknown" }
  | { status: "refused"; reason: string };

export const FIRST_STATE: LineState = { stable: 0, latest: 0, cursor: 0, revision: 0 };

export const MOVES: { [Move in keyof Moves]: (state: LineState, move: Moves[Move]) => Transition } = {
  // The parent alone is not enough: after a rollback the same parent is stable again, and its events are consumed.
  publish(state, { parent, fromSeq, toSeq }) {
    if (parent !== state.stable || fromSeq !== state.cursor) return { status: "stale" };
    if (toSeq < fromSeq) return { status: "refused", reason: `toSeq: at least fromSeq ${fromSeq} expected, got ${toSeq}` };
    const version = state.latest + 1;
    return moved(state, { stable: version, latest: version, cursor: toSeq });
  },

  rollback(state, { to }) {
    if (to > state.latest) return { status: "unknown" };
    return to === state.stable ? { status: "unchanged" } : moved(state, { stable: to });
  },

  advance(state, { from, to }) {
    if (from !== state.cursor) return { status: "stale" };
    if (to < from) return { status: "refused", reason: `to: at least from ${from} expected, got ${to}` };
    return to === from ? { status: "unchanged" } : moved(state, { cursor: to });
  },

  settings(state) {
    return moved(state, {});
  },

  notes(state) {
    return moved(state, {});
  },
};

function moved(state: LineState, change: Partial<LineState>): Transition {
  return { status: "moved", next: { ...state, ...change, revision: state.revision + 1 } };
}
