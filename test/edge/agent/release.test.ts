/** The moves of a line, one by one and over thousands of random ones: what always holds of its numbers. */
import { describe, expect, it } from "vitest";
import { FIRST_STATE, MOVES, type LineState, type Transition } from "../../../edge/agent/release.ts";

function next(transition: Transition): LineState {
  if (transition.status !== "moved") throw new Error(`a move expected, got ${transition.status}`);
  return transition.next;
}

describe("a line's moves", () => {
  it("numbers a version above every earlier one, also after a rollback", () => {
    const first = next(MOVES.publish(FIRST_STATE, { parent: 0, fromSeq: 0, toSeq: 4 }));
    const back = next(MOVES.rollback(first, { to: 0 }));
    const second = next(MOVES.publish(back, { parent: 0, fromSeq: 4, toSeq: 9 }));
    expect(first).toEqual({ stable: 1, latest: 1, cursor: 4, revision: 1 });
    expect(back).toEqual({ stable: 0, latest: 1, cursor: 4, revision: 2 });
    expect(second).toEqual({ stable: 2, latest: 2, cursor: 9, revision: 3 });
  });

  it("takes a version from the stable parent only", () => {
    const state = { stable: 3, latest: 5, cursor: 10, revision: 9 };
    expect(MOVES.publish(state, { parent: 5, fromSeq: 10, toSeq: 11 })).toEqual({ status: "stale" });
    expect(MOVES.publish(state, { parent: 3, fromSeq: 10, toSeq: 11 }).status).toBe("moved");
  });

  it("takes no version from events that the rolled-back one has consumed", () => {
    const published = next(MOVES.publish(FIRST_STATE, { parent: 0, fromSeq: 0, toSeq: 4 }));
    const back = next(MOVES.rollback(published, { to: 0 }));
    expect(MOVES.publish(back, { parent: 0, fromSeq: 0, toSeq: 4 })).toEqual({ status: "stale" });
  });

  it("knows the versions up to the latest", () => {
    const state = { stable: 3, latest: 5, cursor: 10, revision: 9 };
    expect(MOVES.rollback(state, { to: 6 })).toEqual({ status: "unknown" });
    expect(MOVES.rollback(state, { to: 3 })).toEqual({ status: "unchanged" });
    expect(next(MOVES.rollback(state, { to: 5 })).stable).toBe(5);
  });

  it("advances the cursor from where it stands, and never back", () => {
    const state = { stable: 0, latest: 0, cursor: 10, revision: 1 };
    expect(MOVES.advance(state, { from: 9, to: 12 })).toEqual({ status: "stale" });
    expect(MOVES.advance(state, { from: 10, to: 8 })).toEqual({ status: "refused", reason: "to: at least from 10 expected, got 8" });
    expect(MOVES.advance(state, { from: 10, to: 10 })).toEqual({ status: "unchanged" });
    expect(next(MOVES.advance(state, { from: 10, to: 12 })).cursor).toBe(12);
  });

  it("keeps stable ≤ latest, and latest, cursor and revision growing, over 2,000 random moves", () => {
    let state = FIRST_STATE;
    let word = 1;
    const random = (below: number): number => (word = (word * 48_271) % 2_147_483_647) % below;
    for (let step = 0; step < 2_000; step += 1) {
      const moves = [
        MOVES.publish(state, { parent: random(state.latest + 1), fromSeq: state.cursor - random(2), toSeq: state.cursor + random(3) }),
        MOVES.rollback(state, { to: random(state.latest + 3) }),
        MOVES.advance(state, { from: state.cursor - random(2), to: state.cursor + random(3) - 1 }),
        MOVES.settings(state, {}),
      ];
      const transition = moves[random(moves.length)];
      if (transition?.status !== "moved") continue;
      const { next: after } = transition;
      expect(after.stable).toBeLessThanOrEqual(after.latest);
      expect(after.latest).toBeGreaterThanOrEqual(state.latest);
      expect(after.cursor).toBeGreaterThanOrEqual(state.cursor);
      expect(after.revision).toBe(state.revision + 1);
      state = after;
    }
    expect(state.latest).toBeGreaterThan(10);
  });
});
