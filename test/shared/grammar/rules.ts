/** Byte grammars over texts, for tests of what they let through. */
import { expect } from "vitest";
import { Automaton, type State } from "../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import type { Random } from "../../../trainer/random.ts";

export type Reading = "fits" | "unfinished" | "refused";

/** What the grammar of a schema says of a text. */
export function readerOf(schema: unknown): (text: string) => Reading {
  const automaton = new Automaton(compileSchema(schema, { path: "" }), new Uint8Array(0));
  return (text) => {
    let state = automaton.start;
    for (const byte of new TextEncoder().encode(text)) {
      const next = automaton.step(state, byte);
      if (next === undefined) return "refused";
      state = next;
    }
    return state.mayEnd ? "fits" : "unfinished";
  };
}

const CLOSERS = new Set([0x22, 0x5d, 0x7d]); /* " ] } */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const SOON = 40;
const LONGEST = 600;

/** A text that the grammar lets through, closed as soon as it can be once it is long. */
export function walk(automaton: Automaton, random: Random): string | undefined {
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
