/** How people write values: `2` → `two`, `2019-03-05` → `March 5`, `14:30` → `2:30 pm`. */

const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] as const;
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
  const date = monthAndDay(value);
  return date === undefined ? [] : [`${date.month} ${date.day}`, `${date.day} ${date.month}`, `${date.day} of ${date.month}`];
}

function timeForms(value: string): string[] {
  const time = clockTime(value);
  if (time === undefined) return [];
  const { hour, minute, half } = time;
  return [`${hour}:${minute} ${half}`, ...(minute === "00" ? [`${hour} ${half}`] : [])];
}

/** `2019-03-05` → March, 5; anything else is undefined. */
export function monthAndDay(value: string): { month: string; day: number } | undefined {
  const [, month, day] = /^\d{4}-(\d\d)-(\d\d)$/.exec(value) ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? undefined : { month: name, day: Number(day) };
}

/** `14:30` → 2, 30, pm; anything else is undefined. */
export function clockTime(value: string): { hour: number; minute: string; half: "am" | "pm" } | undefined {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(value) ?? [];
  if (hour === undefined || minute === undefined) return undefined;
  return { hour: Number(hour) % 12 === 0 ? 12 : Number(hour) % 12, minute, half: Number(hour) < 12 ? "am" : "pm" };
}
