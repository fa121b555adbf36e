/** Draws a service that nobody has built: a tool that finds things and one that arranges one of them, named in plain English. */
import { writtenForm } from "../../shared/speech/spoken.ts";
import type { Random } from "../random.ts";
import { type ParameterView, SGD_TODAY, type ToolView } from "./conversation.ts";
import type { Lexicon } from "./lexicon.ts";
import { camelCase, madeUpName, madeUpWord, spokenName } from "./values.ts";
import { ARRANGING, ENDINGS, FINDING, HEADS, type Kind, NOUNS, PAIRS } from "./wordbook.ts";

/** What is said before the value of one of two parameters of a kind, and which the other is. */
export type Paired = { readonly words: readonly string[]; readonly other: string; readonly comesFirst: boolean };
export type ErrandParameter = ParameterView & { readonly kind: Kind; readonly unit: string; readonly pair: Paired | undefined };
export type ErrandTool = { readonly tool: ToolView; readonly parameters: readonly ErrandParameter[]; readonly spoken: string };
/** `title` is the parameter of `arranging` that names what `finding` found. */
export type ErrandService = {
  readonly noun: string;
  readonly finding: ErrandTool;
  readonly arranging: ErrandTool;
  readonly title: ErrandParameter;
};

const KINDS: readonly Kind[] = ["place", "name", "date", "time", "count", "amount", "flag", "flag", "choice", "choice"];
const PAIR_SHARE = 0.5;
const OPTIONS_SHARE = 0.75;
const REAL_SHARE = 0.5;
const NEAR_SHARE = 0.4;
const KNOWN_CLOCK_SHARE = 0.8;

export function drawErrandService(vocabulary: Vocabulary, random: Random): ErrandService {
  const noun = random.pick(NOUNS);
  const style = random.chance(0.15) ? camelCase : (name: string): string => name;
  const title = vocabulary.parameter("name", `${noun}_${random.pick(["name", "title", "id_name", "chosen"])}`, noun, random);
  const draft = new Map<string, ErrandParameter>();
  const draw = (count: number): ErrandParameter[] => {
    const drawn: ErrandParameter[] = [];
    if (random.chance(PAIR_SHARE)) drawn.push(...vocabulary.pair(noun, random));
    while (drawn.length < count) drawn.push(vocabulary.drawn(random.pick(KINDS), noun, random));
    // Two of one name could not be told apart.
    return drawn.filter(({ name }) => name !== title.name && !draft.has(name) && draft.set(name, title) !== undefined);
  };
  const found = draw(1 + random.below(4));
  const shared = found.filter(({ kind }) => kind !== "flag" && random.chance(0.4));
  const arranged = [{ ...title, required: true }, ...random.shuffled([...shared, ...draw(1 + random.below(4))])];
  return {
    noun,
    finding: errandTool(random.pick(FINDING), noun, found, style, random),
    arranging: errandTool(random.pick(ARRANGING), noun, arranged, style, random),
    title: { ...title, required: true, name: style(title.name) },
  };
}

function errandTool(
  verb: string,
  noun: string,
  drafts: readonly ErrandParameter[],
  style: (name: string) => string,
  random: Random,
): ErrandTool {
  const parameters = drafts.map((parameter) => ({ ...parameter, name: style(parameter.name) }));
  const capital = noun.slice(0, 1).toUpperCase() + noun.slice(1);
  const plural = random.chance(0.3) ? "s" : "";
  const spoken = `${verb.toLowerCase()} ${plural === "" ? random.pick(["a", "the", "some"]) : ""} ${noun}${plural}`.replace("  ", " ");
  const name = random.chance(0.75) ? `${verb}${capital}${plural}` : `${verb.toLowerCase()}_${noun}${plural}`;
  const tool = { name, description: random.chance(0.8) ? `${verb} ${random.pick(["a", "the", "any"])} ${noun}` : "", parameters };
  return { tool, parameters, spoken };
}

/** Options that begin alike, as Psychologist and Psychiatrist do: only the whole word tells them apart. */
function nearOptions(random: Random): string[] {
  const word = (): string => {
    const drawn = random.chance(0.5) ? random.pick(NOUNS) : madeUpWord(random);
    return drawn.slice(0, 1).toUpperCase() + drawn.slice(1);
  };
  const stem = word();
  const ending = random.chance(0.5) ? (): string => ` ${word()}` : (): string => random.pick(ENDINGS);
  return [...new Set(Array.from({ length: 2 + random.below(3) }, () => stem + ending())), word()];
}

