/** What the data knows beside its dialogues: values of each slot, how people say them, and words that people put around them. */
import type { Dialogue, Schemas } from "./sgd.ts";

/** Argument values by original slot name, without repeats. */
export type ValuePool = ReadonlyMap<string, readonly string[]>;
export type Lexicon = {
  readonly values: ValuePool;
  /** One to three words that stood together in somebody's message and name no slot and no value. */
  readonly asides: readonly string[];
  /** Value → how people said it where a call has it: `2019-03-04` → "next Monday", "the 4th", …; `New York` → "NYC", …. */
  readonly forms: ReadonlyMap<string, readonly string[]>;
};

const LONGEST_ASIDE = 3;
// Rarer forms are slips of the pen, or words about something else.
const LEAST_USES = 3;
// Truth values and small numbers are values whatever the schema says.
const SPOKEN_VALUES = "yes no yeah nope true false not don't one two three four five six seven eight nine ten".split(" ");

export function readLexicon({ dialogues, schemas }: { readonly dialogues: readonly Dialogue[]; readonly schemas: Schemas }): Lexicon {
  const values = valuePool(dialogues);
  return { values, asides: readAsides(dialogues, telling(schemas, values)), forms: readForms(dialogues) };
}

function valuePool(dialogues: readonly Dialogue[]): ValuePool {
  const pool = new Map<string, Set<string>>();
  for (const { turns } of dialogues)
    for (const { calls = [] } of turns)
      for (const { parameters } of calls)
        for (const [slot, value] of Object.entries(parameters)) pool.set(slot, (pool.get(slot) ?? new Set()).add(value));
  return new Map([...pool].map(([slot, known]) => [slot, [...known].sort()]));
}

/** For each argument, what the acts before the call last named for its slot. */
function readForms(dialogues: readonly Dialogue[]): Map<string, string[]> {
  const uses = new Map<string, Map<string, number>>();
  for (const { turns } of dialogues) {
    const said = new Map<string, string>();
    for (const { acts, calls = [] } of turns) {
      for (const [slot, value] of calls.flatMap(({ parameters }) => Object.entries(parameters))) {
        const form = said.get(slot);
        const known = uses.get(value) ?? new Map<string, number>();
        if (form !== undefined) uses.set(value, known.set(form, (known.get(form) ?? 0) + 1));
      }
      for (const [, slot, values] of acts) if (slot !== "" && values.length === 1) said.set(slot, values[0] ?? "");
    }
  }
  const common = [...uses].map(([value, known]): [string, string[]] => [
    value,
    [...known].flatMap(([form, count]) => (count >= LEAST_USES ? [form] : [])).sort(),
  ]);
  return new Map(common.filter(([, forms]) => forms.length > 0));
}

/** Words of slot names, in every variant, and of values: beside them it would be open which slot or value is meant. */
function telling(schemas: Schemas, values: ValuePool): ReadonlySet<string> {
  const slots = Object.values(schemas).flatMap((services) => [...services.values()].flatMap((service) => service.slots));
  const texts = [...slots.flatMap(({ name, possible_values }) => [name, ...possible_values]), ...[...values.values()].flat()];
  // Little words such as "of" and "the" stand in names and tell nothing.
  return new Set([
    ...SPOKEN_VALUES,
    ...texts.flatMap((text) => (text.toLowerCase().match(/[a-z']+/g) ?? []).filter((word) => word.length > 3)),
  ]);
}

function readAsides(dialogues: readonly Dialogue[], telling: ReadonlySet<string>): string[] {
  const asides = new Set<string>();
  const spoken = dialogues.flatMap(({ turns }) => turns.flatMap(({ text }) => runs(text, telling)));
  for (const words of spoken)
    for (let from = 0; from < words.length; from += LONGEST_ASIDE)
      asides.add(words.slice(from, from + 1 + (asides.size % LONGEST_ASIDE)).join(" "));
  return [...asides];
}

/** Neighbouring lower-case words of a text; anything else, and any telling word, parts them. */
function runs(text: string, telling: ReadonlySet<string>): string[][] {
  const parts: string[][] = [[]];
  for (const word of text.split(/\s+/)) {
    if (/^[a-z']+$/.test(word) && !telling.has(word)) parts.at(-1)?.push(word);
    else parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}
