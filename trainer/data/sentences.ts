/** Sentences of what a person wrote, in order, without the spaces around them; a line's end ends a sentence. Some abbreviations do, too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}