/** Names and values for parameters: English words, and the values that the data knows by what they look like. */
export class Vocabulary {
  readonly #values: Readonly<Record<"place" | "name" | "date" | "time", readonly string[]>>;
  readonly #options: readonly (readonly string[])[];

  /** @param options lists of options that the data's own parameters have */
  constructor({ values, forms }: Lexicon, options: readonly (readonly string[])[]) {
    const named = (pattern: RegExp): string[] =>
      [...values].flatMap(([slot, known]) => (pattern.test(slot) ? known.filter((value) => /^\p{Lu}\p{L}/u.test(value)) : []));
    const written = (form: "date" | "time"): string[] => [...forms.keys()].filter((value) => writtenForm(value) === form);
    this.#values = {
      place: [...new Set(named(/city|location|area|origin|destination|^(from|to)$/))].sort(),
      name: [...new Set(named(/name|artist|director|title|album|starring/))].sort(),
      date: written("date"),
      time: written("time"),
    };
    this.#options = options.filter((list) => list.length > 1 && !list.includes("True") && list.some((option) => /\p{L}/u.test(option)));
  }

  drawn(kind: Kind, noun: string, random: Random): ErrandParameter {
    const about = random.chance(0.5) ? noun : random.pick(NOUNS);
    return this.parameter(kind, random.pick(HEADS[kind]).replace("{noun}", about), noun, random);
  }

  pair(noun: string, random: Random): ErrandParameter[] {
    const { kind, names, words } = random.pick(PAIRS);
    const head = random.pick(HEADS[kind].filter((each) => !each.includes("{noun}")));
    const required = random.chance(0.8);
    const [first, second] = names.map((name) => name.replace("{head}", head)) as [string, string];
    return [
      { ...this.parameter(kind, first, noun, random), required, pair: { words: words[0], other: second, comesFirst: true } },
      { ...this.parameter(kind, second, noun, random), required, pair: { words: words[1], other: first, comesFirst: false } },
    ];
  }

  parameter(kind: Kind, name: string, noun: string, random: Random): ErrandParameter {
    const unit = spokenName(name).replace(/^(has|needs|with|is|offers|number of|num) | (included|allowed|count|free)$/g, "");
    const description = random.pick([`${unit} of the ${noun}`, `The ${unit}`, `${unit} for the ${noun}`, `Which ${unit} to use`, ""]);
    const options = this.#drawOptions(kind, random);
    const required = random.chance(kind === "flag" ? 0.1 : 0.5);
    return { slot: name, name, description, type: "string", options, required, fallback: undefined, kind, unit, pair: undefined };
  }

  value({ kind, options }: ErrandParameter, random: Random): string {
    if (options.length > 0) return random.pick(options);
    if (kind === "count") return String(1 + random.below(9));
    if (kind === "amount") return String(random.chance(0.5) ? 5 + random.below(95) : 10 * (10 + random.below(200)));
    if (kind === "flag" || kind === "choice") return madeUpName(random);
    const known = this.#values[kind];
    const clock = kind === "date" || kind === "time";
    return known.length > 0 && (clock || random.chance(REAL_SHARE)) ? random.pick(known) : madeUpName(random);
  }

  /** A date or a time as the data writes it, mostly one that it has. */
  clock(kind: "date" | "time", random: Random): string {
    const known = this.#values[kind];
    const two = (value: number): string => String(value).padStart(2, "0");
    if (known.length > 0 && random.chance(KNOWN_CLOCK_SHARE)) return random.pick(known);
    if (kind === "date") return `${SGD_TODAY.slice(0, 5)}${two(3 + random.below(10))}-${two(1 + random.below(28))}`;
    return `${two(7 + random.below(16))}:${random.pick(["00", "15", "30", "45"])}`;
  }

  #drawOptions(kind: Kind, random: Random): string[] {
    if (kind === "flag") return ["True", "False"];
    if (kind === "count") return random.chance(0.5) ? Array.from({ length: 3 + random.below(4) }, (_, at) => String(at + 1)) : [];
    if (kind !== "choice" || !random.chance(OPTIONS_SHARE)) return [];
    if (this.#options.length > 0 && random.chance(0.35)) return [...random.pick(this.#options)];
    if (random.chance(NEAR_SHARE)) return nearOptions(random);
    const word = random.chance(0.6) ? (): string => random.pick(NOUNS) : (): string => madeUpWord(random);
    const capital = random.chance(0.6);
    return [
      ...new Set(
        Array.from({ length: 2 + random.below(5) }, word).map((each) => (capital ? each.slice(0, 1).toUpperCase() + each.slice(1) : each)),
      ),
    ];
  }
}
