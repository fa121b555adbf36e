/** Which defaults a version has, and what the version was before each. */
import { describe, expect, it } from "vitest";
import {
  HeldDefault,
  inheritDefaults,
  inheritKept,
  LearnedDefault,
  MOST_DEFAULTS,
  type InheritedDefault,
} from "../../shared/learned-defaults.ts";

const learned = (parameter: string, value: string, corrected: string | null = null): LearnedDefault => ({
  tool: "SearchHotel",
  parameter,
  value,
  corrected,
});

const inherit = (
  parent: readonly InheritedDefault<number>[],
  learnt: readonly LearnedDefault[],
  before: number,
): InheritedDefault<number>[] => inheritDefaults(parent, learnt, () => before);

it("an answer may be held to more than a default may be: to what a user has said", () => {
  const said = { tool: "Order", parameter: "delivery_note", value: "Leave it ".repeat(40) };
  expect([HeldDefault.safeParse(said).success, LearnedDefault.safeParse({ ...said, corrected: null }).success]).toEqual([true, false]);
});

describe("inheritDefaults", () => {
  it("puts what a version has learned before what its parent had", () => {
    const first = inherit([], [learned("rooms", "2", "1"), learned("city", "Porto")], 0);
    const second = inherit(first, [learned("stars", "4")], 1);
    expect(second.map(({ parameter, before, corrected }) => [parameter, before, corrected])).toEqual([
      ["stars", 1, []],
      ["city", 0, []],
      ["rooms", 0, ["1"]],
    ]);
  });

  it("gives a default that is learned again its latest value, and the version before the first time", () => {
    const first = inherit([], [learned("rooms", "2", "1")], 0);
    const other = inherit(first, [learned("stars", "4")], 1);
    const again = inherit(other, [learned("rooms", "3", "2")], 2);
    expect(again.map(({ parameter, value, before }) => [parameter, value, before])).toEqual([
      ["stars", "4", 1],
      ["rooms", "3", 0],
    ]);
    // 2 was what the version had learned; what somebody says who has learned nothing may be said.
    expect(again[1]?.corrected).toEqual(["1"]);
    expect(inherit(again, [learned("rooms", "3", "5")], 3)[1]?.corrected).toEqual(["1", "5"]);
  });

  it("has what the base makes up in its place, unless some correction was learned without asking it", () => {
    const asked = (value: string, ...byBase: string[]): LearnedDefault => ({ ...learned("rooms", value, "1"), byBase });
    const first = inherit([], [asked("2")], 0);
    expect(first[0]?.byBase).toEqual([]);
    const again = inherit(first, [asked("3", "1")], 1);
    expect(again[0]?.byBase).toEqual(["1"]);
    expect(inherit(again, [asked("4", "1", "2")], 2)[0]?.byBase).toEqual(["1", "2"]);
    const unasked = inherit(again, [learned("rooms", "4", "1")], 2);
    expect(unasked[0]).not.toHaveProperty("byBase");
    expect(inherit(unasked, [asked("5", "1")], 3)[0]).not.toHaveProperty("byBase");
  });

  it("is no longer held where another value was supplied, until it is corrected again", () => {
    const first = inherit([], [learned("rooms", "2", "1")], 0);
    const supplied = { ...learned("rooms", "5"), held: false as const };
    const released = inherit(first, [supplied, { ...supplied, parameter: "city" }], 1);
    expect(released).toEqual([{ tool: "SearchHotel", parameter: "rooms", value: "2", corrected: ["1"], before: 0, held: false }]);
    expect(inherit(released, [learned("rooms", "3", "5")], 2)).toEqual([
      { tool: "SearchHotel", parameter: "rooms", value: "3", corrected: ["1", "5"], before: 0 },
    ]);
  });

  it("stays held where the supplied value is its own", () => {
    const first = inherit([], [learned("rooms", "2", "1")], 0);
    const same = { ...learned("rooms", "2"), held: false as const };
    expect(inherit(first, [same], 1)).toEqual(first);
    expect(inherit(first, [same, { ...same, value: "5" }], 1)).toMatchObject([{ value: "2", held: false }]);
  });

  it("asks the version that has answered for the tool so far", () => {
    const bus = { ...learned("seats", "2"), tool: "FindBus" };
    const both = inheritDefaults<string>([], [learned("rooms", "2"), bus], (tool) => `before ${tool}`);
    expect(both.map(({ before }) => before)).toEqual(["before FindBus", "before SearchHotel"]);
  });

  it("has one way round of which of two tools is called", () => {
    const tool = (instead: string, value: string) => ({ ...learned("@tool", value), tool: instead });
    const first = inherit([], [tool("SearchHotel", "FindHotel"), tool("SearchHotel2", "FindFlat")], 0);
    const again = inherit(first, [tool("FindHotel", "SearchHotel")], 1);
    expect(again.map((each) => [each.tool, each.value])).toEqual([
      ["FindHotel", "SearchHotel"],
      ["SearchHotel2", "FindFlat"],
    ]);
  });

  it("lets the oldest go", () => {
    let defaults: InheritedDefault<number>[] = [];
    for (let version = 0; version <= MOST_DEFAULTS; version += 1) defaults = inherit(defaults, [learned(`p${version}`, "2")], version);
    expect([defaults.length, defaults[0]?.before, defaults.at(-1)?.before]).toEqual([MOST_DEFAULTS, MOST_DEFAULTS, 1]);
  });
});

describe("LearnedDefault", () => {
  it("is no text of any length", () => {
    expect(LearnedDefault.safeParse(learned("note", "x".repeat(201))).success).toBe(false);
    expect(LearnedDefault.safeParse(learned("note", "x".repeat(200))).success).toBe(true);
  });
});

it("a version with more defaults than are kept answers for everything", () => {
  const learned = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ tool: "SearchHotel", parameter: `p${at}`, value: "1", corrected: null }));
  const kept = (count: number) =>
    inheritKept({ bound: 0, defaults: [], answering: null }, { by: 1, learned: learned(count), reach: ["SearchHotel"] });
  expect(kept(2)).toMatchObject({ defaults: [{ before: 0 }, { before: 0 }], answering: { outside: 0, tools: [{ by: 1 }] } });
  expect(kept(MOST_DEFAULTS).answering).toBeNull();
});
