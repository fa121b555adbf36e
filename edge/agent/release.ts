/**
 * How a line moves from one state to the next: one pure function per move, in a table typed by the move's name.
 *
 *     candidate ──▶ refused                          its gate report does not hold
 *         │
 *         ├──▶ (waits behind a canary) ──▶ superseded   a newer one took its place
 *         ▼
 *      canary ──▶ rolledBack
 *         │
 *         ▼
 *      stable ──▶ superseded | rolledBack
 *
 * The versions in flight form a chain, each the parent of the next: stable ← canary ← waiting … ← tip. The next candidate
 * descends from the tip, so learning never waits for a canary.
 *
 * Invariants: stable ≤ latest; `latest`, `cursor` and `revision` never go back, whatever rolls back; nothing waits without a canary.
 */
import type { Canary } from "../../shared/api.ts";
import type { VersionStatus } from "../../shared/release.ts";

export type LineState = {
  readonly stable: number;
  readonly canary: Canary | null;
  /** Candidates that passed the gate while a canary answered, oldest first. */
  readonly waiting: readonly number[];
  /** Highest version given out. */
  readonly latest: number;
  /** Highest event `seq` that a version or a refusal has consumed. */
  readonly cursor: number;
  /** Counts moves. */
  readonly revision: number;
};

/** Where a version that passed its gate goes: to a share of the conversations, or to all. */
export type Admission = { via: "canary"; share: number; now: string } | { via: "direct" };

export type Moves = {
  /** A version made from `parent` and from the events after `fromSeq` up to `toSeq`; `gate` is what its report came to at the edge. */
  publish: { parent: number; fromSeq: number; toSeq: number; gate: "passed" | "refused"; admission: Admission };
  /** The canary, or one that waits behind it, becomes the stable version; `now` is when the next canary begins. */
  promote: { version: number; now: string };
  /** `keeps`: the version rolled back to and those it descends from. `barred`: versions that must not answer. */
  rollback: { to: number; keeps: ReadonlySet<number>; leaves: ReadonlySet<number>; barred: ReadonlySet<number> };
  /** The stable version, which a deleted user had a part in, gives way to a version made without: a new one, or `from` itself. */
  rebuild: { from: number; adds: boolean; gate: "passed" | "refused"; deleted: ReadonlySet<number> };
  /** Versions in flight that a deleted user had a part in, and all that descend from them, are taken out. */
  cut: { deleted: ReadonlySet<number> };
  /** Versions of a personal line go with what they were learned over; the stable one gives way to `to`, which is not among them. */
  detach: { to: number; lost: ReadonlyMap<number, VersionStatus> };
  /** The agent's engine serves another base: the next version begins from it, bare, and answers everybody. What the log holds is of the base before. */
  rebase: { lastSeq: number };
  /** The canary gets another share of the conversations. */
  share: { share: number };
  /** The test of the canary has not decided; a person is asked. */
  ask: { now: string };
  /** Events looked at and not trained on. */
  advance: { from: number; to: number };
  /** The agent's settings were replaced; readers of the head must see it. */
  settings: Record<never, never>;
  /** A note came, went, or is no longer needed; readers of the head must see it. */
  notes: Record<never, never>;
  /** Events were barred from learning; trainers must see it. */
  quarantine: Record<never, never>;
  /** Events that were barred were let back in. */
  letIn: Record<never, never>;
  /** A case of the suite came or went. */
  suite: Record<never, never>;
  /** Something is to be known of the agent's engine. */
  engine: Record<never, never>;
};

export type Transition =
  | { status: "moved"; next: LineState; becomes: ReadonlyMap<number, VersionStatus> }
  | { status: "stale" }
  | { status: "unchanged" }
  | { status: "unknown" }
  | { status: "refused"; reason: string };

export const FIRST_STATE: LineState = { stable: 0, canary: null, waiting: [], latest: 0, cursor: 0, revision: 0 };

/** The versions in flight behind the stable one, oldest first. */
export function chainOf({ canary, waiting }: Pick<LineState, "canary" | "waiting">): number[] {
  return canary === null ? [] : [canary.version, ...waiting];
}

/** What the next candidate descends from. */
export function tipOf(state: LineState): number {
  return chainOf(state).at(-1) ?? state.stable;
}

