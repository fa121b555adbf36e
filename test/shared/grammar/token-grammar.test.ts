/** Masks over the shipped base's own vocabulary: exactly the tokens whose bytes fit, and among them those that the policy writes. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { callRule } from "../../../shared/grammar/calls.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { TokenGrammar } from "../../../shared/grammar/token-grammar.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { Tokenizer, type TokenizerFiles } from "../../../shared/tokenizer.ts";
import { Vocabulary } from "../../../shared/vocabulary.ts";
import { readerOf } from "./rules.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../../base/${name}`, import.meta.url), "utf8"));
const files = { tokenizer: read("tokenizer.json"), config: read("tokenizer_config.json") } as TokenizerFiles;
const tokenizer = new Tokenizer(files);
const SIZE = 4096;
const vocabulary = new Vocabulary(files, SIZE);
const END = 4;

const parameters = {
  type: "object",
  properties: {
    city: { type: "string" },
    cuisine: { type: "string", enum: ["Thai", "Tex-Mex", '"Quoted" food'] },
    guests: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    outdoor: { type: "boolean" },
  },
  required: ["city"],
};
const tool = (name: string): ToolDefinition => ({ type: "function", function: { name, parameters } });

function allowed(grammar: TokenGrammar, ids: readonly number[]): boolean {
  let state = grammar.start;
  return ids.every((id) => {
    const mask = grammar.mask(state);
    if (mask.ids.includes(id) !== (mask.kind === "allow")) return false;
    state = grammar.accept(state, id);
    return true;
  });
}

describe("a grammar over tokens", () => {
  const calls = new TokenGrammar(callRule([tool("FindRestaurants"), tool("Find_Places-2")]), { vocabulary, endId: END });

  it.each([
    { city: "Oslo", cuisine: "Thai" },
    { cuisine: "Tex-Mex", city: "São Paulo", guests: 12 },
    { tags: ["a", '7 "b" c', ""], city: "24th Street\n", outdoor: true },
    { city: "" },
    { city: '"Ünder" \\ 東京', cuisine: '"Quoted" food' },
  ])("lets the policy write %j as it has learnt to", (args) => {
    for (const name of ["FindRestaurants", "Find_Places-2"])
      expect(allowed(calls, tokenizer.encode(spacedJson({ name, arguments: args })))).toBe(true);
  });

  it.each([
    ["an unknown tool", { name: "Find", arguments: { city: "Oslo" } }],
    ["an argument that nobody declared", { name: "FindRestaurants", arguments: { city: "Oslo", town: "x" } }],
    ["a value that is no option", { name: "FindRestaurants", arguments: { city: "Oslo", cuisine: "Greek" } }],
    ["a missing argument", { name: "FindRestaurants", arguments: { guests: 2 } }],
    ["the wrong type", { name: "FindRestaurants", arguments: { city: 2 } }],
  ])("stops %s", (_, call) => {
    expect(allowed(calls, tokenizer.encode(spacedJson(call)))).toBe(false);
  });

  it("may end where the text may, and there alone", () => {
    const grammar = new TokenGrammar(compileSchema({ type: "integer" }, { path: "" }), { vocabulary, endId: END });
    const [minus, two] = [tokenizer.encode("-"), tokenizer.encode("2")].map(([id = 0]) => id);
    const begun = grammar.accept(grammar.start, minus ?? 0);
    expect(grammar.mask(grammar.start).ids).not.toContain(END);
    expect(grammar.mask(begun).ids).not.toContain(END);
    expect(grammar.mask(grammar.accept(begun, two ?? 0)).ids).toContain(END);
  });

  it("allows the tokens whose bytes fit, and no others", () => {
    const schema = { type: "object", properties: { ab: { type: "string" }, "ab c": { enum: [1.5, "x", null] } }, required: ["ab"] };
    const grammar = new TokenGrammar(compileSchema(schema, { path: "" }), { vocabulary, endId: END });
    const reader = readerOf(schema);
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let compared = 0;
    for (const prefix of ["", "{", '{"', '{"ab', '{"ab": ', '{"ab c": ', '{"ab": "it', '{"ab": "it"', '{"ab": "it", "ab c": 1.5']) {
      let state = grammar.start;
      for (const byte of new TextEncoder().encode(prefix)) state = grammar.accept(state, byteToken(byte));
      const mask = grammar.mask(state);
      vocabulary.forEachPlain((id, bytes) => {
        const text = textOf(decoder, bytes);
        // What is no whole text, or holds the tokenizer's own mark, the reader of texts cannot judge.
        if (text === undefined || text.includes("\x01")) return;
        compared += 1;
        expect([prefix, text, mask.ids.includes(id) === (mask.kind === "allow")]).toEqual([
          prefix,
          text,
          reader(prefix + text) !== "refused",
        ]);
      });
    }
    expect(compared).toBeGreaterThan(30_000);
  });

  it("has a token for every place of a text that it lets through, however many alternatives are open there", () => {
    const of = (members: object): object => ({ properties: members, required: Object.keys(members), additionalProperties: false });
    const E = {
      anyOf: ["add", "sub", "mul", "div"]
        .map((op) => of({ op: { const: op }, left: { $ref: "#/$defs/E" }, right: { $ref: "#/$defs/E" } }))
        .concat(of({ value: { type: "number" } })),
    };
    const rule = compileSchema({ ...of({ e: { $ref: "#/$defs/E" } }), $defs: { E } }, { path: "" });
    const grammar = new TokenGrammar(rule, { vocabulary, endId: END });
    const leaf = { value: 1.5 };
    const deep = Array.from({ length: 7 }).reduce((left: object) => ({ left, right: leaf, op: "add" }), leaf);
    expect(allowed(grammar, tokenizer.encode(spacedJson({ e: deep })))).toBe(true);
  });

  it("knows no token for what nothing fits, and says so", () => {
    const grammar = new TokenGrammar(compileSchema({ $ref: "#" }, { path: "" }), { vocabulary, endId: END });
    expect(() => grammar.mask(grammar.start)).toThrow(/schemas that some text fits/);
  });
});

function byteToken(byte: number): number {
  let found = -1;
  vocabulary.forEachPlain((id, bytes) => {
    if (bytes.length === 1 && bytes[0] === byte) found = id;
  });
  return found;
}

function textOf(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
