/** JSON schemas as byte grammars: what fits is let through, what does not is stopped at the first byte that shows it. */
import { describe, expect, it } from "vitest";
import { Automaton, type State } from "../../../shared/grammar/automaton.ts";
import { isPossible } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { readerOf } from "./rules.ts";

const room = {
  type: "object",
  properties: { city: { type: "string" }, rooms: { type: "integer" }, view: { enum: ["sea", "sea and hills"] } },
  required: ["city"],
};

describe.each([
  {
    name: "an object",
    schema: room,
    fits: [
      '{"city": "Oslo"}',
      '{"rooms": 2, "city": "x"}',
      '{"view": "sea", "city": ""}',
      '{"view": "sea and hills", "city": "a", "rooms": -1}',
    ],
    unfinished: ["", "{", '{"city": "Oslo"', '{"city": "Oslo", "'],
    refused: [
      "[",
      "{}",
      '{"rooms": 2}',
      '{"city": 1',
      '{"town',
      '{"city": "a", "city',
      '{"city": "a",}',
      '{"city":"a"',
      '{"rooms": 2.',
      '{"view": "seas',
    ],
  },
  {
    name: "an object of any members",
    schema: { type: "object" },
    fits: ["{}", '{"a": {"b": [1, "x", null, {}]}}', '{"a\\"b": true, "é": 1.5e-3}'],
    unfinished: ['{"a": [1, '],
    refused: ['{"\\u', '{"\\/', '{"a": tru3', "{a"],
  },
  {
    name: "declared members beside any numbers",
    schema: { properties: { kind: { const: "x" } }, additionalProperties: { type: "number" } },
    fits: ["{}", '{"kind": "x", "n": 1}', '{"n": 1, "kind": "x"}', '{"kinds": 0}'],
    unfinished: ['{"kind'],
    refused: ['{"kind": 1', '{"n": "', '{"kind": "x", "kind"', '{"\\u006b'],
  },
  {
    name: "strings with lengths in characters",
    schema: { type: "string", minLength: 2, maxLength: 3 },
    fits: ['"ab"', '"éé"', '"日本語"', '"a\\n"', '"\\u00e9b"', '"a\\""'],
    unfinished: ['"ab', '"\\u00'],
    refused: ['"a"', '"abcd', '"\\u00e9"', '"\\x', '"a\n', '"\\ud83d', '"\\uDC'],
  },
  {
    name: "numbers",
    schema: { type: "number" },
    fits: ["0", "-0", "10.25", "1e9", "1E+9", "-3.5e-07"],
    unfinished: ["-", "1.", "1e", "1e+"],
    refused: ["+1", "01", ".5", "--1", "1e5.", "NaN"],
  },
  {
    name: "integers within bounds",
    schema: { type: "integer", minimum: -12, exclusiveMaximum: 305 },
    fits: ["0", "-0", "-12", "7", "304", "31", "99"],
    unfinished: ["-"],
    refused: ["305", "-13", "-2 ", "400", "1e", "3040", "-120"],
  },
  {
    name: "integers that a bound puts far away",
    schema: { type: "integer", minimum: 120 },
    fits: ["120", "200", "1000", "45678901234567"],
    unfinished: ["1", "12", "9"],
    refused: ["0", "-"],
  },
  {
    name: "safe integers",
    schema: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
    fits: ["9007199254740991", "-9007199254740991", "5"],
    unfinished: ["-"],
    refused: ["9007199254740992", "90071992547409910"],
  },
  {
    name: "numbers within bounds",
    schema: { type: "number", exclusiveMinimum: 0, maximum: 2.5 },
    fits: ["0.001", "2.5", "2.50", "1", "2.0"],
    unfinished: ["0", "0.", "0.0", "2."],
    refused: ["2.6", "2.51", "3", "-", "1e", "25"],
  },
  {
    name: "negative numbers within bounds",
    schema: { type: "number", minimum: -1.25, exclusiveMaximum: -0.5 },
    fits: ["-1.25", "-0.51", "-1", "-0.50001"],
    unfinished: ["-0", "-0.5", "-0.50"],
    refused: ["-1.26", "-0.4", "0", "-2", "-1.251"],
  },
  { name: "bounds of whatever is a number", schema: { minimum: 5 }, fits: ["6", '"x"', "null"], unfinished: ["4"], refused: ["-1", "0"] },
  { name: "integers", schema: { type: "integer" }, fits: ["0", "-12"], unfinished: ["-"], refused: ["1.", "1e", "00"] },
  {
    name: "arrays",
    schema: { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2 },
    fits: ["[true]", "[true, false]"],
    unfinished: ["[", "[true, "],
    refused: ["[]", "[true, true,", "[true,false", "[1"],
  },
  { name: "arrays of anything", schema: { type: "array" }, fits: ["[]", "[[], {}, 1]"], unfinished: ["[["], refused: ["[,", "[1,]"] },
  {
    name: "alternatives that begin alike",
    schema: {
      anyOf: [
        { type: "object", properties: { a: { type: "number" } }, required: ["a"], additionalProperties: false },
        { type: "object", properties: { a: { type: "string" }, b: { type: "null" } }, required: ["a"] },
        { type: "null" },
      ],
    },
    fits: ['{"a": 1}', '{"a": "1", "b": null}', "null"],
    unfinished: ['{"a"'],
    refused: ['{"a": 1,', "{}", "true"],
  },
  {
    name: "numbers that begin alike",
    schema: { enum: [1, 10, 105] },
    fits: ["1", "10", "105"],
    unfinished: [],
    refused: ["11", "1052", "2"],
  },
  { name: "several types", schema: { type: ["integer", "null"] }, fits: ["3", "null"], unfinished: ["nul"], refused: ['"3'] },
  {
    name: "values of the type alone",
    schema: { type: "string", enum: ["1", 1, null] },
    fits: ['"1"'],
    unfinished: ['"1'],
    refused: ["1", "n"],
  },
  {
    name: "what holds itself",
    schema: {
      $ref: "#/$defs/tree",
      $defs: {
        tree: {
          type: "object",
          properties: { left: { $ref: "#/$defs/tree" }, right: { anyOf: [{ $ref: "#/$defs/tree" }, { type: "null" }] } },
        },
      },
    },
    fits: ["{}", '{"left": {"right": null}}', '{"right": {"left": {}}, "left": {}}'],
    unfinished: ['{"left": {"right": '],
    refused: ['{"left": null', '{"up'],
  },
  {
    name: "one of several",
    schema: { oneOf: [{ const: "a" }, { type: "null" }] },
    fits: ['"a"', "null"],
    unfinished: [],
    refused: ["1"],
  },
  {
    name: "all of one",
    schema: { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { const: "a" } } },
    fits: ['"a"'],
    unfinished: [],
    refused: ["1"],
  },
  {
    name: "declared members beside alternatives",
    schema: { type: "object", properties: { a: { type: "null" }, b: { type: "null" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    fits: ['{"a": null}', '{"b": null, "a": null}'],
    unfinished: [],
    refused: ['{"c'],
  },
  { name: "any value", schema: {}, fits: ["1", '"x"', "[]", '{"a": null}'], unfinished: ["t"], refused: ["x", "]"] },
])("the grammar of $name", ({ schema, fits, unfinished, refused }) => {
  const read = readerOf(schema);
  it.each(fits)("lets through %s", (text) => expect(read(text)).toBe("fits"));
  it.each(unfinished)("waits for more after %s", (text) => expect(read(text)).toBe("unfinished"));
  it.each(refused)("stops %s", (text) => expect(read(text)).toBe("refused"));
});

describe("a string's bytes", () => {
  const automaton = new Automaton(compileSchema({ type: "string" }, { path: "" }), new Uint8Array(0));
  const fits = (bytes: readonly number[]): boolean =>
    [0x22, ...bytes].reduce((state: State | undefined, byte) => state && automaton.step(state, byte), automaton.start) !== undefined;

  it("are UTF-8 as a decoder of others takes it, up to four bytes of a character", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const decodes = (bytes: readonly number[]): boolean => {
      try {
        // What is cut off within a character may still come to its end.
        decoder.decode(Uint8Array.from(bytes), { stream: true });
        return true;
      } catch {
        return false;
      } finally {
        drain(decoder);
      }
    };
    const edges = [
      0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4,
      0xf5, 0xff,
    ];
    for (const a of edges)
      for (const b of edges)
        for (const c of edges)
          for (const bytes of [[a], [a, b], [a, b, c], [a, b, c, 0x80]]) expect([bytes, fits(bytes)]).toEqual([bytes, decodes(bytes)]);
  });
});

function drain(decoder: TextDecoder): void {
  try {
    decoder.decode();
  } catch {
    // A decoder forgets what it held when it is told that nothing follows, whether that was whole or not.
  }
}

describe("a schema", () => {
  it("has every keyword told that its grammar does not enforce", () => {
    const loose: string[] = [];
    const schema = {
      type: "object",
      description: "annotations are no rules",
      properties: {
        zip: { type: "string", pattern: "^[0-9]{5}$" },
        n: { type: "integer", multipleOf: 5 },
        s: { enum: ["a"], minLength: 1 },
        o: { oneOf: [{}] },
      },
      additionalProperties: { $ref: "elsewhere.json" },
    };
    compileSchema(schema, { path: "tool", onLoose: (path) => loose.push(path) });
    expect(loose.sort()).toEqual([
      "tool.additionalProperties.$ref",
      "tool.properties.n.multipleOf",
      "tool.properties.o.oneOf",
      "tool.properties.s.minLength",
      "tool.properties.zip.pattern",
    ]);
  });

  it.each([
    ["no value of its type", { type: "string", enum: [1] }],
    ["false", false],
    ["a required member that nothing fits", { properties: { a: false }, required: ["a"] }],
    ["no number within its bounds", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 }],
    ["more items than it may have", { type: "array", minItems: 2, maxItems: 1 }],
  ])("that nothing fits is known for it: %s", (_, schema) => {
    expect(isPossible(compileSchema(schema, { path: "" }))).toBe(false);
  });

  it("whose optional member nothing fits is written without it", () => {
    const read = readerOf({ properties: { a: false, b: { type: "null" } } });
    expect(['{"b": null}', '{"a'].map(read)).toEqual(["fits", "refused"]);
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

  it("with more alternatives that begin alike than can be tried is refused by their number", () => {
    const anyOf = Array.from({ length: 300 }, (_, index) => ({ properties: { a: { type: "string" }, [`b${index}`]: {} } }));
    expect(() => readerOf({ anyOf })('{"a": "x')).toThrow(/at most 200 alternatives begin alike expected, got 300/);
  });

  it("of which many places were visited is forgotten and read on", () => {
    const read = readerOf({ type: "array", items: { type: "string", maxLength: 300 } });
    const text = JSON.stringify(Array.from({ length: 30 }, (_, index) => "x".repeat(290 - index))).replaceAll(",", ", ");
    expect([read(text), read(text), read(`${text.slice(0, -1)}, 1`)]).toEqual(["fits", "fits", "refused"]);
  });

  it("that is its own only meaning fits nothing, and the search for its beginning ends", () => {
    expect(readerOf({ $ref: "#" })("{")).toBe("refused");
    expect(readerOf({ anyOf: [{ $ref: "#" }, { type: "null" }] })("null")).toBe("fits");
  });
});
