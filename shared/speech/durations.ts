/** Numbers as a parameter counts them: in digits, and lengths of time in its own unit, so that "half an hour" is 30 of minutes and "two weeks" are 14 of days. */
import type { Parameter } from "./parameters.ts";
import { withDigits } from "./spelled.ts";
import { unspelled } from "./spoken.ts";

type Unit = "minute" | "hour" | "day" | "week" | "month" | "year";
/** In the smallest unit of its family; months are no whole number of days. */
const SIZES: Readonly<Record<Unit, { readonly family: "clock" | "calendar"; readonly size: number }>> = {
  minute: { family: "clock", size: 1 },
  hour: { family: "clock", size: 60 },
  day: { family: "clock", size: 1_440 },
  week: { family: "clock", size: 10_080 },
  month: { family: "calendar", size: 1 },
  year: { family: "calendar", size: 12 },
};
const UNITS = Object.keys(SIZES) as Unit[];
const SHORT: Readonly<Record<string, Unit>> = { min: "minute", hr: "hour" };
const UNIT = `(?<unit>${[...UNITS, ...Object.keys(SHORT)].join("|")})s?`;
const NUMBER = String.raw`\d+(?:\.\d+)?|\p{L}+`;

// "Half an hour", "an hour and a half", "three quarters of an hour", "2 weeks"; "10 euros an hour" and "three times a week" are rates.
const LENGTH = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:(?<part>half|(?:a |three )?quarters? of) (?:an?|the) |(?<!(?:\p{L}s|\d|\bonce|\btwice|\beach|\bper) )(?<single>an?|one) |(?<number>${NUMBER})(?:[ -]?| (?:full|whole|good|more|extra|long|solid) ))${UNIT}\b(?<more> and a half\b)?`,
  "giu",
);

/** The text with the numbers of several words in digits, and with lengths of time in the unit that the parameter's name or description tells, where they are whole numbers of it. */
export function inUnitOf({ words, description, kind }: Pick<Parameter, "words" | "description" | "kind">, said: string): string {
  if (kind !== "number") return said;
  const text = withDigits(said);
  const own = RATE.test(words) ? undefined : (unitIn(words) ?? (RATE.test(description) ? undefined : unitIn(description)));
  if (own === undefined) return text;
  return text.replaceAll(LENGTH, (length: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<"part" | "single" | "number" | "unit" | "more", string | undefined>>;
    const unit = unitIn(groups.unit ?? "");
    const count = countOf(groups);
    if (unit === undefined || count === undefined || SIZES[unit].family !== SIZES[own].family) return length;
    const converted = (count * SIZES[unit].size) / SIZES[own].size;
    return Number.isInteger(converted) ? `${converted} ${own}s` : length;
  });
}

const RATE = /\bper\b|\brate\b|\ban? (?:minute|hour|day|week|month|year)\b/i;

function unitIn(text: string): Unit | undefined {
  const word = new RegExp(`\\b${UNIT}\\b`, "i").exec(text)?.groups?.unit?.toLowerCase() ?? "";
  return SHORT[word] ?? UNITS.find((unit) => unit === word);
}

function countOf({ part, number, more }: Readonly<Record<"part" | "number" | "more", string | undefined>>): number | undefined {
  if (part !== undefined) return /^half/i.test(part) ? 0.5 : /^three/i.test(part) ? 0.75 : 0.25;
  const whole = number === undefined ? 1 : (unspelled(number) ?? Number(number));
  return Number.isNaN(whole) ? undefined : whole + (more === undefined ? 0 : 0.5);
}
