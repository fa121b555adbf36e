/** Made-up names and spoken forms of values, so that only reading and copying can explain an argument. */
import { clockTime, monthAndDay, numberWord } from "../../shared/speech/spoken.ts";
import type { Random } from "../random.ts";

const ONSETS = [
  "b",
  "br",
  "c",
  "d",
  "dr",
  "fl",
  "g",
  "gr",
  "h",
  "j",
  "k",
  "kl",
  "l",
  "m",
  "n",
  "p",
  "pr",
  "qu",
  "r",
  "s",
  "sl",
  "st",
  "t",
  "th",
  "tr",
  "v",
  "w",
  "y",
  "z",
  "",
];
const VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oo", "ou", "y"];
const CODAS = ["", "", "n", "r", "l", "s", "t", "m", "nd", "rk", "x", "lm", "th", "sp"];

/** A pronounceable word that no schema contains, e.g. `drainolk`. */
export function madeUpWord(random: Random): string {
  const syllables = 1 + random.below(3) + (random.chance(0.5) ? 1 : 0);
  let word = "";
  for (let count = 0; count < Math.min(syllables, 3); count++)
    word += random.pick(ONSETS) + random.pick(VOWELS) + (random.chance(0.5) ? random.pick(CODAS) : "");
  return word.length < 3 ? `${word}${random.pick(["ra", "lo", "min"])}` : word;
}

/** One to three capitalised made-up words. */
export function madeUpName(random: Random): string {
  const words = 1 + (random.chance(0.5) ? 1 : 0) + (random.chance(0.2) ? 1 : 0);
  return Array.from({ length: words }, () => capitalised(madeUpWord(random))).join(" ");
}

// Digits of which not all make sense.
const CLOCKED = /\d:\d\d|\d{4}-\d\d|\d(?:st|nd|rd|th)\b/;

/** The text with other digits, and other capitals in words of capitals alone, in the same places: `L-5512` → `K-8073`; times, dates and ordinals stay. */
export function recoded(text: string, random: Random): string {
  if (CLOCKED.test(text)) return text;
  const lettered = text.replace(/(?<![A-Za-z])[A-Z]+(?![A-Za-z])/g, (code) =>
    code.replace(/[A-Z]/g, () => String.fromCharCode(65 + random.below(26))),
  );
  return lettered.replace(/\d+/g, (digits) =>
    digits.replace(/\d/g, (digit, at: number) => String(at === 0 && digit !== "0" ? 1 + random.below(9) : random.below(10))),
  );
}

/** "a, b and c". */
export function enumerated(items: readonly string[], last = " and "): string {
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")}${last}${items.at(-1)}`;
}

export function pascalCase(name: string): string {
  return spokenName(name).split(" ").map(capitalised).join("");
}

export function camelCase(name: string): string {
  const pascal = pascalCase(name);
  return pascal.slice(0, 1).toLowerCase() + pascal.slice(1);
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** `number_of_rooms` or `NumberOfRooms` → `number of rooms`, `FindASong` → `find a song`. */
export function spokenName(name: string): string {
  return name
    .replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
    .replace(/[_-]+/g, " ")
    .toLowerCase()
    .trim();
}

/** The value as a person may say it: `2` → `two`, `2019-03-05` → `March 5th`, `14:30` → `2:30 pm`, `True` → `yes`. */
export function spokenValue(value: string, random: Random): string {
  const number = numberWord(value);
  if (number !== undefined) return random.chance(0.5) ? number : value;
  if (/^(True|False)$/i.test(value)) return /^t/i.test(value) ? "yes" : "no";
  const date = monthAndDay(value);
  if (date !== undefined) {
    const { month, day } = date;
    return random.pick([`${month} ${ordinal(day)}`, `the ${ordinal(day)} of ${month}`, `${month} ${day}`]);
  }
  const time = clockTime(value);
  if (time === undefined) return value;
  return `${time.hour}${time.minute === "00" && random.chance(0.5) ? "" : `:${time.minute}`} ${time.half}`;
}

function ordinal(day: number): string {
  const suffix = day % 10 === 1 && day !== 11 ? "st" : day % 10 === 2 && day !== 12 ? "nd" : day % 10 === 3 && day !== 13 ? "rd" : "th";
  return `${day}${suffix}`;
}
