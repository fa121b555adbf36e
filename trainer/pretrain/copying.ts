/**
 * Rows of random tokens in which segments come back. Only copying predicts the second time, on every token, so the
 * attention heads that copy (induction heads, Olsson et al., arXiv:2209.11895) form early; calls then use them.
 */
import type { Example } from "./examples.ts";
import type { Random } from "../random.ts";

const ROW_TOKENS = 250;
const FIRST_TOKEN = 263; // after the special tokens and the 256 bytes
const WEIGHT = 0.5;

export function copyExample(vocabSize: number, random: Random): Example {
  const segments: number[][] = [];
  const tokens: number[] = [];
  const weights: number[] = [];
  while (tokens.length < ROW_TOKENS) {
    const again = segments.length > 0 && random.chance(0.55) ? random.pick(segments) : undefined;
    const segment = again ?? Array.from({ length: 3 + random.below(10) }, () => FIRST_TOKEN + random.below(vocabSize - FIRST_TOKEN));
    // Which segment comes back cannot be told from before its first token.
    segment.forEach((token, place) => {
      tokens.push(token);
      weights.push(again !== undefined && place > 0 ? WEIGHT : 0);
    });
    if (again === undefined) segments.push(segment);
  }
  return { tokens: tokens.slice(0, ROW_TOKENS), weights: weights.slice(0, ROW_TOKENS) };
}
