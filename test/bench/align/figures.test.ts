/** Figures of a run from worked examples, what a file of them may hold, and what is written from it. */
import { KINDS } from "../../../bench/align/preference.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bars } from "../../../bench/align/bars.ts";
import { curvesSvg } from "../../../bench/align/curves.ts";
import { addUnit, beginRecords, type Header, readRecords, type Track, type UnitResult } from "../../../bench/align/records.ts";
import { armFigures, curve, deviation, difference, inARow, perUser, sessionsOf } from "../../../bench/align/statistics.ts";
import { detailText, headlineText } from "../../../bench/align/table.ts";

const CAP = 8;
const REACTIONS = { "+": "honoured", "-": "violated", o: "elsewhere" } as const;

/** `-+++`: violated, then honoured three times. */
function track(user: string, marks: string, more: Partial<Track> = {}): Track {
  const sessions = Array.from(marks, (mark) => REACTIONS[mark as keyof typeof REACTIONS]);
  return { user, preference: "p", kind: "default", sessions, manners: [], next: null, lasting: [], statedKept: [], ...more };
}

function unit(arm: UnitResult["arm"], group: number, tracks: Track[], more: Partial<UnitResult> = {}): UnitResult {
  const side = { exact: [true, false], lengths: [40, 60], calls: 4, invalid: 1 };
  const updates = { learned: 0, refused: 0, held: 0, reasons: [], steps: 0, seconds: 0 };
  return { arm, sharing: 1, group, seed: 0, tracks, before: side, after: side, updates, seconds: 1, ...more };
}

const sessions = (marks: string) => track("u", marks).sessions;

describe("sessions", () => {
  it("are counted until three in a row were honoured, those three included", () => {
    expect(inARow(sessions("+++"))).toBe(3);
    expect(inARow(sessions("-+++"))).toBe(4);
    expect(inARow(sessions("++-+o+++"))).toBe(8);
  });

  it("begin again with what is not honoured, and never end without three", () => {
    expect(inARow(sessions("++-++-++"))).toBeUndefined();
    expect(inARow(sessions("++o+"))).toBeUndefined();
    expect(sessionsOf(track("u", "--------"), CAP)).toBe(CAP);
  });

  it("of a user are the mean over the user's preferences", () => {
    // (3 + 5) / 2 = 4, and 8 for one that is never met
    expect(perUser(unit("hybrid", 0, [track("a", "+++"), track("a", "--+++"), track("b", "--------")]), CAP)).toEqual([4, 8]);
  });

  it("spread as a sample does", () => {
    // mean 4, (1 + 1 + 4) / 2 = 3
    expect(deviation([3, 3, 6])).toBeCloseTo(Math.sqrt(3), 12);
    expect(deviation([7])).toBe(0);
  });

  it("give a curve: who has been met by each session", () => {
    expect(curve([track("a", "+++"), track("b", "-+++"), track("c", "--------")], 5)).toEqual([0, 0, 1 / 3, 2 / 3, 2 / 3]);
  });
});

describe("differences", () => {
  it("are those of the same users and seed", () => {
    const units = [
      unit("none", 0, [track("a", "--------")]),
      unit("hybrid", 0, [track("a", "-+++")]),
      unit("none", 1, [track("b", "-----+++")]),
      unit("hybrid", 1, [track("b", "--+++")]),
      // Without a partner.
      unit("none", 2, [track("c", "+++")]),
      unit("hybrid", 0, [track("a", "+++")], { seed: 1 }),
      unit("none", 0, [track("a", "+++")], { sharing: 3 }),
    ];
    // (8 − 4 + 8 − 5) / 2
    expect(difference(units, { arm: "hybrid", than: "none", sharing: 1, cap: CAP })).toEqual({ mean: 3.5, interval: [3, 4], count: 2 });
    expect(difference(units, { arm: "memory", than: "none", sharing: 1, cap: CAP }).count).toBe(0);
  });
});

describe("figures of an arm", () => {
  it("count what was asked, and what was never asked as nothing", () => {
    const figures = armFigures(
      [
        unit("hybrid", 0, [track("a", "-+++", { next: "honoured", lasting: ["honoured", "violated"], statedKept: [true, true] })]),
        unit("hybrid", 1, [track("b", "--------", { next: "elsewhere", lasting: ["violated"], kind: "wording" })], {
          after: { exact: [false, false], lengths: [], calls: 0, invalid: 0 },
        }),
      ],
      CAP,
    );
    expect(figures.sessions.mean).toBe(6);
    expect(figures.aligned).toMatchObject({ share: 0.5, count: 2 });
    expect(figures.honouredNext).toMatchObject({ share: 0.5, count: 2 });
    // Of what was never met it cannot be said whether it lasts.
    expect(figures.lasting).toMatchObject({ share: 0.5, count: 2 });
    expect([figures.exactBefore.share, figures.exactAfter.share]).toEqual([0.5, 0.25]);
    expect([figures.lengthBefore, figures.lengthAfter]).toEqual([50, 50]);
    expect([figures.invalidBefore, figures.invalidAfter]).toEqual([0.25, 0.25]);
    expect(figures.byKind["wording"]).toEqual({ preferences: 1, sessions: 8, aligned: 0 });
    expect(figures.byKind["tool"]).toEqual({ preferences: 0, sessions: null, aligned: 0 });
  });
});

