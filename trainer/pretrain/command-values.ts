/** What the values of a service's parameters are in one conversation, and how people say them. */
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Random } from "../random.ts";
import { type CommandParameter, type CommandService, readCommandServices } from "./command-services.ts";
import type { Vocabulary } from "./errand-tools.ts";
import type { Lexicon, ValuePool } from "./lexicon.ts";
import { enumerated, madeUpName, madeUpWord, recoded, spokenValue } from "./values.ts";

const NEW_TEXT_SHARE = 0.2;
const RECODED_SHARE = 0.7; // of texts with digits
const NEW_NUMBER_SHARE = 0.5;
const NEW_LIST_SHARE = 0.6;
const WRITTEN_SHARE = 0.4; // of days and times: said as they are written
const POOL_SIZE = 6;

/** A value as it is said and as it is passed; lists and truths as their JSON. */
export type Drawn = { readonly said: string; readonly value: string };

/** What values are drawn from; `dated`: the day is known, and days are passed as dates. */
export type ValueSource = { readonly vocabulary: Vocabulary; readonly forms: Lexicon["forms"]; readonly dated: boolean };

export class CommandValues {
  readonly #service: CommandService;
  readonly #from: ValueSource;
  readonly #random: Random;

  constructor(service: CommandService, from: ValueSource, random: Random) {
    this.#service = service;
    this.#from = from;
    this.#random = random;
  }

  draw(slot: string): Drawn {
    const random = this.#random;
    const known = this.#service.values[slot] ?? [];
    const value = random.pick(known);
    if (this.#parameter(slot)?.type === "array" && random.chance(NEW_LIST_SHARE)) return this.#list(slot);
    if (typeof value === "object") return { said: value.said, value: textOf(value.value) };
    if (value === "@date" || value === "@time") return this.#clock(value === "@date" ? "date" : "time");
    if (this.#isFixed(slot)) return { said: String(value), value: String(value) };
    const redrawn = typeof value === "number" ? this.#number(value) : this.#text(value);
    const said = typeof value === "number" && random.chance(0.2) ? spokenValue(redrawn, random) : redrawn;
    return { said, value: redrawn };
  }

  /** Some values of each parameter that is no list, for what guidance might name. */
  pool(): ValuePool {
    const slots = Object.entries(this.#service.values).filter(([slot]) => this.#parameter(slot)?.type !== "array");
    return new Map(slots.map(([slot]) => [slot, Array.from({ length: POOL_SIZE }, () => this.draw(slot).value)]));
  }

  #parameter(slot: string): CommandParameter | undefined {
    return this.#service.tools.map(({ parameters }) => parameters[slot]).find((parameter) => parameter !== undefined);
  }

  #isFixed(slot: string): boolean {
    const parameter = this.#parameter(slot);
    return parameter === undefined || parameter.enum !== undefined || parameter.type === "boolean" || parameter.type === "array";
  }

  /** As the data writes it where the day is known, and else as it is said. */
  #clock(kind: "date" | "time"): Drawn {
    const random = this.#random;
    const { vocabulary, forms, dated } = this.#from;
    const value = vocabulary.clock(kind, random);
    if (random.chance(WRITTEN_SHARE)) {
      const written = kind === "date" ? value.replace(/^\d{4}/, () => String(2019 + random.below(20))) : value;
      return { said: written, value: written };
    }
    const known = forms.get(value) ?? [];
    const said = known.length > 0 && random.chance(0.7) ? random.pick(known) : spokenValue(value, random);
    return { said, value: dated ? value : said };
  }

  /** One to three items of the lists that the service has, as people count them up. */
  #list(slot: string): Drawn {
    const random = this.#random;
    const lists = (this.#service.values[slot] ?? []).flatMap((value) =>
      typeof value === "object" && Array.isArray(value.value) ? value.value : [],
    );
    const items = random.shuffled([...new Set(lists.map((item) => this.#text(item)))]).slice(0, 1 + random.below(3));
    return { said: enumerated(items, random.pick([" and ", ", ", " and "])), value: textOf(items) };
  }

  /** Another number of as many digits, so that none is known by heart. */
  #number(value: number): string {
    const random = this.#random;
    if (!random.chance(NEW_NUMBER_SHARE)) return String(value);
    if (!Number.isInteger(value)) return (Math.round(value * 10 * (0.5 + random.next())) / 10).toFixed(1);
    const size = 10 ** (String(Math.abs(value)).length - 1);
    return String(value < 10 ? random.below(10) : size + random.below(9 * size));
  }

  /** The text, or words of another service, or made-up ones: what they mean tells nothing of where they go. */
  #text(value: string): string {
    const random = this.#random;
    if (/\d/.test(value) && random.chance(RECODED_SHARE)) return recoded(value, random);
    if (!random.chance(NEW_TEXT_SHARE)) return value;
    if (random.chance(0.4)) return random.chance(0.5) ? madeUpName(random) : madeUpWord(random);
    const texts = Object.values(random.pick(readCommandServices()).values)
      .flat()
      .filter((each): each is string => typeof each === "string" && !each.startsWith("@"));
    return texts.length === 0 ? value : random.pick(texts);
  }
}

/** A value as steps hold it. */
export function textOf(value: string | number | boolean | readonly string[]): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "object" ? spacedJson([...value]) : String(value);
}
