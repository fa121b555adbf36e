/** What a speaker takes back in the same breath: "should be 4, sorry, 5". Words are matched, never interpreted. */
import { escapeRegExp } from "../regexp.ts";
import { isCount } from "../speech/numbers.ts";

const REPAIR =
  "sorry|i mean|i meant|no|nope|wait|hang on|hold on|oops|er|erm|um|actually|rather|or rather|make (?:that|it)|scratch that|correction";
const BETWEEN = `[\\s,;.…–—-]+(?:oh[\\s,]+)?(?:(?:${REPAIR})\\b[\\s,;:.…–—-]+)+`;
const NUMBER = "\\d+(?:\\.\\d+)?|\\p{L}+";
// One thing may stand behind the first: "4 passengers, sorry, 5". Behind "no" it may be of another: "2 rooms, no 3 stars".
const NUMBERS = new RegExp(
  `(?<![\\p{L}\\d.])(${NUMBER})(?:(?! no\\b) \\p{L}+(?![\\s,;.…–—-]+no(?:pe)?\\b))?${BETWEEN}(?=(${NUMBER})(?![\\p{L}\\d]))`,
  "giu",
);

/** Without numbers that are given up for the ones behind them. */
export function withoutRepairedNumbers(text: string): string {
  return text.replace(NUMBERS, (whole: string, first: string, second: string) =>
    isCount(first.toLowerCase()) && isCount(second.toLowerCase()) ? "" : whole,
  );
}

/** Without options of a schema that are given up for the ones behind them. */
export function withoutRepairedOptions(text: string, options: readonly string[]): string {
  if (options.length === 0) return text;
  const option = options
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join("|");
  return text.replace(new RegExp(`(?<![\\p{L}\\d])(?:${option})${BETWEEN}(?=(?:${option})(?![\\p{L}\\d]))`, "giu"), "");
}
