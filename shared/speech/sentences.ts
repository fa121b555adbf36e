/** Sentences and clauses of what a person wrote. */
import { PERSON_TITLES, TITLES } from "./words.ts";

const ENDS = new RegExp(`(?<=(?<!\\b(?:${PERSON_TITLES}))[.!?])\\s+|\\n+`);

/** In order, without the spaces around them; a line's end ends a sentence. Of abbreviations a title before a name ends none. */
export function sentencesOf(text: string): string[] {
  return text
    .split(ENDS)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

// "couldn't you", "shouldn't it be" and "don't forget" refuse nothing.
const ASKING_ANYWAY =
  /\b(?:ca|could|should|would|wo|was|were|is|are|did|does|do)n't (?:you|we|it|that|this|they|he|she|i|there)\b|\b(?:don't|do not) forget\b/gi;

const CLAUSE_ENDS = new RegExp(
  `[,;!?\\n–—]|:(?!\\d)|(?<!\\b(?:\\p{L}|${TITLES}))\\.(?=\\s|$)| - |(?<!\\b(?:any\\w*|every\\w*|nothing|all|whatever)(?: \\w+){0,3}) but `,
  "iu",
);

/** Parts of sentences, each of which refuses or asks for itself. */
export function clausesOf(text: string): string[] {
  return text.replaceAll("’", "'").replaceAll(ASKING_ANYWAY, " ").split(CLAUSE_ENDS);
}
