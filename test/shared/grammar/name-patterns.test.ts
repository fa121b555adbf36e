/** Patterns of members' names, by a validator of others: what is required can be written, as its name says. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { isPossible } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { checkValue } from "../../../shared/schema-check.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { readerOf } from "./rules.ts";

const flag = { type: "boolean" };
const text = { type: "string" };
const variables = { patternProperties: { "^ENV_": text }, additionalProperties: false };

describe("patterns of names", () => {
  it.each<{ name: string; schema: object; taken: unknown[]; refused: unknown[] }>([
    {
      name: "a closed object",
      schema: { ...variables, required: ["ENV_A"] },
      taken: [{ ENV_A: "x" }],
      refused: [{}, { ENV_A: 1 }, { ENV_A: "x", b: "x" }],
    },
    {
      name: "an object that others close",
      schema: { ...variables, additionalProperties: undefined, required: ["ENV_A"], unevaluatedProperties: false },
      taken: [{ ENV_A: "x" }],
      refused: [{ ENV_A: 1 }],
    },
    {
      name: "declared members",
      schema: { ...variables, properties: { a: flag }, required: ["ENV_A"] },
      taken: [{ ENV_A: "x", a: true }],
      refused: [{ a: true }, { ENV_A: true }],
    },
    {
      name: "other members",
      schema: { ...variables, additionalProperties: flag, required: ["ENV_A", "a"] },
      taken: [{ ENV_A: "x", a: true, b: true }],
      refused: [
        { ENV_A: true, a: true },
        { ENV_A: "x", a: "x" },
      ],
    },
    {
      name: "a part that is closed",
      schema: { type: "object", allOf: [variables, { properties: { ENV_A: { const: "x" } }, required: ["ENV_A"] }] },
      taken: [{ ENV_A: "x" }],
      refused: [{ ENV_A: "y" }],
    },
    {
      name: "patterns of two parts",
      schema: { type: "object", allOf: [variables, { patternProperties: { "^X_": {} }, required: ["ENV_A"] }] },
      taken: [{ ENV_A: "x" }],
      refused: [{ ENV_A: 1 }],
    },
    {
      name: "a pattern that is not tried",
      schema: { ...variables, patternProperties: { "^(ENV|X)_": text, "^b": { type: "null" } }, required: ["ENV_A"] },
      taken: [{ ENV_A: "x" }],
      refused: [{ ENV_A: 1 }],
    },
    {
      name: "a long pattern among others",
      schema: { required: ["ab"], patternProperties: { "^a": text, [`${"a".repeat(65)}$`]: {} }, additionalProperties: false },
      taken: [{ ab: "x" }],
      refused: [{ ab: 1 }],
    },
    { name: "a map", schema: variables, taken: [{}, { ENV_A: "x" }, { ENV_A: "", ENV_B: "x" }], refused: [{ ENV_A: 1 }] },
  ])("hold what is required of $name", ({ schema, taken, refused }) => {
    const typed = { type: "object", ...schema };
    const [read, fits] = [readerOf(typed), new Ajv2020({ strict: false }).compile(JSON.parse(JSON.stringify(typed)) as object)];
    expect([...taken, ...refused].map((value) => [value, read(spacedJson(value)) === "fits"])).toEqual(
      [...taken, ...refused].map((value) => [value, fits(value)]),
    );
    expect(taken.flatMap((value) => checkValue(typed, value, "call"))).toEqual([]);
  });

  it.each<object>([
    { ...variables, required: ["a"] },
    { ...variables, required: ["env_A"], type: "object" },
    { patternProperties: { "^a": false }, required: ["ab"] },
    { patternProperties: {}, required: ["a"], additionalProperties: false },
  ])("rule out what is required: %j", (schema) => {
    expect(isPossible(compileSchema(schema, { path: "" }))).toBe(false);
  });

  it("are told of", () => {
    const told: string[] = [];
    compileSchema({ ...variables, patternProperties: { "^a": { format: "color" } } }, { path: "tool", onLoose: (path) => told.push(path) });
    expect(told).toEqual(["tool.patternProperties", "tool.patternProperties.^a.format"]);
  });

  it("that could take long are not tried, nor those behind the first few, nor what is no pattern", () => {
    const slow = `${"a".repeat(60)}b`;
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`^a*a{${index}}c$`, {}]));
    for (const patterns of [{ "(a*)*c": {} }, { "a*a*a*c": {} }, { "^(a|aa)+$": {} }, { "[": {} }, many]) {
      const read = readerOf({ patternProperties: patterns, required: [slow], additionalProperties: false });
      expect(read(spacedJson({ [slow]: 1 }))).toBe("fits");
    }
  });

  it("within patterns take no longer for each level", () => {
    const nested = (depth: number): object =>
      depth === 0 ? {} : { type: "object", patternProperties: { "^a": nested(depth - 1) }, required: ["a", "ab", "ac"] };
    expect(readerOf(nested(30))('{"ab": {"ac": {')).toBe("unfinished");
  });
});
