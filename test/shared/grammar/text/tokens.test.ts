/** Masks of texts that patterns hold, over the shipped base's own vocabulary: exactly the tokens whose bytes fit, whatever was asked before. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Automaton, type State } from "../../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../../shared/grammar/schema.ts";
import { TokenGrammar, type TokenMask } from "../../../../shared/grammar/token-grammar.ts";
import type { TokenizerFiles } from "../../../../shared/tokenizer.ts";
import { Vocabulary } from "../../../../shared/vocabulary.ts";
import { Random } from "../../../../trainer/random.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../../../base/${name}`, import.meta.url), "utf8"));
const files = { tokenizer: read("tokenizer.json"), config: read("tokenizer_config.json") } as TokenizerFiles;
const SIZE = 4096;
const vocabulary = new Vocabulary(files, SIZE);
const END = 4;
const MOST_TOKENS = 60;
// What the tokenizer writes behind some quotation marks, and takes out again.
const MARK = new TextEncoder().encode(vocabulary.erased.find((literal) => literal < " "));

const schemas: Readonly<Record<string, object>> = {
  "an address": { type: "string", format: "email", maxLength: 40 },
  "a moment": { type: "string", format: "date-time" },
  "letters of some alphabets, within lengths": { type: "string", pattern: "^[a-zà-ÿа-я東京 ]{2,30}$" },
  "anything with an end": { type: "string", pattern: '["\\\\!]$', maxLength: 30 },
  "what must not begin so": { type: "string", pattern: "^(?!the)\\w+(?: \\w+){0,5}$" },
  cents: { type: "number", multipleOf: 0.05, minimum: 0, maximum: 20 },
};

const idsOf = ({ kind, ids }: TokenMask): ReadonlySet<number> =>
  kind === "allow" ? new Set(ids) : new Set(Array.from({ length: SIZE }, (_, id) => id).filter((id) => !ids.includes(id)));

/** A walk by the grammar's masks: the ids that it took, and what its masks let through. */
function walkTokens(grammar: TokenGrammar, seed: number): { taken: number[]; allowed: ReadonlySet<number>[] } {
  const random = new Random(seed);
  const [taken, allowed]: [number[], ReadonlySet<number>[]] = [[], []];
  let state = grammar.start;
  while (taken.length < MOST_TOKENS) {
    const ids = idsOf(grammar.mask(state));
    allowed.push(ids);
    const chosen = random.pick([...ids].sort((a, b) => a - b));
    if (chosen === END) break;
    taken.push(chosen);
    state = grammar.accept(state, chosen);
  }
  return { taken, allowed };
}

describe.each(Object.entries(schemas))("the masks of %s", (_, schema) => {
  const compiled = () => compileSchema(schema, { path: "" });
  const grammarOf = () => new TokenGrammar(compiled(), { vocabulary, endId: END });

  it("let through the tokens whose bytes fit, and no others", () => {
    const automaton = new Automaton(compiled(), MARK);
    const after = (from: State | undefined, id: number): State | undefined =>
      vocabulary.bytesOf(id).reduce((state: State | undefined, byte) => state && automaton.step(state, byte), from);
    const { taken, allowed } = walkTokens(grammarOf(), 1);
    let state: State | undefined = automaton.start;
    for (const [place, ids] of allowed.entries()) {
      const fitting: number[] = state?.mayEnd === true ? [END] : [];
      vocabulary.forEachPlain((id) => void (after(state, id) !== undefined && fitting.push(id)));
      expect([...ids].sort((a, b) => a - b)).toEqual(fitting.sort((a, b) => a - b));
      const next = taken[place];
      state = next === undefined ? undefined : after(state, next);
    }
  });

  it("are the same on the other side, where other answers came before", () => {
    const [edge, trainer] = [grammarOf(), grammarOf()];
    for (const seed of [5, 6, 7]) walkTokens(trainer, seed);
    for (const seed of [2, 3]) expect(walkTokens(trainer, seed)).toEqual(walkTokens(edge, seed));
  });
});
