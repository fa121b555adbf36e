/** Sentences of what a person wrote. */
const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

/** In order, without the spaces around them; a line's end ends a sentence. */
export function sentencesOf(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => [...SEGMENTER.segment(line)].map(({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== "");
}
