/** Random walks through the grammars of random schemas: whatever is let through fits its schema, by a validator of others. */
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { Automaton } from "../../../shared/grammar/automaton.ts";
import { isPossible } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { Random } from "../../../trainer/random.ts";
import { walk } from "./rules.ts";

const NAMES = ["a", "ab", "a b", 'q"', "é"];

type Schema = Record<string, unknown>;

function drawSchema(random: Random, depth: number): Schema {
  const deeper = (): Schema => drawSchema(random, depth - 1);
  const leaves: (() => Schema)[] = [
    () => ({ type: "boolean" }),
    () => ({ type: random.pick(["integer", "number"]) }),
    () => ({
      type: random.pick(["integer", "number"]),
      minimum: Math.floor(random.next() * 60) - 40,
      maximum: Math.floor(random.next() * 300) + 20,
    }),
    () => ({ type: "string", minLength: Math.floor(random.next() * 3), maxLength: 3 + Math.floor(random.next() * 4) }),
    () => ({ enum: random.pick([["x", "xy", 1, 12, null], [true], ["ü", '"']]) }),
    () => ({ type: ["null", "string"], maxLength: 2 }),
    () => ({
      type: "string",
      pattern: random.pick(["^[a-f]{2,4}$", "^(?:ab|é)*$", "\\d-[^x]$"]),
      maxLength: 4 + Math.floor(random.next() * 4),
    }),
    () => ({ type: random.pick(["integer", "number"]), multipleOf: random.pick([1, 3, 0.5, 2.5]), minimum: -20, exclusiveMaximum: 70 }),
  ];
  const branches: (() => Schema)[] = [
    () => ({ type: "array", items: deeper(), minItems: Math.floor(random.next() * 2), maxItems: 1 + Math.floor(random.next() * 3) }),
    () => ({ anyOf: [deeper(), deeper()] }),
    () => {
      const names = NAMES.filter(() => random.chance(0.6));
      return {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, deeper()])),
        required: names.filter(() => random.chance(0.5)),
        additionalProperties: random.chance(0.3) ? deeper() : false,
      };
    },
  ];
  return random.pick(depth > 0 ? [...leaves.slice(0, 2), ...branches, ...branches] : leaves)();
}

describe("random walks", () => {
  let ended = 0;

  it.each(Array.from({ length: 60 }, (_, seed) => seed))("through the grammar of random schema %i end in what fits it", (seed) => {
    const random = new Random(seed);
    const schema = drawSchema(random, 3);
    const rule = compileSchema(schema, { path: "" });
    if (!isPossible(rule)) return;
    const fits = new Ajv({ strict: false }).compile(schema);
    const automaton = new Automaton(rule, new Uint8Array(0));
    const texts = Array.from({ length: 12 }, () => walk(automaton, random)).filter((text) => text !== undefined);
    ended += texts.length;
    for (const text of texts) expect([JSON.stringify(schema), text, fits(JSON.parse(text))]).toEqual([JSON.stringify(schema), text, true]);
  });

  // Some stay in a name or a number until they are given up.
  it("come to an end for the most part", () => expect(ended).toBeGreaterThan(500));
});
