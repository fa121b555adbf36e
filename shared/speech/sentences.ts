/** Sentences of what a person wrote. */
import { PERSON_TITLES } from "./words.ts";

const ENDS = new RegExp(`(?<=(?<!\\b(?:${PERSON_TITLES}))[.!?])\\s+|\\n+`);

/** In order, without the spaces around them; a line's end ends a sentence. Of abbreviations a title before a name ends none. */
export function sentencesOf(text: string): string[] {
  return text
    .split(ENDS)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}
