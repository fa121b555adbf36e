/** Words of a text, and phrases among them: in lower case, whatever ending a plural or a date has. */

/** What stands before a person's name with a full stop that ends no sentence, as an expression. */
export const PERSON_TITLES = "Dr|Mrs?|Ms|Prof";
/** The same before any name: "St" ends sentences, too. */
export const TITLES = `${PERSON_TITLES}|St|Mt`;

const ARTICLES = new Set(["a", "an", "the"]);

/** Without articles. */
export function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !ARTICLES.has(word));
}

// A date, a clock time, a number, a word: `2:30` holds no 2, `1,500` is no 1, and behind a word `-1` is no 1.
const WORD =
  /(?<=[\p{L}:=] ?)-\d+(?:\.\d+)?(?![\p{L}\p{N}:-])(?<!\p{L}-[\d.]+)|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d{1,2}(?=[ap]m\b)|\d+(?:,\d{3})*(?:\.\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}]+/gu;

export function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replace(/\b([ap])\.\s?m\b\.?/g, "$1m");
  return (plain.match(WORD) ?? []).map((word) => (/^\d[\d,.]*$/.test(word) ? word.replaceAll(",", "") : word));
}

export type Same = (left: string, right: string) => boolean;

export function containsPhrase(words: readonly string[], phrase: readonly string[], same: Same = sameStem): boolean {
  return phrasesIn(words, phrase, same).length > 0;
}

/** Where the phrase begins in the words. */
export function phrasesIn(words: readonly string[], phrase: readonly string[], same: Same = sameStem): number[] {
  const begins = (start: number): boolean =>
    phrase.every((word, offset) => words[start + offset] !== undefined && same(words[start + offset] ?? "", word));
  return phrase.length === 0 ? [] : words.flatMap((_, start) => (begins(start) ? [start] : []));
}

/** Equal, or one is the other with a plural's or a date's ending (`5th` for `5`). */
export function sameStem(left: string, right: string): boolean {
  const [long, short] = left.length >= right.length ? [left, right] : [right, left];
  return long === short || (/^(s|es|st|nd|rd|th)$/.test(long.slice(short.length)) && long.startsWith(short));
}
