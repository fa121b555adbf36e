/**
 * Other values in a dialogue, everywhere at once: in what people say, in the forms in which they say it, in calls and in
 * results. A value that is always another one cannot be remembered, only read.
 */
import { escapeRegExp } from "../../shared/regexp.ts";
import { type WrittenForm, writtenForm } from "../../shared/speech/spoken.ts";
import type { Random } from "../random.ts";
import type { Lexicon } from "./lexicon.ts";
import type { Dialogue } from "./sgd.ts";
import { madeUpName } from "./values.ts";

/** Puts the new values in the place of the old ones; a text that holds none stays as it is. */
export type Swap = (text: string) => string;

// Of the values that can be exchanged.
const NAME_SHARE = 0.7;
const CLOCK_SHARE = 0.8; // dates and times
// Days keep their order, as pick-up stays before drop-off; now and then only the words tell which is which.
const IN_ORDER_SHARE = 0.9;

/** Draws new values for dialogues: a made-up name for a name that is spelled out, another day for a day, another time for a time. */
export class Revaluer {
  readonly #forms: Lexicon["forms"];
  readonly #known: Readonly<Record<"date" | "time", readonly string[]>>;

  constructor({ forms }: Pick<Lexicon, "forms">) {
    const written = (sought: WrittenForm): string[] => [...forms.keys()].filter((value) => writtenForm(value) === sought).sort();
    this.#forms = forms;
    this.#known = { date: written("date"), time: written("time") };
  }

  drawSwap({ turns }: Dialogue, random: Random): Swap {
    const values = [...new Set(turns.flatMap(({ calls = [] }) => calls.flatMap(({ parameters }) => Object.values(parameters))))].sort();
    const spoken = turns.map(({ text }) => text).join("\n");
    const names = values.filter((value) => isName(value) && spoken.includes(value) && random.chance(NAME_SHARE));
    const swaps = new Map(names.map((value) => [value, madeUpName(random)]));
    if (random.chance(CLOCK_SHARE))
      for (const form of ["date", "time"] as const) {
        const old = values.filter((value) => writtenForm(value) === form && this.#forms.has(value));
        const drawn = random.shuffled(this.#known[form]).slice(0, old.length);
        const others = form === "date" && random.chance(IN_ORDER_SHARE) ? drawn.sort() : drawn;
        old.forEach((value, index) => swaps.set(value, others[index] ?? value));
      }
    return swapOf(swaps, this.#forms, random);
  }
}

/** The dialogue under the swap. */
export function revalued(dialogue: Dialogue, swap: Swap): Dialogue {
  const swapRecord = (record: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, swap(value)]));
  const turns = dialogue.turns.map((turn) => ({
    ...turn,
    text: swap(turn.text),
    ...(turn.calls === undefined
      ? {}
      : { calls: turn.calls.map((call) => ({ ...call, parameters: swapRecord(call.parameters), results: call.results.map(swapRecord) })) }),
  }));
  return { ...dialogue, turns };
}

function isName(value: string): boolean {
  return /^\p{Lu}[\p{L}'&. -]{2,}$/u.test(value) && value !== "True" && value !== "False";
}

/** All at once, longest first: one after the other, a value put in would be taken for an old one. */
function swapOf(swaps: ReadonlyMap<string, string>, forms: Lexicon["forms"], random: Random): Swap {
  const replacements = new Map<string, string>();
  for (const [value, other] of swaps) {
    const said = forms.get(other) ?? [other];
    for (const form of forms.get(value) ?? []) {
      const put = isName(value) ? other : random.pick(said);
      replacements.set(form, put);
      // Else "the 1st" would be found in "the 1st of March".
      if (/^\d/.test(form)) replacements.set(`the ${form}`, put);
    }
    replacements.set(value, other);
  }
  if (replacements.size === 0) return (text) => text;
  const sought = [...replacements.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
  const pattern = new RegExp(`(?<![\\p{L}\\d:-])(?:${sought.join("|")})(?![\\p{L}\\d]|[:-]\\d)`, "gu");
  return (text) => text.replace(pattern, (found) => replacements.get(found) ?? found);
}
