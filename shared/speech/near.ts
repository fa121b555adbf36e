/**
 * Times and days that the one before tells the rest of: who had 08:30 and says "quarter past nine" means the morning, and of a Monday "take Tuesday" is the day after.
 * Words are matched, never interpreted.
 */
import { clausesOf } from "./sentences.ts";
import { clockTime, DAY_MS, monthAndDay, unspelled, WEEKDAYS } from "./spoken.ts";

/** What the text may mean in the place of the value that was held, nearest to it; none of what it refuses. */
export function nearValues(text: string, kind: string, held: string | undefined): string[] {
  if (held === undefined) return [];
  const isTime = kind === "time" && clockTime(held) !== undefined;
  if (!isTime && (kind !== "date" || monthAndDay(held) === undefined)) return [];
  const clauses = clausesOf(text).filter((clause) => !refuses(clause));
  return clauses.flatMap((clause) => (isTime ? timesNear(clause, held) : daysNear(clause, held)));
}

const REFUSES = /\b(?:not|never|no|instead of|rather than|than|hopeless|shut|closed)\b|n't\b/i;

/** Whether a clause is against what it names: "not at eight", but no "not before eight". */
function refuses(clause: string): boolean {
  const at = clause.search(REFUSES);
  return at >= 0 && !/\b(?:before|until|till|earlier than)\b/i.test(clause.slice(at));
}

const HOUR = "(?<hour>1[0-2]|0?[1-9]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
// Not "at 6 pm", which tells all, nor "ten" of "ten to eight"
const END = "\\b(?![:.]?\\d)(?! ?[ap]\\.?m\\b)(?! (?:to|past) (?!me\\b|be\\b))";
const COUNTED = "(?! \\p{L}{3,}s\\b)"; // "from 3 rooms"
const CLOCKS = [
  new RegExp(
    `\\b(?<minutes>half|quarter|five|ten|twenty|twenty-five|[1-5]?\\d)(?: minutes?)? (?<way>past|to|before|after)? ?${HOUR}${END}`,
    "giu",
  ),
  new RegExp(`(?<![\\d:.])(?<hour>1[0-2]|0?[1-9])[:.](?<minutes>[0-5]\\d)${END}`, "giu"),
  new RegExp(`\\b(?:at|by|around|about|from|until|till|before|after) ${HOUR}${END}${COUNTED}|\\b(?<named>\\w+) o'clock\\b`, "giu"),
];

const MORNING = /\b(?:morning|breakfast)\b/i;
const LATER = /\b(?:afternoon|evening|tonight|night)\b/i;

function timesNear(clause: string, held: string): string[] {
  const [hour = 0, minute = 0] = held.split(":").map(Number);
  const found = CLOCKS.flatMap((clock) => [...clause.matchAll(clock)].flatMap(({ groups }) => minuteOfHalf(groups ?? {}) ?? []));
  const [isMorning, isLater] = [MORNING.test(clause), LATER.test(clause)];
  return found.map((early) => {
    const late = early + HALF_DAY;
    const isEarly = Math.abs(early - hour * 60 - minute) < Math.abs(late - hour * 60 - minute);
    const at = isMorning || (isEarly && !isLater) ? early : late;
    return `${String(Math.floor(at / 60)).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}`;
  });
}

const HALF_DAY = 12 * 60;

/** In minutes since midnight or noon. */
function minuteOfHalf({ hour, named, minutes, way }: Readonly<Record<string, string | undefined>>): number | undefined {
  const whole = numberIn(hour ?? named ?? "");
  const part = minutes === undefined ? 0 : ({ half: 30, quarter: 15, "twenty-five": 25 }[minutes.toLowerCase()] ?? numberIn(minutes));
  if (whole === undefined || whole < 1 || whole > 12 || part === undefined || part > 59) return undefined;
  // "half six", but no "ten six"
  if (minutes !== undefined && way === undefined && !/^(?:half|\d\d)$/i.test(minutes)) return undefined;
  const isBefore = way !== undefined && /^(?:to|before)$/i.test(way);
  return ((whole % 12) * 60 + (isBefore ? -part : part) + HALF_DAY) % HALF_DAY;
}

function numberIn(word: string): number | undefined {
  return /^\d+$/.test(word) ? Number(word) : unspelled(word);
}

const STEPS: readonly (readonly [RegExp, number])[] = [
  [/\b(?:a|one) day (?:later|after)\b|\b(?:the )?(?:next day|following day|day after)\b(?! tomorrow)/i, 1],
  [/\b(?:a|one) day (?:earlier|before|sooner)\b|\bthe (?:previous day|day before)\b/i, -1],
  [/\b(?:a|one) week later\b|\b(?:the )?week after\b/i, 7],
  [/\b(?:a|one) week (?:earlier|before|sooner)\b/i, -7],
];

function daysNear(clause: string, held: string): string[] {
  const from = Date.parse(`${held}T00:00:00Z`);
  if (Number.isNaN(from)) return [];
  const after = (days: number): string => new Date(from + days * DAY_MS).toISOString().slice(0, 10);
  const week = [-3, -2, -1, 1, 2, 3].filter((days) => {
    const name = WEEKDAYS[new Date(from + days * DAY_MS).getUTCDay()] ?? "";
    return new RegExp(`\\b${name}s?\\b`, "i").test(clause);
  });
  const ordinals = [...clause.matchAll(/\b(?:the|on) (\d{1,2})(?:st|nd|rd|th)\b(?! of\b)/gi)].map(
    ([, day = ""]) => `${held.slice(0, 8)}${day.padStart(2, "0")}`,
  );
  const real = [...new Set(ordinals)].filter(isDate);
  return [
    ...real,
    ...(real.length > 0 ? [] : week.map(after)),
    ...STEPS.flatMap(([pattern, days]) => (pattern.test(clause) ? [after(days)] : [])),
  ];
}

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
