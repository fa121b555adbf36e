/** How people write values: `2` → `two`, `2019-03-05` → `March 5`, `14:30` → `2:30 pm`. */

const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const TENS: ReadonlyMap<number, string> = new Map(
  "thirty forty fifty sixty seventy eighty ninety".split(" ").map((word, index) => [30 + 10 * index, word]),
);
const NUMBERS: ReadonlyMap<string, number> = new Map([
  ...NUMBER_WORDS.map((word, number) => [word, number] as const),
  ...[...TENS].map(([number, word]) => [word, number] as const),
]);
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** `2` → `two`, up to twenty and then by tens; anything else is undefined. */
export function numberWord(value: string): string | undefined {
  return /^\d{1,2}$/.test(value) ? (NUMBER_WORDS[Number(value)] ?? TENS.get(Number(value))) : undefined;
}

export function isNumberWord(word: string): boolean {
  return NUMBERS.has(word);
}

/** `two` → 2; undefined for what is no such word. */
export function unspelled(word: string): number | undefined {
  return NUMBERS.get(word.toLowerCase());
}

/** The value and the plain forms in which a person may write it. */
export function writtenForms(value: string): string[] {
  const plain = CODE_WORDS.has(value) ? [] : [value, spacedForm(value)];
  return [...plain, numberWord(value), ...dateForms(value), ...timeForms(value), ...codeForms(value)].filter((form) => form !== undefined);
}

/** `carry_on` → `carry on`, `GoogleMeet` → `Google Meet`. */
function spacedForm(value: string): string {
  return value.replaceAll("_", " ").replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ");
}

/** Those, and all others by which it is known: times with the part of the day. */
export function knownForms(value: string): string[] {
  return [...writtenForms(value), ...partForms(value)];
}

const namers = new Map<"language" | "currency", Intl.DisplayNames>();

/** Made at first use: making one takes ten milliseconds, which a Worker that starts has no need for. */
function namerOf(type: "language" | "currency"): Intl.DisplayNames {
  const namer = namers.get(type) ?? new Intl.DisplayNames("en", { type, fallback: "none" });
  namers.set(type, namer);
  return namer;
}

/** Codes of languages that are words of nearly every sentence. */
const CODE_WORDS = new Set(["he", "is", "it"]);

/** What units and kinds of files are called. */
const SHORT_FORMS: Readonly<Record<string, readonly string[]>> = {
  C: ["Celsius"],
  F: ["Fahrenheit"],
  km: ["kilometer", "kilometre"],
  mi: ["mile"],
  kg: ["kilo", "kilogram"],
  lb: ["pound"],
  lbs: ["pound"],
  cm: ["centimeter", "centimetre"],
  ml: ["milliliter", "millilitre"],
  xlsx: ["Excel"],
  pptx: ["PowerPoint"],
  md: ["Markdown"],
};

/** What people say for options that many schemas list, in lower case. */
const COMMON_FORMS: Readonly<Record<string, readonly string[]>> = {
  hourly: ["every hour", "each hour", "hour by hour"],
  daily: ["every day", "each day", "day by day"],
  weekly: ["every week", "each week", "once a week"],
  monthly: ["every month", "each month", "once a month"],
  yearly: ["every year", "each year", "once a year"],
  indoor: ["indoors", "inside"],
  outdoor: ["outdoors", "outside"],
  metric: ["Celsius"],
  imperial: ["Fahrenheit"],
};

/** `de` → German, `CHF` → Swiss Franc and Franc: what codes of languages (ISO 639-1), of currencies (ISO 4217), of units and of files are called, and what is said for common options. */
function codeForms(value: string): string[] {
  if (Object.hasOwn(SHORT_FORMS, value)) return [...(SHORT_FORMS[value] ?? [])];
  if (Object.hasOwn(COMMON_FORMS, value.toLowerCase())) return [...(COMMON_FORMS[value.toLowerCase()] ?? [])];
  if (!/^(?:[a-z]{2}|[A-Z]{3})$/.test(value)) return [];
  const name = namerOf(value.length === 2 ? "language" : "currency").of(value);
  return name === undefined ? [] : [...new Set([name, ...(value.length === 3 ? [name.split(" ").at(-1) ?? name] : [])])];
}

