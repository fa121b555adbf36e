/** The moves of a line, one by one and over thousands of random ones: what always holds of its numbers and its versions. */
import { describe, expect, it } from "vitest";
import { chainOf, FIRST_STATE, MOVES, tipOf, type LineState, type Moves, type Transition } from "../../../edge/agent/release.ts";
import type { VersionStatus } from "../../../shared/release.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const TRIAL = { via: "canary", share: 0.1, now: NOW } as const;

function next(transition: Transition): LineState {
  if (transition.status !== "moved") throw new Error(`a move expected, got ${transition.status}`);
  return transition.next;
}

function becomes(transition: Transition): [number, VersionStatus][] {
  return transition.status === "moved" ? [...transition.becomes].toSorted(([a], [b]) => a - b) : [];
}

const publish = (state: LineState, move: Partial<Moves["publish"]> = {}): Transition =>
  MOVES.publish(state, {
    parent: tipOf(state),
    fromSeq: state.cursor,
    toSeq: state.cursor + 1,
    gate: "passed",
    admission: { via: "direct" },
    ...move,
  });
const onTrial = (state: LineState): Transition => publish(state, { admission: TRIAL });
/** Of a line whose versions descend from one another in a row. */
const rollback = (state: LineState, to: number, barred: number[] = []): Transition => {
  const upTo = (version: number): Set<number> => new Set(Array.from({ length: version + 1 }, (_, each) => each));
  return MOVES.rollback(state, { to, keeps: upTo(to), leaves: upTo(tipOf(state)), barred: new Set(barred) });
};
const at = (state: Partial<LineState>): LineState => ({ ...FIRST_STATE, ...state });

describe("a line without canaries", () => {
  it("numbers a version above every earlier one, also after a rollback", () => {
    const first = next(publish(FIRST_STATE, { toSeq: 4 }));
    const back = next(rollback(first, 0));
    const second = next(publish(back, { toSeq: 9 }));
    expect(first).toEqual({ ...FIRST_STATE, stable: 1, latest: 1, cursor: 4, revision: 1 });
    expect(back).toEqual({ ...FIRST_STATE, stable: 0, latest: 1, cursor: 4, revision: 2 });
    expect(second).toEqual({ ...FIRST_STATE, stable: 2, latest: 2, cursor: 9, revision: 3 });
  });

  it("takes a version from the stable parent only", () => {
    const state = at({ stable: 3, latest: 5, cursor: 10 });
    expect(publish(state, { parent: 5 })).toEqual({ status: "stale" });
    expect(publish(state, { parent: 3 }).status).toBe("moved");
  });

  it("takes no version from events that the rolled-back one has consumed", () => {
    const back = next(rollback(next(publish(FIRST_STATE, { toSeq: 4 })), 0));
    expect(publish(back, { fromSeq: 0, toSeq: 4 })).toEqual({ status: "stale" });
  });

  it("gives a version that its gate refuses a number and nothing else", () => {
    const refused = publish(at({ stable: 1, latest: 1, cursor: 4 }), { gate: "refused", toSeq: 7 });
    expect(next(refused)).toEqual(at({ stable: 1, latest: 2, cursor: 7, revision: 1 }));
    expect(becomes(refused)).toEqual([[2, "refused"]]);
    expect(rollback(next(refused), 2, [2])).toMatchObject({ status: "refused", reason: expect.stringMatching(/never passed its gate/) });
  });

  it("knows the versions up to the latest", () => {
    const state = at({ stable: 3, latest: 5, cursor: 10 });
    expect(rollback(state, 6)).toEqual({ status: "unknown" });
    expect(rollback(state, 3)).toEqual({ status: "unchanged" });
    expect(next(rollback(state, 5)).stable).toBe(5);
  });

  it("says what a rollback leaves, and what rolling forward regains", () => {
    const state = at({ stable: 3, latest: 3 });
    expect(becomes(rollback(state, 1))).toEqual([
      [0, "superseded"],
      [1, "stable"],
      [2, "rolledBack"],
      [3, "rolledBack"],
    ]);
    expect(becomes(rollback(at({ stable: 1, latest: 3 }), 3))).toEqual([
      [0, "superseded"],
      [1, "superseded"],
      [2, "superseded"],
      [3, "stable"],
    ]);
  });

  it("advances the cursor from where it stands, and never back", () => {
    const state = at({ cursor: 10, revision: 1 });
    expect(MOVES.advance(state, { from: 9, to: 12 })).toEqual({ status: "stale" });
    expect(MOVES.advance(state, { from: 10, to: 8 })).toEqual({ status: "refused", reason: "to: at least from 10 expected, got 8" });
    expect(MOVES.advance(state, { from: 10, to: 10 })).toEqual({ status: "unchanged" });
    expect(next(MOVES.advance(state, { from: 10, to: 12 })).cursor).toBe(12);
  });
});

