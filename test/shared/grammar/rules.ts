/** Byte grammars over texts, for tests of what they let through. */
import { Automaton } from "../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";

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
