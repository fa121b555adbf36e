/** Schemas made of parts, by a validator of others: what the grammar lets through of some values fits, and what is meant is let through. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { readerOf } from "./rules.ts";

const flag = { type: "boolean" };
const text = { type: "string" };
const a = { type: "object", properties: { a: flag }, required: ["a"] };
const b = { type: "object", properties: { b: flag }, required: ["b"] };
const $defs = { a, b, named: { description: "a by another name", allOf: [{ $ref: "#/$defs/a" }] }, any: true };
const closed = { unevaluatedProperties: false };

const MEMBERS = { a: [true, "x", ""], b: [true, 1], c: ["x", true] };
const OBJECTS = Object.entries(MEMBERS).reduce<object[]>(
  (all, [name, values]) => all.flatMap((each) => [each, ...values.map((value) => ({ ...each, [name]: value }))]),
  [{}],
);
const VALUES: readonly unknown[] = [null, true, 1, "", "x", "abc", [], ["x"], ...OBJECTS];

function takenOf(schema: object): unknown[] {
  const read = readerOf(schema);
  return VALUES.filter((value) => read(spacedJson(value)) === "fits");
}

function fitting(schema: object): (value: unknown) => boolean {
  const fits = new Ajv2020({ strict: false }).compile(schema);
  return (value) => fits(value) === true;
}

function toldOf(schema: object): string[] {
  const told = new Set<string>();
  compileSchema(schema, { path: "", onLoose: (_, keyword) => told.add(keyword) });
  return [...told].sort();
}

describe("the grammar of parts", () => {
  it.each<{ name: string; schema: object; meant: unknown }>([
    { name: "objects that are closed together", schema: { allOf: [a, b], ...closed }, meant: { a: true, b: true } },
    {
      name: "objects by name that are closed",
      schema: { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }], ...closed, $defs },
      meant: { a: true, b: true },
    },
    {
      name: "a part of parts",
      schema: { allOf: [{ allOf: [a, { properties: { c: text } }] }, b], ...closed },
      meant: { a: true, b: true, c: "x" },
    },
    { name: "a part that is closed itself", schema: { allOf: [{ ...a, ...closed }, { properties: { c: text } }] }, meant: { a: true } },
    {
      name: "parts of which one is open",
      schema: { allOf: [{ ...a, additionalProperties: true }, b], ...closed },
      meant: { a: true, b: true, c: "x" },
    },
    { name: "a part with others of one type", schema: { allOf: [a], unevaluatedProperties: text }, meant: { a: true, c: "x" } },
    { name: "members that are closed", schema: { ...a, ...closed }, meant: { a: true } },
    { name: "a reference that is closed", schema: { $ref: "#/$defs/named", ...closed, $defs }, meant: { a: true } },
    {
      name: "a reference beside members",
      schema: { $ref: "#/$defs/a", properties: { b: flag }, required: ["b"], $defs },
      meant: { a: true, b: true },
    },
    { name: "a reference to parts beside members", schema: { $ref: "#/$defs/named", ...b, ...closed, $defs }, meant: { a: true, b: true } },
    { name: "a reference to anything beside members", schema: { allOf: [{ $ref: "#/$defs/any" }, a], $defs }, meant: { a: true } },
    { name: "a reference beside bounds", schema: { $ref: "#/$defs/text", minLength: 2, $defs: { text } }, meant: "abc" },
    { name: "an alternative of parts", schema: { anyOf: [{ allOf: [a, b], ...closed }, { type: "null" }] }, meant: null },
  ])("lets through what fits them: $name", ({ schema, meant }) => {
    const [taken, fits] = [takenOf(schema), fitting(schema)];
    expect(toldOf(schema)).toEqual([]);
    expect(taken.filter((value) => !fits(value))).toEqual([]);
    expect(taken).toContainEqual(meant);
  });

  it.each<{ name: string; schema: object; held: object; told: string[] }>([
    { name: "beside objects", schema: { allOf: [a, b], minProperties: 3 }, held: { allOf: [a, b] }, told: ["minProperties"] },
    { name: "within a part", schema: { allOf: [a, { ...b, maxProperties: 1 }] }, held: { allOf: [a, b] }, told: ["maxProperties"] },
    { name: "as parts", schema: { allOf: [a, { not: b }, { not: { required: ["c"] } }] }, held: a, told: ["not"] },
    {
      name: "of texts",
      schema: {
        allOf: [
          { ...text, contains: {} },
          { uniqueItems: true, minLength: 2 },
        ],
      },
      held: { ...text, minLength: 2 },
      told: ["contains", "uniqueItems"],
    },
    {
      name: "conditions",
      schema: { allOf: [a, { if: a, else: b }, { if: b, else: a }], ...closed },
      held: a,
      told: ["else", "if", "unevaluatedProperties"],
    },
  ])("holds texts to the rest of the parts where a keyword is not enforced: $name", ({ schema, held, told }) => {
    const [taken, fits] = [takenOf(schema), fitting(held)];
    expect(toldOf(schema)).toEqual(told);
    expect([taken.length > 0, taken.filter((value) => !fits(value))]).toEqual([true, []]);
  });

  it.each<{ schema: object; types: string[] }>([
    { schema: { allOf: [{ ...a, required: [] }, { anyOf: [b, { properties: { c: text } }] }] }, types: ["object"] },
    { schema: { allOf: [{ enum: ["x", null, 1] }, { enum: ["x", null, true] }] }, types: ["string", "null"] },
    {
      schema: { allOf: [{ anyOf: [a, { type: "null" }] }, { oneOf: [{ type: ["object", "string"] }, { const: null }] }] },
      types: ["object", "null"],
    },
    { schema: { allOf: [{ properties: { a: { anyOf: [] } } }, { properties: { a: { oneOf: [] } } }] }, types: ["object"] },
  ])("lets through the types of all parts where no one schema says the same: $types, %#", ({ schema, types }) => {
    expect([toldOf(schema), takenOf(schema)]).toEqual([["allOf"], VALUES.filter(fitting({ type: types }))]);
  });

  it("of references that lead in a circle is that of nothing, and of those that lead nowhere that of the rest", () => {
    expect(takenOf({ ...a, $ref: "#/$defs/x", $defs: { x: { $ref: "#/$defs/y" }, y: { $ref: "#/$defs/x" } } })).toEqual([]);
    expect(takenOf({ $ref: "#/$defs/x", type: "null", $defs: { x: { $ref: "elsewhere" } } })).toEqual([null]);
    const mutual = { x: { allOf: [{ $ref: "#/$defs/y" }, a] }, y: { allOf: [{ $ref: "#/$defs/x" }, b] } };
    expect(takenOf({ $ref: "#/$defs/x", $defs: mutual })).toEqual([{ a: true, b: true }]);
  });

  it("that refer to each other many times over is made in no time", () => {
    const names = Array.from({ length: 200 }, (_, index) => {
      const next = { $ref: `#/$defs/n${index + 1}` };
      return [`n${index}`, index === 199 ? a : { allOf: [next, { ...next, title: "again" }, { properties: { [`p${index}`]: flag } }] }];
    });
    const read = readerOf({ $ref: "#/$defs/n0", $defs: Object.fromEntries(names) as object });
    expect(['{"p7": true, "a": true}', '{"p7": true}', '{"q'].map(read)).toEqual(["fits", "refused", "refused"]);
  });
});