describe("a line with a canary", () => {
  const first = onTrial(FIRST_STATE);
  const second = onTrial(next(first));
  const third = onTrial(next(second));

  it("puts the first on trial and lets later ones wait behind it, each the child of the one before", () => {
    expect([becomes(first), becomes(second), becomes(third)]).toEqual([[[1, "canary"]], [[2, "candidate"]], [[3, "candidate"]]]);
    expect(next(third)).toMatchObject({
      stable: 0,
      canary: { version: 1, share: 0.1, since: NOW, askedAt: null },
      waiting: [2, 3],
      latest: 3,
    });
    expect([chainOf(next(third)), tipOf(next(third))]).toEqual([[1, 2, 3], 3]);
  });

  it("makes the canary stable and puts the newest that waits on trial", () => {
    const promoted = MOVES.promote(next(third), { version: 1, now: NOW });
    expect(next(promoted)).toMatchObject({ stable: 1, canary: { version: 3 }, waiting: [] });
    expect(becomes(promoted)).toEqual([
      [0, "superseded"],
      [1, "stable"],
      [2, "superseded"],
      [3, "canary"],
    ]);
    expect(MOVES.promote(next(promoted), { version: 2, now: NOW })).toEqual({ status: "unknown" });
    expect(MOVES.promote(next(promoted), { version: 1, now: NOW })).toEqual({ status: "unchanged" });
  });

  it("takes back the canary with all that descends from it", () => {
    const back = rollback(next(third), 0);
    expect(next(back)).toMatchObject({ stable: 0, canary: null, waiting: [], latest: 3 });
    expect(becomes(back)).toEqual([
      [0, "stable"],
      [1, "rolledBack"],
      [2, "rolledBack"],
      [3, "rolledBack"],
    ]);
  });

  it("ends with a version that needs no trial", () => {
    const direct = publish(next(second));
    expect(next(direct)).toMatchObject({ stable: 3, canary: null, waiting: [] });
    expect(becomes(direct)).toEqual([
      [0, "superseded"],
      [1, "superseded"],
      [2, "superseded"],
      [3, "stable"],
    ]);
  });

  it("changes its share and asks once", () => {
    expect(next(MOVES.share(next(first), { share: 0.5 })).canary?.share).toBe(0.5);
    const asked = next(MOVES.ask(next(first), { now: NOW }));
    expect(asked.canary?.askedAt).toBe(NOW);
    expect(MOVES.ask(asked, { now: "2026-02-01T00:00:00.000Z" })).toEqual({ status: "unchanged" });
    expect([MOVES.share(FIRST_STATE, { share: 0.5 }), MOVES.ask(FIRST_STATE, { now: NOW })]).toEqual([
      { status: "unknown" },
      { status: "unknown" },
    ]);
  });
});

it("keeps its numbers growing and one version stable over 5,000 random moves", () => {
  let state = FIRST_STATE;
  const statuses = new Map<number, VersionStatus>([[0, "stable"]]);
  const parents = new Map<number, number>([[0, 0]]);
  let word = 1;
  const random = (below: number): number => (word = (word * 48_271) % 2_147_483_647) % below;
  const ancestry = (version: number): Set<number> => {
    const found = new Set<number>();
    for (let each = version; !found.has(each); each = parents.get(each) ?? 0) found.add(each);
    return found;
  };
  const barred = (): Set<number> => new Set([...statuses].flatMap(([version, status]) => (status === "refused" ? [version] : [])));
  for (let step = 0; step < 5_000; step += 1) {
    const parent = random(3) === 0 ? random(state.latest + 1) : tipOf(state);
    const to = random(state.latest + 2);
    const moves = [
      () =>
        MOVES.publish(state, {
          ...{ parent, fromSeq: state.cursor - random(2), toSeq: state.cursor + random(3) },
          ...{ gate: random(4) === 0 ? "refused" : "passed", admission: random(4) === 0 ? { via: "direct" } : TRIAL },
        }),
      () => MOVES.rollback(state, { to, keeps: ancestry(to), leaves: ancestry(tipOf(state)), barred: barred() }),
      () => MOVES.promote(state, { version: random(state.latest + 2), now: NOW }),
      () => MOVES.advance(state, { from: state.cursor - random(2), to: state.cursor + random(3) - 1 }),
      () => MOVES.settings(state, {}),
    ];
    const transition = moves[random(moves.length)]?.();
    if (transition?.status !== "moved") continue;
    const { next: after } = transition;
    if (after.latest > state.latest) parents.set(after.latest, parent);
    for (const [version, status] of transition.becomes) statuses.set(version, status);
    expect(after.latest).toBeGreaterThanOrEqual(state.latest);
    expect(after.cursor).toBeGreaterThanOrEqual(state.cursor);
    expect(after.revision).toBe(state.revision + 1);
    const having = (wanted: VersionStatus): number[] => [...statuses].flatMap(([version, status]) => (status === wanted ? [version] : []));
    expect(having("stable")).toEqual([after.stable]);
    expect(having("canary")).toEqual(after.canary === null ? [] : [after.canary.version]);
    expect(having("candidate")).toEqual([...after.waiting]);
    expect(ancestry(tipOf(after))).toEqual(new Set([...ancestry(after.stable), ...chainOf(after)]));
    for (const version of ancestry(tipOf(after))) expect(statuses.get(version)).not.toBe("refused");
    state = after;
  }
  expect(state.latest).toBeGreaterThan(100);
});