function dateForms(value: string): string[] {
  const date = monthAndDay(value);
  return date === undefined ? [] : [`${date.month} ${date.day}`, `${date.day} ${date.month}`, `${date.day} of ${date.month}`];
}

function timeForms(value: string): string[] {
  const time = clockTime(value);
  if (time === undefined) return [];
  const { hour, minute, half } = time;
  return [`${hour}:${minute} ${half}`, ...(minute === "00" ? [`${hour} ${half}`] : [])];
}

/** `2 in the afternoon`, `evening at 6`, `half past 6 in the evening`, `noon`. A bare hour behind the part of a day may count anything ("this evening 4 people"). */
function partForms(value: string): string[] {
  const time = clockTime(value);
  if (time === undefined) return [];
  const { hour, minute, half } = time;
  const named = { "15": "quarter past", "30": "half past", "45": "quarter to" }[minute];
  const said = (number: number): string[] => [String(number), numberWord(String(number)) ?? ""];
  const past = named === undefined ? [] : said(minute === "45" ? (hour % 12) + 1 : hour).map((number) => `${named} ${number}`);
  const whole = minute === "00" ? said(hour).flatMap((number) => [number, `${number} o'clock`]) : [];
  const parts = half === "am" ? ["in the morning"] : ["in the afternoon", "in the evening", "at night"];
  const at = half === "am" ? ["morning at"] : ["afternoon at", "evening at"];
  const told = [`${hour}:${minute}`, ...whole, ...past];
  return [
    ...told.flatMap((text) => parts.map((part) => `${text} ${part}`)),
    ...[...whole, ...past].map((text) => `${text} ${half}`),
    ...told.flatMap((text) => at.map((part) => `${part} ${text}`)),
    ...(value === "12:00" ? ["noon"] : []),
  ];
}

/**
 * Whether the text may mean this day without saying it whole: "the 5th", "on Friday", and, where it has a day to count from, "tomorrow". Who wants to
 * know which day was named has to ask for more.
 */
export function mayMeanDay(text: string, value: string, today: string | undefined): boolean {
  const named = monthAndDay(value);
  const at = (date: string): number => Date.parse(`${date}T00:00:00Z`);
  const day = new Date(at(value));
  if (named === undefined || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(value)) return false;
  const isOrdinal = new RegExp(
    `\\b(?:the|on) ${named.day}(?:st|nd|rd|th)\\b(?! of\\b)(?! (?:avenue|floor|street|${MONTHS.join("|")})\\b)`,
    "i",
  ).test(text);
  const days = today === undefined ? Number.NaN : (at(value) - at(today)) / DAY_MS;
  const relative = { 0: /\b(?:today|tonight)\b/i, 1: /(?<!\bday after )\btomorrow\b/i, 2: /\bday after tomorrow\b/i }[days];
  return isOrdinal || new RegExp(`\\b${WEEKDAYS[day.getUTCDay()] ?? ""}\\b`, "i").test(text) || relative?.test(text) === true;
}

/** Whether the text may mean this time without saying which half of the day: "at eight", "8 o'clock", "7:30", "half past six". */
export function mayMeanTime(text: string, value: string): boolean {
  const time = clockTime(value);
  if (time === undefined) return false;
  const { hour, minute, half } = time;
  const called = (number: number): string => `(?:${number}|${numberWord(String(number)) ?? number})`;
  const whole = [`(?:at|by|around|about|from|until) ${called(hour)}`, `${called(hour)} o'clock`];
  const past = { "00": whole, "15": [`quarter past ${called(hour)}`], "30": [`half (?:past )?${called(hour)}`], "45": [] }[minute] ?? [];
  const forms = [`${hour}[:.]${minute}`, ...past, ...(minute === "45" ? [`quarter to ${called((hour % 12) + 1)}`] : [])];
  return new RegExp(`\\b(?:${forms.join("|")})\\b(?![:.]?\\d)(?! ?${half === "am" ? "p" : "a"}\\.?m\\b)`, "i").test(text);
}

