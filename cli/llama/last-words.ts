/** What a program said before it failed (pure). */

const LINES = 10;
const FAILURE = /\b(error|failed)\b/i;

/**
 * The last lines as they came, and before them the one that tells most, since errors are cut where they are long: the first that speaks of
 * a failure, which others follow from, or else the last, where Python has it.
 */
export function lastWords(lines: readonly string[]): string {
  const said = lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-LINES);
  const telling = (said.find((line) => FAILURE.test(line)) ?? said.at(-1) ?? "it said nothing").trim();
  return said.length < 2 ? telling : [telling, ...said].join("\n");
}
