/** What the dashboard works out by itself: what a rollback would leave, how that is said, and where versions stand in the graph. */
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../dashboard/lineage-rows.ts";
import { barredText, previewOf, whatIsLeft, type Lineal } from "../../shared/rollback-preview.ts";

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
    expect(whatIsLeft(line, 4)).toEqual({ versions: [], events: new Set(), hints: new Set(), barred: new Set() });
  });

  it("tells which events are barred already: of what is taken back, and of what answers again", () => {
    const barred = new Set(["a", "b", "d", "z"]);
    expect([...whatIsLeft(line, 1, barred).barred]).toEqual(["d"]);
    expect([...whatIsLeft(line, 2, barred).barred]).toEqual(["d", "b"]);
  });

  it("leaves out of these what versions that go on answering have learned, too", () => {
    const again = [version(0, 0, "superseded"), version(1, 0, "stable", ["a"]), version(2, 1, "rolledBack", ["a", "b"])];
    expect([...whatIsLeft(again, 2, new Set(["a"])).barred]).toEqual([]);
    expect([...whatIsLeft(again, 2, new Set(["a", "b"])).barred]).toEqual(["b"]);
  });

  it("takes corrections for learned one by one, and counts the events that they stand in", () => {
    const several = [
      version(0, 0, "superseded"),
      version(1, 0, "superseded", ["e/next"]),
      version(2, 1, "stable", ["e/next", "e/next#2", "f/next", "f/next#2"]),
    ];
    expect([...whatIsLeft(several, 0).events]).toEqual(["e/next", "f/next"]);
    expect([...whatIsLeft(several, 1).events]).toEqual(["e/next", "f/next"]);
    expect([...whatIsLeft(several, 1, new Set(["f/next"])).barred]).toEqual(["f/next"]);
  });
});

describe("a rollback in words", () => {
  const line = [version(0, 0, "superseded"), version(1, 0, "stable", ["a"]), version(2, 1, "canary", ["b", "c"])];

  it("says what would come of it", () => {
    expect(previewOf(whatIsLeft(line, 0), { stable: 1, to: 0 })).toBe(
      "Version 0 will answer, and version 1 no longer. Taken back will be version 1, version 2, with 3 events that nothing else has learned from.",
    );
    expect(previewOf(whatIsLeft(line, 1), { stable: 1, to: 1 })).toBe(
      "Version 1 will go on answering. Taken back will be version 2, with 2 events that nothing else has learned from.",
    );
    expect(previewOf(whatIsLeft(line, 2), { stable: 1, to: 2 })).toBe(
      "Version 2 will answer, and version 1 no longer. No version in use will be taken back.",
    );
  });

  it("says how many events stay barred", () => {
    expect(barredText(0)).toBe(undefined);
    expect(barredText(1)).toContain(
      "1 event that these versions had learned from was barred from learning before, and stays so until let back in",
    );
    expect(barredText(2)).toContain("2 events that these versions had learned from were barred from learning before, and stay so");
    expect(barredText(2)).toContain("Events of deleted users stay barred for good");
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