export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
export const DAY_MS = 86_400_000;

/** `2019-03-05` → March, 5; anything else is undefined. */
export function monthAndDay(value: string): { month: string; day: number } | undefined {
  const [, month, day] = /^\d{4}-(\d\d)-(\d\d)$/.exec(value) ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? undefined : { month: name, day: Number(day) };
}

export function isMonth(word: string): boolean {
  return monthNumber(word) !== undefined;
}

function monthNumber(word: string): string | undefined {
  const index = MONTHS.findIndex((month) => month.toLowerCase() === word.toLowerCase());
  return index < 0 ? undefined : String(index + 1).padStart(2, "0");
}

const MONTH = `(${MONTHS.join("|")})`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const NAMED_DAY = new RegExp(`\\b(?:${DAY}\\s+(?:of\\s+)?${MONTH}|${MONTH}\\s+(?:the\\s+)?${DAY})\\b`, "gi");

/** Days that a text names: "2019-03-08", and "March 8th" or "the 8th of March" as ISO dates where the year is known, else as they were said. */
export function datesIn(text: string, year?: string): string[] {
  const named = [...text.matchAll(NAMED_DAY)];
  const dates = named.flatMap(([said, dayBefore, monthAfter, monthBefore, dayAfter]) => {
    const month = monthNumber(monthAfter ?? monthBefore ?? "");
    if (month === undefined) return [];
    return [year === undefined ? said : `${year}-${month}-${(dayBefore ?? dayAfter ?? "").padStart(2, "0")}`];
  });
  return [...(text.match(/\b\d{4}-\d\d-\d\d\b/g) ?? []), ...dates];
}

/** Clock times that a text names, as HH:MM: "2:30 pm", "9am", "14:30". */
export function timesIn(text: string): string[] {
  return [...text.matchAll(/\b(\d{1,2})(?::(\d\d))?\s*([ap]\.?m\b)?/giu)].flatMap(([, hour = "", minute, half]) => {
    if (minute === undefined && half === undefined) return [];
    const shift = half === undefined ? Number(hour) : (Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0);
    return shift > 23 ? [] : [`${String(shift).padStart(2, "0")}:${minute ?? "00"}`];
  });
}

/** Numbers in digits, thousands joined, and small ones in words. */
export function numbersIn(text: string): string[] {
  const digits = text.replace(/(?<=\d),(?=\d{3}\b)/g, "").match(/(?<![\w:.-])\d+(?:\.\d+)?(?![\w:-])/g) ?? [];
  const words = new Set(text.toLowerCase().match(/\p{L}+/gu));
  return [...digits, ...[...NUMBERS].flatMap(([word, number]) => (words.has(word) ? [String(number)] : []))];
}

export type WrittenForm = "number" | "date" | "time";

/** The form of a value that machines read: digits, ISO date, HH:MM; undefined for any other text. */
export function writtenForm(value: string): WrittenForm | undefined {
  if (/^-?\d+(\.\d+)?$/.test(value)) return "number";
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return "date";
  return /^\d\d:\d\d$/.test(value) ? "time" : undefined;
}

/** `14:30` → 2, 30, pm; anything else is undefined. */
export function clockTime(value: string): { hour: number; minute: string; half: "am" | "pm" } | undefined {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(value) ?? [];
  if (hour === undefined || minute === undefined) return undefined;
  return { hour: Number(hour) % 12 === 0 ? 12 : Number(hour) % 12, minute, half: Number(hour) < 12 ? "am" : "pm" };
}

/** Whether a number among words belongs to a date or an hour: `2` in "2 pm", "March 2", "2 March" and "2 of March". */
export function isPartOfDate(words: readonly string[], at: number): boolean {
  const [before, after, next] = [words[at - 1], words[at + 1], words[at + 2]];
  if (after === "am" || after === "pm") return true;
  return [before, after, after === "of" ? next : undefined].some((word) => word !== undefined && isMonth(word));
}
