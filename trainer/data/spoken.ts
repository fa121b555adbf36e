/** How people write values: `2` → `two`, `2019-03-05` → `March 5`, `14:30` → `2:30 pm`. */

const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] as const;
const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
] as const;

/** `2` → `two`, up to ten; anything else is undefined. */
export function numberWord(value: string): string | undefined {
  return /^\d{1,2}$/.test(value) ? NUMBER_WORDS[Number(value)] : undefined;
}

/** The value and every other form in which a person may write it. */
export function writtenForms(value: string): string[] {
  return [value, value.replaceAll("_", " "), numberWord(value), ...dateForms(value), ...timeForms(value)].filter(
    (form) => form !== undefined,
  );
}

function dateForms(value: string): string[] {
  const [, month = "", day = ""] = /^\d{4}-(\d\d)-(\d\d)$/.exec(value) ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? [] : [`${name} ${Number(day)}`, `${Number(day)} ${name}`, `${Number(day)} of ${name}`];
}

function timeForms(value: string): string[] {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(value) ?? [];
  if (hour === undefined || minute === undefined) return [];
  const half = Number(hour) < 12 ? "am" : "pm";
  const clock = String(Number(hour) % 12 === 0 ? 12 : Number(hour) % 12);
  return [`${clock}:${minute} ${half}`, ...(minute === "00" ? [`${clock} ${half}`] : [])];
}
