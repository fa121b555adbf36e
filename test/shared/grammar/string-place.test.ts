/** Bytes of a JSON string, against a decoder of others. */
import { describe, expect, it } from "vitest";
import { Automaton, type State } from "../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";

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