export const MOVES: { [Move in keyof Moves]: (state: LineState, move: Moves[Move]) => Transition } = {
  // The parent alone is not enough: after a rollback the same parent is the tip again, and its events are consumed.
  publish(state, { parent, fromSeq, toSeq, gate, admission }) {
    if (parent !== tipOf(state) || fromSeq !== state.cursor) return { status: "stale" };
    if (toSeq < fromSeq) return { status: "refused", reason: `toSeq: at least fromSeq ${fromSeq} expected, got ${toSeq}` };
    const version = state.latest + 1;
    const published = { latest: version, cursor: toSeq };
    if (gate === "refused") return moved(state, published, [[version, "refused"]]);
    if (admission.via === "direct") return moved(state, { ...published, ...answersAll(version) }, replaced(state, version));
    if (state.canary !== null) return moved(state, { ...published, waiting: [...state.waiting, version] }, [[version, "candidate"]]);
    return moved(state, { ...published, canary: beginCanary(version, admission) }, [[version, "canary"]]);
  },

  promote(state, { version, now }) {
    if (version === state.stable) return { status: "unchanged" };
    const chain = chainOf(state);
    const place = chain.indexOf(version);
    if (place < 0 || state.canary === null) return { status: "unknown" };
    const next = chain.slice(place + 1).at(-1);
    const canary = next === undefined ? null : beginCanary(next, { share: state.canary.share, now });
    const passed = chain.filter((each) => each !== version && each !== next);
    return moved(state, { stable: version, canary, waiting: [] }, [
      ...[state.stable, ...passed].map((each) => [each, "superseded"] as const),
      [version, "stable"],
      ...(next === undefined ? [] : [[next, "canary"] as const]),
    ]);
  },

  rollback(state, { to, keeps, leaves, barred }) {
    if (to > state.latest) return { status: "unknown" };
    if (barred.has(to))
      return {
        status: "refused",
        reason: `to: a version that may answer expected, got ${to}, which never passed its gate or was deleted with a user`,
      };
    if (to === state.stable && state.canary === null) return { status: "unchanged" };
    // A version rolled forward to answers again, and so may those that it descends from.
    const regained = [...keeps].filter((each) => each !== to && !barred.has(each));
    return moved(state, answersAll(to), [
      ...[...leaves].filter((each) => !keeps.has(each)).map((each) => [each, "rolledBack"] as const),
      ...regained.map((each) => [each, "superseded"] as const),
      [to, "stable"],
    ]);
  },

  rebuild(state, { from, adds, gate, deleted }) {
    if (!deleted.has(state.stable) || deleted.has(from)) return { status: "stale" };
    const version = adds ? state.latest + 1 : from;
    const stable = gate === "passed" ? version : from;
    return moved(state, { ...answersAll(stable), latest: Math.max(state.latest, version) }, [
      ...[state.stable, ...chainOf(state), ...deleted].map((each) => [each, "deleted"] as const),
      ...(gate === "passed" ? [] : [[version, "refused"] as const]),
      [stable, "stable"],
    ]);
  },

  cut(state, { deleted }) {
    const chain = chainOf(state);
    const first = chain.findIndex((version) => deleted.has(version));
    const lost = [...deleted].filter((version) => version !== state.stable);
    const becomes = lost.map((version) => [version, "deleted"] as const);
    if (first < 0) return moved(state, {}, becomes);
    return moved(state, first === 0 ? answersAll(state.stable) : { waiting: chain.slice(1, first) }, becomes);
  },

  detach(state, { to, lost }) {
    if (!lost.has(state.stable)) return moved(state, {}, lost);
    return moved(state, answersAll(to), [...lost, [to, "stable"]]);
  },

  rebase(state, { lastSeq }) {
    const version = state.latest + 1;
    return moved(state, { ...answersAll(version), latest: version, cursor: Math.max(state.cursor, lastSeq) }, replaced(state, version));
  },

  share(state, { share }) {
    if (state.canary === null) return { status: "unknown" };
    return share === state.canary.share ? { status: "unchanged" } : moved(state, { canary: { ...state.canary, share } });
  },

  ask(state, { now }) {
    if (state.canary === null) return { status: "unknown" };
    return state.canary.askedAt === null ? moved(state, { canary: { ...state.canary, askedAt: now } }) : { status: "unchanged" };
  },

  advance(state, { from, to }) {
    if (from !== state.cursor) return { status: "stale" };
    if (to < from) return { status: "refused", reason: `to: at least from ${from} expected, got ${to}` };
    return to === from ? { status: "unchanged" } : moved(state, { cursor: to });
  },

  settings: (state) => moved(state, {}),
  notes: (state) => moved(state, {}),
  quarantine: (state) => moved(state, {}),
  letIn: (state) => moved(state, {}),
  suite: (state) => moved(state, {}),
  engine: (state) => moved(state, {}),
};

type Becomes = Iterable<readonly [number, VersionStatus]>;

function moved(state: LineState, change: Partial<LineState>, becomes: Becomes = []): Transition {
  return { status: "moved", next: { ...state, ...change, revision: state.revision + 1 }, becomes: new Map(becomes) };
}

/** One version answers everybody. */
function answersAll(stable: number): Pick<LineState, "stable" | "canary" | "waiting"> {
  return { stable, canary: null, waiting: [] };
}

function beginCanary(version: number, { share, now }: { share: number; now: string }): Canary {
  return { version, share, since: now, askedAt: null };
}

function replaced(state: LineState, version: number): Becomes {
  return [...[state.stable, ...chainOf(state)].map((each) => [each, "superseded"] as const), [version, "stable"]];
}
