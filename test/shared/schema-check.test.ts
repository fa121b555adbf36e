/** What of a tool's schema a call is checked against. */
import { describe, expect, it } from "vitest";
import { checkArguments } from "../../shared/schema-check.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { readerOf } from "./grammar/rules.ts";

const problems = (property: object, value: unknown): string[] =>
  checkArguments(
    { type: "function", function: { name: "Book", parameters: { type: "object", properties: { rooms: property } } } },
    { rooms: value },
  );

describe("checkArguments", () => {
  it("holds numbers to their bounds, and texts to their lengths in characters", () => {
    const few = { type: "integer", minimum: 1, maximum: 3 };
    expect([1, 3].flatMap((value) => problems(few, value))).toEqual([]);
    expect(problems(few, 4)).toEqual(["Book.rooms must be within 1 and 3, got 4"]);
    expect(problems({ type: "string", minLength: 2, maxLength: 2 }, "🛏🛏")).toEqual([]);
    expect(problems({ type: "string", minLength: 2 }, "1")).toHaveLength(1);
    expect(problems({ type: "integer", minLength: 5 }, 1)).toEqual([]);
  });

  it("wants the one value, or one of the alternatives", () => {
    expect([problems({ const: "2" }, "2"), problems({ const: "2" }, 2)]).toEqual([[], ['Book.rooms must be "2", got 2']]);
    const either = { anyOf: [{ type: "integer", maximum: 3 }, { enum: ["many"] }] };
    expect([2, "many"].flatMap((value) => problems(either, value))).toEqual([]);
    expect([problems(either, 4), problems(either, "few")].map(({ length }) => length)).toEqual([1, 1]);
  });

  const a = { a: { type: "string" } };
  const b = { properties: { b: { type: "integer" } }, required: ["b"] };

  it.each<{ name: string; schema: object; fits: unknown[]; wrong: unknown[] }>([
    { name: "null where it says so", schema: { type: "string", enum: ["x"], nullable: true }, fits: [null, "x"], wrong: ["y", 1] },
    {
      name: "members of parts",
      schema: { properties: a, allOf: [b] },
      fits: [{ a: "", b: 1 }],
      wrong: [{ a: "" }, { b: "" }, { b: 1, c: 1 }],
    },
    { name: "the one part", schema: { allOf: [{ ...b, type: "object" }] }, fits: [{ b: 1 }], wrong: [{}, { b: "" }, 5] },
    {
      name: "patterns of members",
      schema: { properties: a, patternProperties: { "^x": {} } },
      fits: [{ a: "", x1: 1 }],
      wrong: [{ a: 1 }],
    },
    {
      name: "alternatives beside members",
      schema: { properties: a, anyOf: [b] },
      fits: [{ a: "", b: 1 }],
      wrong: [{ a: "" }, { a: 1, b: 1 }],
    },
    { name: "alternatives alone", schema: { additionalProperties: false, anyOf: [b] }, fits: [{ b: 1 }], wrong: [{ b: 1, c: 1 }] },
    { name: "a number of members", schema: { properties: a, minProperties: 2 }, fits: [{ a: "", b: 1 }], wrong: [{ a: 1 }] },
    { name: "members that are required alone", schema: { properties: a, required: ["b"] }, fits: [{ b: 1 }], wrong: [{}, { b: 1, c: 1 }] },
    { name: "declared members alone", schema: { properties: a }, fits: [{}, { a: "" }], wrong: [{ c: 1 }] },
    {
      name: "nothing where nothing fits",
      schema: { properties: { a: false, b: { allOf: [false] } } },
      fits: [{}],
      wrong: [{ a: 1 }, { b: 1 }],
    },
    { name: "no members", schema: { type: "object", additionalProperties: false }, fits: [{}], wrong: [{ c: 1 }] },
    { name: "items behind the first", schema: { prefixItems: [{}], items: { type: "string" } }, fits: [[1, "x"]], wrong: [["x", 1]] },
  ])("takes, as the grammar does, $name", ({ schema, fits, wrong }) => {
    const read = readerOf(schema);
    expect(fits.map((value) => [value, problems(schema, value), read(spacedJson(value))])).toEqual(
      fits.map((value) => [value, [], "fits"]),
    );
    expect(wrong.filter((value) => problems(schema, value).length === 0)).toEqual([]);
  });

  it("reads the parts of a call's schema from its root", () => {
    const parameters = { type: "object", properties: { p: { allOf: [{ $ref: "#/$defs/A" }, b] } }, $defs: { A: { properties: a } } };
    const of = (args: Record<string, unknown>) => checkArguments({ type: "function", function: { name: "Book", parameters } }, args);
    expect([of({ p: { a: "", b: 1 } }), of({ p: { a: "" } })]).toEqual([[], ["Book.p.b must be given, got nothing"]]);
  });

  it("takes for declared and for given what is, and nothing that every object inherits", () => {
    const inherited = ["constructor", "toString", "__proto__"];
    const own = (name: string, value: unknown): unknown => JSON.parse(JSON.stringify({ x: value }).replace('"x"', JSON.stringify(name)));
    for (const name of inherited) {
      expect(problems({ properties: a }, own(name, 1))).toEqual([`Book.rooms must have only declared arguments, got ${name}`]);
      expect(problems({ properties: a, required: [name] }, {})).toEqual([`Book.rooms.${name} must be given, got nothing`]);
      expect(problems({ properties: own(name, { type: "string" }) }, own(name, 1))).toEqual([`Book.rooms.${name} must be string, got 1`]);
    }
  });

  it("lets through what it does not know", () => {
    expect(problems({ pattern: "^x$", format: "date" }, "y")).toEqual([]);
    expect(problems({ type: 7 }, "y")).toEqual([]);
  });
});
