/** What the dashboard works out by itself: what a rollback would leave, and where versions stand in the graph. */
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../dashboard/lineage-rows.ts";
import { whatIsLeft, type Lineal } from "../../shared/rollback-preview.ts";

const version = (number: number, parent: number, status: Lineal["status"], learned: readonly string[] = []): Lineal => ({
  version: number,
  parent,
  status,
  hints: learned.map((eventId) => `hint of ${eventId}`),
  events: learned.map((eventId, seq) => ({ eventId, seq, turnId: "t", user: "u", reward: -1, votes: [-1], judge: "embedded" })),
});

describe("whatIsLeft", () => {
  const line = [
    version(0, 0, "superseded"),
    version(1, 0, "superseded", ["a"]),
    version(2, 1, "rolledBack", ["b"]),
    version(3, 1, "stable", ["a", "c"]),
    version(4, 3, "canary", ["d"]),
  ];

  it("names versions in use that the target does not descend from, and what they alone had learned", () => {
    const left = whatIsLeft(line, 1);
    expect(left.versions.map((each) => each.version)).toEqual([3, 4]);
    expect([...left.events]).toEqual(["c", "d"]);
    expect([...left.hints]).toEqual(["hint of a", "hint of c", "hint of d"]);
  });

  it("goes all the way to the base, and leaves nothing where the target is the tip", () => {
    expect(whatIsLeft(line, 0).versions.map((each) => each.version)).toEqual([1, 3, 4]);
    expect(whatIsLeft(line, 4)).toEqual({ versions: [], events: new Set(), hints: new Set() });
  });
});

describe("rowsOf", () => {
  it("goes on in the parent's row, and begins a row for every further child", () => {
    const rows = rowsOf([version(0, 0, "superseded"), version(1, 0, "rolledBack"), version(2, 0, "superseded"), version(3, 2, "stable")]);
    expect([...rows]).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 1],
    ]);
  });

  it("has a row for a version whose parent is on another page", () => {
    expect([...rowsOf([version(7, 6, "superseded"), version(8, 7, "stable")])]).toEqual([
      [7, 0],
      [8, 0],
    ]);
  });
});