describe("bars", () => {
  const many = (seeds: number, marks: string): UnitResult[] =>
    Array.from({ length: seeds }, (_, seed) =>
      Array.from({ length: 21 }, (__, group) => unit("hybrid", group, [track("a", marks)], { seed })),
    ).flat();

  it("are judged where every unit has been measured, and not before", () => {
    const judged = (units: UnitResult[], asked = { users: 21, seeds: 3, cap: CAP }) => bars(units, asked)[0];
    expect(judged(many(3, "-+++"))).toMatchObject({ value: 4, holds: true });
    expect(judged(many(3, "--+++"))).toMatchObject({ value: 5, holds: false });
    expect(judged(many(3, "-+++").slice(1))).toMatchObject({ value: null, holds: null });
    expect(judged(many(2, "-+++"), { users: 21, seeds: 2, cap: CAP })).toMatchObject({ value: null, holds: null });
  });

  it("of what no unit has measured are unmeasured", () => {
    expect(bars([], { users: 21, seeds: 3, cap: CAP }).filter(({ holds }) => holds !== null)).toEqual([]);
  });
});

describe("a file of units", () => {
  const conditions: Header["conditions"] = { split: "dev", base: "b", cap: CAP, draw: 1, users: 1, kinds: [...KINDS] };
  const header: Header = {
    align: 1,
    conditions,
    users: [{ name: "user-1", preferences: [{ kind: "confirm", service: "s", tool: "t", wish: "never" }] }],
  };

  function inFolder(run: (path: string) => void): void {
    const folder = mkdtempSync(join(tmpdir(), "align-"));
    try {
      run(join(folder, "units.jsonl"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it("is gone on with where it stopped", () => {
    inFolder((path) => {
      expect(readRecords(path, conditions)).toBeUndefined();
      beginRecords(path, header);
      addUnit(path, unit("none", 0, [track("a", "+++")]));
      addUnit(path, unit("none", 1, [track("b", "-+++")]));
      const read = readRecords(path, conditions);
      expect(read?.header).toEqual(header);
      expect(read?.units.map(({ group, tracks }) => [group, tracks.length])).toEqual([
        [0, 1],
        [1, 1],
      ]);
    });
  });

  it("is refused under other conditions, begun twice, or with a unit twice", () => {
    inFolder((path) => {
      beginRecords(path, header);
      expect(() => beginRecords(path, header)).toThrow("EEXIST");
      expect(() => readRecords(path, { ...conditions, cap: 9 })).toThrow('"cap":9');
      addUnit(path, unit("none", 0, [track("a", "+++")]));
      addUnit(path, unit("none", 0, [track("a", "+++")]));
      expect(() => readRecords(path, conditions)).toThrow("none/1/0/0 twice");
    });
  });
});

describe("what is written", () => {
  it("is a row for each arm, with how many units it rests on", () => {
    const header: Header = {
      align: 1,
      conditions: { split: "dev", base: "b", cap: CAP, draw: 1, users: 1, kinds: [...KINDS] },
      users: [] as never,
    };
    const units = [unit("none", 0, [track("a", "--------")]), unit("hybrid", 0, [track("a", "-+++", { manners: ["plain", "again"] })])];
    const text = headlineText({ header, units }, { asked: "more", picture: "docs/images/align.svg", command: "npm run bench:align" });
    expect(text).toContain("of 2 units on SGD dev (asked for: more)");
    expect(text).toContain("![Share of preferences met, by session](docs/images/align.svg)");
    expect(text).toContain("| no learning | 8.0 ± 0.0 | 0 of 1 | – | – | – | – | 1 of 2 → 1 of 2 | 50 → 50 | 25.0 % → 25.0 % | 1 |");
    expect(text).toContain("| hybrid | 4.0 ± 0.0 | 1 of 1 | 2.0 | – |");
    const detail = detailText({ header, units });
    expect(detail).toContain("| hybrid | 1 | 4.0 (1 of 1) | – | – | – | – |");
    expect(detail).toContain("| hybrid than no learning | 1 | 4.0 | – | 1 |");
    expect(detail).toContain("| no learning | 1 | – | – | – | – |");
  });

  it("draws a line that rises at the end of the session, and escapes what it is named", () => {
    const svg = curvesSvg([{ title: "one & only", curves: [{ name: "a<b", shares: [0, 0.5] }] }]);
    expect(svg).toContain("one &amp; only");
    expect(svg).toContain("a&lt;b");
    // From 46 to 466 in two sessions; 0 at 294, a half at 164.
    expect(svg).toContain('d="M46 294H256V294H466V164"');
    expect(svg.match(/<svg/g)).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|undefined/);
  });
});
