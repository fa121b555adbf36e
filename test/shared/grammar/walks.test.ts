/** Random walks through the grammars of random schemas: whatever is let through fits its schema, by a validator of others. */
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { Automaton, type State } from "../../../shared/grammar/automaton.ts";
import { isPossible } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { Random } from "../../../trainer/random.ts";

const NAMES = ["a", "ab", "a b", 'q"', "é"];
const CLOSERS = new Set([0x22, 0x5d, 0x7d]); /* " ] } */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const SOON = 40;
const LONGEST = 600;

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

/** A text that the grammar lets through, closed as soon as it can be once it is long. */
function walk(automaton: Automaton, random: Random): string | undefined {
  const bytes: number[] = [];
  let state = automaton.start;
  while (!state.mustEnd && bytes.length < LONGEST) {
    const next = BYTES.flatMap((byte): { byte: number; to: State }[] => {
      const to = automaton.step(state, byte);
      return to === undefined ? [] : [{ byte, to }];
    });
    if (state.mayEnd && (next.length === 0 || bytes.length > SOON || random.chance(0.3))) break;
    expect([new TextDecoder().decode(Uint8Array.from(bytes)), next.length > 0]).toEqual([expect.any(String), true]);
    const closing = next.filter(({ byte }) => CLOSERS.has(byte));
    const chosen = random.pick(closing.length > 0 && (bytes.length > SOON || random.chance(0.2)) ? closing : next);
    bytes.push(chosen.byte);
    state = chosen.to;
  }
  return state.mayEnd ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes)) : undefined;
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
