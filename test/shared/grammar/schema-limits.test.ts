/** What a schema's grammar cannot do: which keywords it says so of, what nothing fits, and how large a schema may be. */
import { describe, expect, it } from "vitest";
import { Automaton, type State } from "../../../shared/grammar/automaton.ts";
import { isPossible, mostBeginnings } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { readerOf } from "./rules.ts";

describe("a schema", () => {
  it("has every keyword told that its grammar does not enforce", () => {
    const loose: string[] = [];
    const schema = {
      type: "object",
      description: "annotations are no rules",
      properties: {
        zip: { type: "string", pattern: "^(\\d)\\1$" },
        n: { type: "number", multipleOf: 0.30000000000000004 },
        list: { type: "array", uniqueItems: true },
        s: { enum: ["a"], minLength: 1 },
        o: { oneOf: [{}] },
      },
      additionalProperties: { $ref: "elsewhere.json" },
    };
    compileSchema(schema, { path: "tool", onLoose: (path) => loose.push(path) });
    expect(loose.sort()).toEqual([
      "tool.additionalProperties.$ref",
      "tool.properties.list.uniqueItems",
      "tool.properties.n.multipleOf",
      "tool.properties.o.oneOf",
      "tool.properties.s.minLength",
      "tool.properties.zip.pattern",
    ]);
  });

  it.each<[object, string[]]>([
    [{ type: "string", pattern: "a", allOf: [{ pattern: "b" }] }, []],
    [{ type: "string", pattern: "a", allOf: [{ pattern: "(?<=b)" }] }, ["pattern"]],
    [
      { allOf: [{ required: ["a"] }, { if: {}, else: {} }, { type: "object", minProperties: 1 }], maxProperties: 2 },
      ["else", "if", "maxProperties", "minProperties"],
    ],
    [{ allOf: [{ properties: { a: {} } }, { if: {} }], unevaluatedProperties: false }, ["if", "unevaluatedProperties"]],
    [{ properties: { a: {} }, unevaluatedProperties: false }, []],
    [{ $ref: "#/$defs/A", required: ["b"], unevaluatedProperties: false, $defs: { A: { properties: { a: {} } } } }, []],
    [{ $ref: "elsewhere.json", properties: { a: {} }, unevaluatedProperties: false }, ["$ref", "unevaluatedProperties"]],
    [{ allOf: [{ enum: ["a", 1] }, { const: "a" }], format: "date" }, ["allOf", "format"]],
    [{ properties: { a: {} }, additionalProperties: true, allOf: [{ additionalProperties: { type: "integer" } }] }, ["allOf"]],
    [{ allOf: [{ items: { type: "string" } }, { items: { type: "integer" } }] }, ["allOf"]],
    [{ items: [{ type: "string" }, { type: "number" }], additionalItems: false }, ["items"]],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, ["prefixItems"]],
    [{ items: [{ type: "number" }, { type: "number" }], additionalItems: false }, []],
    [{ items: [{ type: "number" }, { type: "string" }], maxItems: 1 }, []],
    [{ type: "integer", minimum: 5, allOf: [{ minimum: 0, maximum: 7 }] }, []],
    [{ allOf: [{ $ref: "#/$defs/A" }, { type: "object" }], $defs: { A: { properties: { a: {} } } } }, []],
  ])("has parts told that no one rule holds: %j", (schema, told) => {
    const loose: string[] = [];
    compileSchema(schema, { path: "", onLoose: (path) => loose.push(path) });
    expect(loose.sort()).toEqual(told);
  });

  it.each([
    ["no value of its type", { type: "string", enum: [1] }],
    ["false", false],
    ["a required member that nothing fits", { properties: { a: false }, required: ["a"] }],
    ["no number within its bounds", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 }],
    ["a name for itself alone", { $ref: "#" }],
    ["what needs itself", { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] }],
    ["a closed object that requires what it does not have", { properties: {}, required: ["b"], additionalProperties: false }],
    ["a number that JSON cannot write", { const: Infinity }],
    ["a part that nothing fits", { allOf: [{ type: "string" }, { $ref: "#/$defs/never" }], $defs: { never: false } }],
    ["parts of two types", { type: "string", allOf: [{ type: "integer", minimum: 0 }] }],
    ["alternatives of other types alone", { type: "string", anyOf: [{ type: "integer" }, { type: "null" }] }],
    ["more items than it may have", { type: "array", minItems: 2, maxItems: 1 }],
  ])("that nothing fits is known for it: %s", (_, schema) => {
    expect(isPossible(compileSchema(schema, { path: "" }))).toBe(false);
  });

  it("whose optional member nothing fits is written without it", () => {
    const read = readerOf({ properties: { a: false, b: { type: "null" } } });
    expect(['{"b": null}', '{"a'].map(read)).toEqual(["fits", "refused"]);
    const named = readerOf({ properties: { a: { $ref: "#/$defs/never" }, b: { type: "null" } }, $defs: { never: false } });
    expect(['{"b": null}', '{"a'].map(named)).toEqual(["fits", "refused"]);
    expect(["{}", '{"'].map(readerOf({ type: "object", additionalProperties: { type: "string", enum: [1] } }))).toEqual([
      "fits",
      "refused",
    ]);
  });

  it("whose names stand for alternatives of each other is read in no time", () => {
    const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const $defs = Object.fromEntries(
      names.map((name, index) => {
        const next = names[index + 1];
        return [name, next === undefined ? { const: "end" } : { anyOf: [{ $ref: `#/$defs/${next}` }, { $ref: `#/$defs/${next}` }] }];
      }),
    );
    expect(readerOf({ $ref: "#/$defs/n0", $defs })('"end"')).toBe("fits");
  });

  it("with more alternatives that begin alike than can be tried is held to the first of them", () => {
    const anyOf = Array.from({ length: 400 }, (_, index) => ({ properties: { a: { type: "string" }, [`b${index}`]: {} } }));
    const rule = compileSchema({ properties: { list: { type: "array", items: { anyOf } } } }, { path: "" });
    expect(['{"a": "x", "b299": 1}', '{"a": "x", "b300'].map(readerOf({ anyOf }))).toEqual(["fits", "refused"]);
    expect([mostBeginnings(rule), mostBeginnings(compileSchema({ $ref: "#" }, { path: "" }))]).toEqual([400, 0]);
  });

  it("whose alternatives are told apart only behind what they hold is read as deep as it goes, and the same by every copy", () => {
    const of = (members: object): object => ({
      type: "object",
      properties: members,
      required: Object.keys(members),
      additionalProperties: false,
    });
    const binary = (op: string): object => of({ op: { const: op }, left: { $ref: "#/$defs/E" }, right: { $ref: "#/$defs/E" } });
    const E = { anyOf: [...["add", "sub", "mul", "div"].map(binary), of({ value: { type: "number" } })] };
    const schema = { ...of({ e: { $ref: "#/$defs/E" } }), $defs: { E } };
    const deep = (op: string, levels: number): string =>
      levels === 0 ? '{"value": 1}' : `{"left": ${deep(op, levels - 1)}, "right": {"value": 2}, "op": "${op}"}`;
    const texts = [deep("add", 9), deep("div", 2), deep("div", 6), deep("sub", 6)].map((e) => `{"e": ${e}}`);
    const first = texts.map(readerOf(schema));
    expect(first).toEqual(["fits", "fits", "refused", "refused"]);
    // Whatever was compiled before, and in whatever order texts are read.
    for (let copy = 0; copy < 12; copy += 1) {
      const reversed = texts.toReversed().map(readerOf(schema));
      expect(reversed.toReversed()).toEqual(first);
    }
  });

  it("with more alternatives than a call takes arguments is compiled", () => {
    const anyOf = Array.from({ length: 200_000 }, () => ({ type: "null" }));
    expect(readerOf({ type: "array", items: { anyOf } })("[null]")).toBe("fits");
  });

  it("of a long list is counted as the work that it is", () => {
    const values = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`);
    const workOf = (schema: object): number => {
      const automaton = new Automaton(compileSchema(schema, { path: "" }), new Uint8Array(0));
      let state: State | undefined = automaton.start;
      for (const byte of new TextEncoder().encode('["v1"')) state = state && automaton.step(state, byte);
      const { work } = automaton;
      expect(state && automaton.step(state, 0x5d)?.mayEnd).toBe(true); // "]"
      return work;
    };
    expect(workOf({ type: "array", items: { enum: values(10) } })).toBeLessThan(10);
    expect(workOf({ type: "array", items: { enum: values(64_000) } })).toBeGreaterThan(3_000);
  });

  it("of many constants is as good as one of their list", () => {
    const anyOf = Array.from({ length: 400 }, (_, index) => ({ const: `C${index}`, title: `country ${index}` }));
    expect(['"C399"', '"C400"'].map(readerOf({ anyOf }))).toEqual(["fits", "refused"]);
  });

  it("that is nested by what it requires takes no longer for each level", () => {
    const nested = (depth: number): object =>
      depth === 0 ? {} : { type: "object", required: ["x", "y", "z"], additionalProperties: nested(depth - 1) };
    expect(readerOf(nested(30))('{"x": {"x": {')).toBe("unfinished");
    const lists = (depth: number): object => (depth === 0 ? {} : { type: ["array", "array"], items: lists(depth - 1) });
    expect(readerOf(lists(30))("[[")).toBe("unfinished");
  });

  it("whose parts are spread over each other takes no longer for each level", () => {
    const next = (index: number): object => ({ allOf: [{ $ref: `#/$defs/D${index}` }, { type: "object", title: "t" }] });
    const levels = (wrap: (schema: object) => object): object =>
      Object.fromEntries(
        Array.from({ length: 15 }, (_, index) => [
          `D${index}`,
          {
            type: "object",
            properties: index === 14 ? {} : { a: wrap(next(index + 1)), b: wrap(next(index + 1)), c: wrap(next(index + 1)) },
          },
        ]),
      );
    const wraps = [
      (schema: object) => schema,
      (schema: object) => ({ allOf: [schema] }),
      (schema: object) => ({ type: "object", anyOf: [schema] }),
    ];
    for (const wrap of wraps) {
      const read = readerOf({ $ref: "#/$defs/D0", $defs: levels(wrap) });
      expect(['{"a": {"b": {}}, "c": {}}', '{"a": {"d'].map(read)).toEqual(["fits", "refused"]);
    }
  });

  it("with a part that holds the whole is read as deep as it goes", () => {
    const note = { type: "object", properties: { note: { type: "null" } } };
    for (const part of [{ description: "the one above" }, { title: "t", deprecated: true, readOnly: true, examples: [{}] }, true, note]) {
      const parent = { allOf: [{ $ref: "#/$defs/Node" }, part] };
      const read = readerOf({
        $ref: "#/$defs/Node",
        $defs: { Node: { type: "object", properties: { parent, value: { type: "integer" } }, additionalProperties: false } },
      });
      expect(['{"parent": {"parent": {"value": 1}}}', '{"parent": {"value": "'].map(read)).toEqual(["fits", "refused"]);
    }
  });

  it("may be a long chain of names", () => {
    const chain = Array.from({ length: 900 }, (_, index) => [
      `n${index}`,
      index === 899 ? { const: 1 } : { $ref: `#/$defs/n${index + 1}` },
    ]);
    expect(readerOf({ $ref: "#/$defs/n0", $defs: Object.fromEntries(chain) as object })("1")).toBe("fits");
    const many = Array.from({ length: 1_200 }, (_, index) => [`p${index}`, { $ref: `#/properties/p${index + 1}` }]);
    expect(() => readerOf({ properties: Object.fromEntries(many) as object })).toThrow(/at most 1000 references and lists of parts/);
  });

  it("of which many places were visited is forgotten and read on", () => {
    const read = readerOf({ type: "array", items: { type: "string", maxLength: 300 } });
    const text = JSON.stringify(Array.from({ length: 30 }, (_, index) => "x".repeat(290 - index))).replaceAll(",", ", ");
    expect([read(text), read(text), read(`${text.slice(0, -1)}, 1`)]).toEqual(["fits", "fits", "refused"]);
  });

  it("keeps no more places than it may, however many were visited", () => {
    const rule = compileSchema({ type: "integer", minimum: 0, maximum: 1e12 }, { path: "" });
    const automaton = new Automaton(rule, new Uint8Array(0));
    // Every number of up to four digits is a place of its own.
    const visit = (state: State, digits: number): void => {
      for (let byte = 0x30; byte <= 0x39 && digits > 0; byte += 1) {
        const next = automaton.step(state, byte);
        if (next !== undefined) visit(next, digits - 1);
      }
    };
    for (let times = 0; times < 6; times += 1) visit(automaton.start, 4);
    const seen = new Set<State>([automaton.start]);
    for (const state of seen) for (const next of state.next) if (next) seen.add(next);
    expect(seen.size).toBeLessThanOrEqual(2_000);
  });

  it("that is its own only meaning fits nothing, and the search for its beginning ends", () => {
    expect(readerOf({ $ref: "#" })("{")).toBe("refused");
    expect(readerOf({ anyOf: [{ $ref: "#" }, { type: "null" }] })("null")).toBe("fits");
  });
});
